#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace ship: each event arrives exactly once at a server that fails in every way.
. "${0%/*}/lib.sh"

"$posixtrace" ship --help >/dev/null 2>&1 || skip "built without libcurl"
. "${0%/*}/serving.sh"

is_whole() { has result "^events_rows $1 whole\$" && lacks result BROKEN; }

log=$tmp/plain.log
"$make_log" plain "$log" 3000 >/dev/null || exit 99
total=$("$posixtrace" dump "$log" 2>/dev/null | wc -l)
spans=$("$posixtrace" query --csv "$log" 'select count(*) from spans' | sed 1d)

# Each fault at each place: of the events, and of the tables behind them.
for fault in none 500 500-stored cut cut-stored half late continue early redirect long; do
	for before in 0 1 4; do
		rm -rf "$tmp/state"
		# shellcheck disable=SC2046 # a list of words
		serve $(yes none | head -n "$before") $fault $fault
		ships 0 --batch 900 "$log"
		check "$fault after $before: all events, each once" is_whole "$total"
		check "$fault after $before: the tables are complete" has result '^streams_rows 1 whole$'
		check "$fault after $before: nothing was void without a reason" \
			test "$fault" != none -a "$fault" != continue -o "$(sed -n 's/^voided //p' "$tmp/result")" = 0
	done
done
check "the message has the address, the statement and the status" \
	has err "^posixtrace: http://$FAKE_ADDRESS:[0-9]*/: INSERT INTO [a-z]*_rows: status 500: "
check "control characters are escaped" lacks err "$(printf '\033')"

# An overloaded server: the same attempt is sent again, so no void attempt is more work for it.
for fault in 252 252-stored 202 28 28-stored 429 500; do
	for before in 0 1 4; do
		rm -rf "$tmp/state"
		# shellcheck disable=SC2046 # a list of words
		serve $(yes none | head -n "$before") $fault $fault $fault
		ships 0 --batch 900 "$log"
		check "overload $fault after $before: all events, each once" is_whole "$total"
		check "overload $fault after $before: the tables are complete" has result '^streams_rows 1 whole$'
		check "overload $fault after $before: no attempt is void" has result '^voided 0$'
	done
done
for cause in '252 INSERTs make parts faster than it merges them' '202 too many requests' '429 proxy is overloaded' \
	'503 proxy is overloaded' '500 lacks memory' '28 disk of the server is full'; do
	rm -rf "$tmp/state"
	serve "${cause%% *}"
	ships 0 "$log"
	check "overload $cause: the message has the cause" has err "INSERT INTO events_rows: status [0-9]*: the .*${cause#* }"
	check "overload $cause: all events, each once" is_whole "$total"
done
rm -rf "$tmp/state"
serve 28 28 28
ships 0 "$log"
check "a full disk with other names of files: one message, and the end of the failure" has_lines err 2
rm -rf "$tmp/state"
serve none 252-gone none 252-gone
ships 0 --batch 900 "$log"
check "a repeated block that the server ignores: all events, each once" is_whole "$total"
check "a repeated block that the server ignores: its attempts are void" has result '^voided 2$'
# The pauses grow although other requests succeed, and --give-up ends them. A pause that does not
# grow would permit dozens of attempts.
for table in events spans; do
	rm -rf "$tmp/state"
	# shellcheck disable=SC2046 # a list of words
	serve $(test $table = events || echo none) $(yes 503 | head -n 200)
	ships 1 --give-up 3s "$log"
	check "$table are refused for ever: ship gives up" has err 'ship gives up; the next run continues from here'
	check "$table are refused for ever: few attempts" test "$(sed -n 's/^voided //p' "$tmp/result")" -le 8
done

# Answers that no server of ClickHouse sends.
for fault in page moved lines blank reset huge negative chunks cut-chunks no-length not-http endless; do
	rm -rf "$tmp/state"
	serve none $fault $fault
	ships 0 --batch 900 "$log"
	check "$fault: all events, each once" is_whole "$total"
	check "$fault: the message has the address and the statement" \
		has err "^posixtrace: http://$FAKE_ADDRESS:[0-9]*/: INSERT INTO [a-z]*_rows: "
done

# Tables that somebody removes before any INSERT: ship makes them again and sends all events again.
for before in 0 1 2 3 4 6; do
	rm -rf "$tmp/state"
	# shellcheck disable=SC2046 # a list of words
	serve $(yes none | head -n "$before") dropped
	ships 0 --batch 900 "$log"
	check "dropped after $before: all events, each once" is_whole "$total"
	check "dropped after $before: the tables are complete" has result '^streams_rows 1 whole$'
done
# Another process makes them again, so no request fails: the tables have another mark.
for fault in remade part-remade; do
	for before in 0 1 4; do
		rm -rf "$tmp/state"
		# shellcheck disable=SC2046 # a list of words
		serve $(yes none | head -n "$before") $fault
		ships 0 --batch 900 "$log"
		check "$fault after $before: all events, each once" is_whole "$total"
		check "$fault after $before: the tables are complete" has result '^streams_rows 1 whole$'
	done
done
rm -rf "$tmp/state"
serve none remade
ships 0 --batch 900 "$log"
check "events that do not follow each other are reported" has err \
	": the database has [0-9]* of its first [0-9]* events, which do not follow each other; all are sent again\$"
rm -rf "$tmp/state"
serve none dropped
ships 0 --batch 900 "$log"
check "the events that are sent again are reported" has err \
	": the database has lost 900 of 900 shipped events; they are sent again\$"

# They are removed when another log was shipped as a whole: --follow sends this log again, too.
"$make_log" plain "$tmp/other.log" 2000 >/dev/null || exit 99
both=$((total + $("$posixtrace" dump "$tmp/other.log" 2>/dev/null | wc -l)))
for way in 'dropped 2 --follow' 'dropped 3 --follow' 'dropped 5 --follow' 'dropped 3' 'remade 2 --follow' \
	'remade 3' 'remade 5' 'part-remade 3 --follow' 'part-remade 5'; do
	# shellcheck disable=SC2086 # a list of words
	set -- $way
	rm -rf "$tmp/state"
	# shellcheck disable=SC2046 # a list of words
	serve $(yes none | head -n "$2") "$1"
	ships 0 ${3-} "$log" "$tmp/other.log"
	check "$way, two logs: all events, each once" is_whole "$both"
	check "$way, two logs: the tables are complete" has result '^streams_rows 2 whole$'
done

# Another process makes them again while a follower has nothing to do. A folder with two logs may get
# more, so the follower does not end.
mkdir "$tmp/two"
cp "$log" "$tmp/other.log" "$tmp/two"
rm -rf "$tmp/state"
serve
"$posixtrace" ship --state "$tmp/state" --to "$url" --follow "$tmp/two" >"$tmp/out" 2>"$tmp/err" &
follower=$!
has_both() { is_whole "$both" && has result '^streams_rows 2 whole$'; }
soon() { # COMMAND...: a minute at most
	tries=600
	until "$@"; do
		tries=$((tries - 1))
		test $tries -gt 0 || return 1
		sleep 0.1
	done
}
soon has_both
check "the follower sends both logs" has_both
touch "$tmp/result.remake"
was_remade() { test ! -e "$tmp/result.remake"; }
check "an idle follower asks for the tables" soon was_remade
check "an idle follower sends both logs again" soon has_both
kill "$follower"
wait "$follower"
check "it is reported" has err ": the database has lost $total of $total shipped events; they are sent again\$"

# Answers that do not come: their rows are stored later.
rm -rf "$tmp/state"
serve none slow none slow
ships 0 --batch 900 --timeout 1 "$log"
check "slow answers: all events, each once" is_whole "$total"

# A server that needs longer than --timeout for each INSERT: ship gives it more time.
rm -rf "$tmp/state"
FAKE_LATE=2.5
export FAKE_LATE
serve
unset FAKE_LATE
ships 0 --timeout 1 --give-up 2m "$log"
check "a server that is always late: all events, each once" is_whole "$total"
check "a server that is always late: the message has the next limit" has err "INSERT INTO .*; ship waits at most 2 s for its next answer\$"
check "a server that is always late: few attempts are void" test "$(sed -n 's/^voided //p' "$tmp/result")" -le 3
# The longer time for a late server ends with --give-up.
rm -rf "$tmp/state"
FAKE_LATE=1000
export FAKE_LATE
serve
unset FAKE_LATE
ships 1 --timeout 1 --give-up 1s "$log"
check "a late server: no longer time than --give-up" has err "INSERT INTO .*; ship waits at most 1 s for its next answer\$"
end_server

# A server that refuses: the message has the cause, ship ends, and the next run sends all events. One
# answer that the table has other columns is no refusal, since the table may be new.
for cause in '193 password of this user is wrong' '164 lets this user only read'; do
	for before in 0 1 4; do
		rm -rf "$tmp/state"
		# shellcheck disable=SC2046 # a list of words
		serve $(yes none | head -n "$before") "${cause%% *}"
		ships 1 --batch 900 "$log"
		check "refusal $cause after $before: the message has the cause" has err "INSERT INTO .*status [0-9]*: the .*${cause#* }: Code: ${cause%% *}"
		check "refusal $cause after $before: one message" has_lines err 1
		ships 0 --batch 900 "$log"
		check "refusal $cause after $before: then all events, each once" is_whole "$total"
		check "refusal $cause after $before: then the tables are complete" has result '^streams_rows 1 whole$'
	done
done
rm -rf "$tmp/state"
serve 16
ships 0 "$log"
check "other columns once: all events, each once" is_whole "$total"
rm -rf "$tmp/state"
serve 16 16
ships 1 "$log"
check "other columns twice: the message has the cause" has err 'INSERT INTO events_rows: status 500: the table has other columns than this version of posixtrace expects'
ships 0 "$log"
check "other columns twice: then all events, each once" is_whole "$total"

# A second run sends nothing, and a run without its positions finds them in the database.
ships 0 "$log"
check "the second run sends no event" has out ': 0 events shipped, 0 bytes, '
rm -rf "$tmp/state"
ships 0 "$log"
check "a run without positions sends no event" has out ': 0 events shipped'
check "all events, each once, also then" is_whole "$total"
check "the database has one summary" has result '^streams_rows 1 whole$'

# Tables that somebody removes while no shipper runs. If the tables are missing or new, the next shipper
# sends all events again. If rows were deleted, it names the position.
rm -rf "$tmp/state"
FAKE_TABLES="0 0 0"
export FAKE_TABLES
serve
ships 0 "$log"
FAKE_PORT=$port
export FAKE_PORT
serve
ships 0 "$log"
check "removed before: all events, each once" is_whole "$total"
check "removed before: the tables are complete" has result '^streams_rows 1 whole$'
check "removed before: it is reported" has err \
	": the database has lost $total of $total shipped events; they are sent again\$"
unset FAKE_TABLES
serve
ships 0 "$log"
check "new tables: all events, each once" is_whole "$total"
check "new tables: it is reported" has err \
	": the database has lost $total of $total shipped events; they are sent again\$"
ships 0 "$log"
check "new tables: then nothing is wrong" is_empty err
touch "$tmp/result.delete"
ships 0 "$log"
check "deleted rows: the position is named" has err \
	": the database has only 0 of $total shipped events; the others were deleted; to send them again, remove $tmp/state/[0-9a-f-]*\$"
check "deleted rows: nothing is sent" lacks result '^events_rows'
rm "$(sed -n 's/.* send them again, remove //p' "$tmp/err")"
ships 0 "$log"
check "deleted rows: without the position, all events, each once" is_whole "$total"
ships 0 "$log"
check "deleted rows: then nothing is wrong" is_empty err
# The position of an older version has no tables; it gets them.
sed -i '/^tables /d' "$tmp"/state/*[0-9a-f]
ships 0 "$log"
check "an older position: nothing is wrong" is_empty err
check "an older position: nothing is sent" is_whole "$total"
touch "$tmp/result.remake"
ships 0 "$log"
check "an older position: new tables are noticed later" is_whole "$total"
check "the second sending is reported" has err 'they are sent again$'
unset FAKE_PORT

# Old logs are deleted by days.
rm -rf "$tmp/state"
FAKE_DAYS="2018-01-02 ('2018-01-03',0) ('2018-01-03',15)"
export FAKE_DAYS
serve
ships 0 --keep 30 "$log"
unset FAKE_DAYS
check "old days are dropped" has result "^dropped '2018-01-02' ('2018-01-03',0) ('2018-01-03',15)\$"
check "their number is printed" has out '^fleet: the logs of 2 days were deleted$'
check "the new log arrives" is_whole "$total"
# Any other text that a server sends is not a part of a statement.
for text in 2018-01-0x "('2018-01-02')" "('2018-01-02',)" "('2018-01-02',1" "('2018-01-02',1);DROP)" \
	"('2018-01-02',-1)" "x'2018-01-02',1)" "('2018-01-02',12345678901)" "2018-01-02'"; do
	rm -rf "$tmp/state"
	FAKE_DAYS=$text
	export FAKE_DAYS
	serve
	ships 1 --keep 30 "$log"
	unset FAKE_DAYS
	check "$text: nothing is dropped" lacks result '^dropped [^ ]'
	check "$text: this is reported" has err '^posixtrace: --keep: fleet.events_rows has partitions that are not days'
	check "$text: the new log arrives nevertheless" is_whole "$total"
done
# The server refuses to drop a large partition, each time.
rm -rf "$tmp/state"
FAKE_DAYS=2018-01-02 FAKE_LARGE=1
export FAKE_DAYS FAKE_LARGE
serve
ships 1 --keep 30 "$log"
unset FAKE_DAYS FAKE_LARGE
check "a day that is not dropped is reported" has err 'status 500: Code: 359'
check "a partition that cannot be dropped is tried once" lacks err 'gives up'
check "the new log arrives nevertheless" is_whole "$total"
for days in 0 -1 36501 x; do
	run 2 ship --to "$url" --keep "$days" "$log"
done
run 2 ship --to parquet:lake --keep 30 "$log"
run 2 ship --to otlp://host --keep 30 "$log"
rm -rf "$tmp/state"
serve
ships 0 "$log"

# A replica gets the rows of the others before a log without a position is counted there. Several
# hosts have replicated tables; a refusal sends no row.
rm -rf "$tmp/state"
FAKE_TABLES="1000 10 0"
export FAKE_TABLES
serve
ships 0 "$log"
check "replicas: three tables are synchronized" has result '^synchronized 3$'
ships 0 "$log"
check "replicas: not with a position" has result '^synchronized 3$'
# If the URL has all replicas, a log of which none has a row needs no synchronization.
rm -rf "$tmp/state"
FAKE_REPLICA=one
export FAKE_REPLICA
serve
ships 0 "$log"
check "all replicas: a new log is not synchronized" has result '^synchronized 0$'
check "all replicas: all events, each once" is_whole "$total"
rm -rf "$tmp/state"
ships 0 "$log"
check "all replicas: a log without its position is synchronized" has result '^synchronized 3$'
check "all replicas: all events, each once, also then" is_whole "$total"
unset FAKE_REPLICA
for tables in "1000 0 10" "1000 5 5"; do
	rm -rf "$tmp/state"
	FAKE_TABLES=$tables
	serve
	two=${url%/fleet},${url#clickhouse://}
	run 1 ship --state "$tmp/state" --to "$two" --replicated "$log"
	check "tables of several hosts, $tables: the reason" has err 'must be replicated: these are not'
	check "tables of several hosts, $tables: no row" lacks result '^events_rows'
done
FAKE_TABLES="0 0 0"
serve
two=${url%/fleet},${url#clickhouse://}
run 1 ship --state "$tmp/state" --to "$two" "$log"
check "new tables of several hosts: the reason" has err 'give --replicated'
ships 0 "$log"
check "new tables of one host" is_whole "$total"
# A database of an older version lacks only the views per minute. A user who may not make them ships.
rm -rf "$tmp/state"
FAKE_TABLES="1000 0 0 0" FAKE_REFUSE="CREATE "
export FAKE_REFUSE
serve
ships 0 "$log"
check "without the views per minute, all events arrive" is_whole "$total"
check "the refusal is reported once" test "$(grep -c 'status 403: .*; ship continues without the views' "$tmp/err")" = 1
rm -rf "$tmp/state"
FAKE_TABLES="1 0 0 0"
serve
run 1 ship --state "$tmp/state" --to "$url" "$log"
check "the tables must exist" has err 'CREATE DATABASE IF NOT EXISTS fleet: status 403: this user has no right to do this: Code: 497'
unset FAKE_TABLES FAKE_REFUSE

# A database of an older version has a table for each small table, and keeps them.
rm -rf "$tmp/state"
FAKE_TABLES="1000 0 10 2 10 0"
export FAKE_TABLES
serve none 500 none none 252 cut
ships 0 --batch 900 "$log"
check "separate tables: all events, each once" is_whole "$total"
check "separate tables: the tables are complete" has result '^streams_rows 1 whole$'
check "separate tables: each of them has an INSERT" has err 'INSERT INTO [a-z]*_rows: '
# A younger one has summary_rows; a user may have removed it, or events_rows.
# If it has removed both, the views decide.
for tables in "1000 0 3 2 0 1 0 1 0" "1000 0 3 2 0 0 0 1 0" "1000 0 3 2 0 1 0 0 0" "1000 0 1 2 0 0 0 0 0 9 9"; do
	rm -rf "$tmp/state"
	FAKE_TABLES=$tables
	serve none none 500 cut-stored 252
	ships 0 "$log"
	check "summary_rows, $tables: all events, each once" is_whole "$total"
	check "summary_rows, $tables: the tables are complete" has result '^streams_rows 1 whole$'
	check "summary_rows, $tables: it has the small tables" has err 'INSERT INTO summary_rows: '
done
# The next one has a row for each span.
for tables in "1000 0 2 2 0 0 1 1 1 0" "1000 0 2 2 0 0 1 0 0 0" "1000 0 2 2 0 0 0 1 1 0" "1000 0 2 2 0 0 0 0 0 0 10"; do
	rm -rf "$tmp/state"
	FAKE_TABLES=$tables
	serve none none 500 cut-stored 252
	ships 0 "$log"
	check "a row for each span, $tables: all events, each once" is_whole "$total"
	check "a row for each span, $tables: the tables are complete" has result '^streams_rows 1 whole$'
	check "a row for each span, $tables: the spans" has result "^spans_rows $spans whole\$"
done
# An older version has made one of two tables again.
for tables in "1 other_rows" "2 events_rows"; do
	rm -rf "$tmp/state"
	FAKE_TABLES="1000 0 4 2 0 0 1 1 1 0 0" FAKE_LEAN=${tables% *}
	export FAKE_LEAN
	serve
	run 1 ship --state "$tmp/state" --to "$url" "$log"
	check "tables of two versions: the one to remove" has err "older version of ship has made the table fleet.${tables#* },"
	check "tables of two versions: no row" lacks result '^events_rows'
done
unset FAKE_TABLES FAKE_LEAN

# A type gets its schema after its first events were shipped: they are spans then.
rm -rf "$tmp/state"
serve
cat >"$tmp/first" <<END
"$posixtrace" ship --no-symbols --state "$tmp/state" --to "$url" "$tmp/late.log" >"$tmp/first.out" 2>&1
test \$? = 3
END
check "a log that is shipped when it has no schema" "${top_builddir:-..}/tests/tools/make_described" late "$tmp/late.log" "sh '$tmp/first'"
ships 0 --follow "$tmp/late.log"
check "a late schema: all events, each once" is_whole "$("$posixtrace" query --csv "$tmp/late.log" "select count(*) from events" | sed 1d)"
check "a late schema: the spans of the first events" has result '^spans_rows 3 whole$'
check "a late schema: the message" has err 'late.log: its first [2-9] events have other fields or spans now than when they were shipped, so all are sent again$'
ships 0 "$tmp/late.log"
check "a late schema: nothing is sent again and again" has out ': 0 events shipped, '
rm -rf "$tmp/state"
ships 0 "$tmp/late.log"
check "a late schema, without a position: nothing is sent again" has out ': 0 events shipped, '
check "a late schema, without a position: the spans" has result '^spans_rows 3 whole$'

# ZooKeeper has the replica of a table that the server has not made, because it was killed meanwhile.
rm -rf "$tmp/state"
FAKE_TABLES="0 0 0" FAKE_GHOST="voided other_rows"
export FAKE_TABLES FAKE_GHOST
serve
ships 0 --replicated "$log"
check "a replica without a table gets another name" has result '^replicas {replica} {replica}_[0-9]'
check "a replica without a table: all events, each once" is_whole "$total"
unset FAKE_TABLES FAKE_GHOST

# A file of an earlier statement remains: the message says that, and the table is made later.
rm -rf "$tmp/state"
FAKE_TABLES="0 0 0" FAKE_STALE=other_rows
export FAKE_TABLES FAKE_STALE
serve
ships 1 --give-up 1s "$log"
check "a file of an earlier statement: the cause, the step and the file" has err \
	'other_rows: status 500: this server refuses the table until it starts again, .* Start the server again, or remove the file: .*/other_rows.sql.tmp,'
touch "$tmp/result.restarted"
ships 0 "$log"
check "a file of an earlier statement, then a restart: all events, each once" is_whole "$total"
rm "$tmp/result.restarted"
unset FAKE_TABLES FAKE_STALE

# The same log of two hosts is two logs.
rm -rf "$tmp/state"
serve cut 500 late
ships 0 --host web1 "$log"
ships 0 --host web2 "$log"
check "the logs of two hosts are whole" is_whole $((2 * total))
check "two summaries" has result '^streams_rows 2 whole$'

# A shipper that is killed while the server works on any of its first INSERTs. The server stores the
# rows when the shipper has gone.
for kills in 0 1 2 3 4 5; do
	rm -rf "$tmp/state" "$tmp/result.slow"
	# shellcheck disable=SC2046 # a list of words
	serve $(yes none | head -n $kills) slow late slow
	"$posixtrace" ship --state "$tmp/state" --to "$url" --batch 900 "$log" >/dev/null 2>&1 &
	shipper=$!
	until test -e "$tmp/result.slow" || ! kill -0 "$shipper"; do sleep 0.01; done
	check "killed after $kills: it is at work then" test -e "$tmp/result.slow"
	kill -9 "$shipper"
	wait "$shipper" 2>/dev/null
	ships 0 --batch 900 --timeout 1 "$log"
	check "killed after $kills: all events, each once" is_whole "$total"
	check "killed after $kills: one summary" has result '^streams_rows 1 whole$'
done

# A log that grows: its parts arrive while it is followed.
rm -rf "$tmp/state"
"$make_log" plain "$tmp/long.log" 20000 >/dev/null || exit 99
long=$("$posixtrace" dump "$tmp/long.log" 2>/dev/null | wc -l)
bytes=$(wc -c <"$tmp/long.log")
head -c $((bytes / 2)) "$tmp/long.log" >"$tmp/grown.log"
serve none cut-stored
ships 3 "$tmp/grown.log"
part=$(sed -n 's/^events_rows \([0-9]*\) whole$/\1/p' "$tmp/result")
check "a part of a log is shipped" test "${part:-0}" -gt 0 -a "${part:-0}" -lt "$long"
check "with a summary" has result '^streams_rows 1 whole$'
"$posixtrace" ship --state "$tmp/state" --to "$url" --follow "$tmp/grown.log" >"$tmp/followed" 2>&1 &
shipper=$!
tail -c +$((bytes / 2 + 1)) "$tmp/long.log" >>"$tmp/grown.log"
wait "$shipper"
check "the follower ends with the log" test $? -eq 0
check "the rest of the log is shipped" is_whole "$long"
check "the summary was replaced" has result '^streams_rows 1 whole$'

# --every: a follower with pauses of an hour has sent half of a log. The other half does not arrive
# while another follower ships a log that grows too.
rm -rf "$tmp/state"
head -c $((bytes / 2)) "$tmp/long.log" >"$tmp/grown.log"
head -c $((bytes / 2)) "$tmp/long.log" >"$tmp/other.log"
serve
"$posixtrace" ship --state "$tmp/state" --to "$url" --follow --every 1h "$tmp/grown.log" >"$tmp/rare" 2>&1 &
rare=$!
until grep -q shipped "$tmp/rare"; do kill -0 "$rare" || break; sleep 0.05; done
tail -c +$((bytes / 2 + 1)) "$tmp/long.log" >>"$tmp/grown.log"
"$posixtrace" ship --state "$tmp/state" --to "$url" --host other --follow "$tmp/other.log" >"$tmp/often" 2>&1 &
often=$!
until grep -q shipped "$tmp/often"; do kill -0 "$often" || break; sleep 0.05; done
tail -c +$((bytes / 2 + 1)) "$tmp/long.log" >>"$tmp/other.log"
wait "$often"
check "a follower without --every ships the rest of a log" test $? -eq 0
check "a follower with --every 1h sends nothing for an hour" test "$(grep -c shipped "$tmp/rare")" -eq 1
kill "$rare"
wait "$rare"
check "a signal ends the pause of --every" test $? -eq 0

# A folder: its logs and no other files.
rm -rf "$tmp/state"
mkdir "$tmp/folder"
cp "$log" "$tmp/folder/a.ptl"
echo other >"$tmp/folder/b.ptl"
serve
ships 0 "$tmp/folder"
check "the logs of a folder" is_whole "$total"
check "standard input" test "$("$posixtrace" ship --dry-run - <"$log" | sed 's/, .*//')" = \
	"standard input: $total events to ship"

# A server that is absent, and one that refuses.
end_server
rm -rf "$tmp/state"
ships 1 --give-up 300ms "$log"
check "no connection: the reason" has err "http://$FAKE_ADDRESS:[0-9]*/: SELECT .*onnect"
check "no connection: the message has the next step" has err 'ship gives up; the next run continues from here'
# The reasons of two hosts alternate, and each is printed once a minute.
run 1 ship --state "$tmp/state" --to "clickhouse://$FAKE_ADDRESS:1,$FAKE_ADDRESS:2/fleet" --give-up 2s "$log"
check "two absent hosts: two reasons, and the end" has_lines err 3
serve
run 1 ship --state "$tmp/state" --to "clickhouses://$FAKE_ADDRESS:$port/fleet" --give-up 100ms "$log"
check "TLS at a port without it: the next step" has err "^posixtrace: https://.*; for a port without TLS use clickhouse:// or otlp://\$"
FAKE_PORT=$port
export FAKE_PORT
serve
ships 0 "$log"
check "the next run goes on" is_whole "$total"
unset FAKE_PORT

# Addresses of IPv6, and a certificate that no authority has signed.
for wrong in '[::1' '[::1]x' '::1' '[]' '[name]' 'a]'; do
	run 2 ship --state "$tmp/state" --to "clickhouse://$wrong/fleet" "$log"
	check "$wrong: this is no host" has err 'the name of a host is missing or is not one\|a port is a number'
done
if grep -q '^0*1 ' /proc/net/if_inet6 2>/dev/null; then
	rm -rf "$tmp/state"
	address=$FAKE_ADDRESS
	FAKE_ADDRESS=::1
	serve
	FAKE_ADDRESS=$address
	url="clickhouse://[::1]:$port/fleet"
	ships 0 "$log"
	check "an address of IPv6" is_whole "$total"
fi
if openssl req -x509 -newkey rsa:2048 -nodes -keyout "$tmp/key.pem" -out "$tmp/cert.pem" -days 2 \
	-subj /CN=localhost >/dev/null 2>&1; then
	rm -rf "$tmp/state"
	FAKE_TLS=$tmp
	export FAKE_TLS
	serve
	unset FAKE_TLS
	for scheme in clickhouses otlps; do
		run 1 ship --state "$tmp/state" --to "$scheme://$FAKE_ADDRESS:$port/fleet" --give-up 100ms "$log"
		check "$scheme: the certificate is refused, with the host and the reason" \
			has err "^posixtrace: https://$FAKE_ADDRESS:$port/.*: .*certificate"
	done
	check "no request has reached the server" test ! -e "$tmp/result"
fi

# The position: a damaged one is left as it is, and one process has it.
rm -rf "$tmp/state"
serve
ships 0 "$log"
position=$(ls "$tmp/state"/*[0-9a-f])
echo nonsense >"$position"
ships 1 "$log"
check "a damaged position is named" has err "^posixtrace: $position: this is not a position"
check "a damaged position is not changed" grep -q nonsense "$position"
rm "$position"
if command -v flock >/dev/null; then
	locked=$(ls "$tmp/state"/*.lock)
	run_locked() { flock "$locked" "$posixtrace" ship --state "$tmp/state" --to "$url" "$log"; }
	run_locked >"$tmp/out" 2>"$tmp/err"
	check "a log is shipped by one process" has err 'another process ships this log'
fi
check "$spans spans" has result "^spans_rows $spans whole\$"

# A follower of a folder goes on after a log that cannot be read, and after another process.
rm -rf "$tmp/state"/*[0-9a-f]
{ printf PXTRLOG1; head -c 100 /dev/zero; } >"$tmp/folder/0.ptl"
serve
follows() {
	"$posixtrace" ship --state "$tmp/state" --to "$url" --follow "$tmp/folder" >"$tmp/printed" 2>"$tmp/followed" &
	shipper=$!
}
until_in() { until grep -q "$2" "$tmp/$1" 2>/dev/null; do kill -0 "$shipper" || break; sleep 0.05; done; }
if command -v flock >/dev/null; then
	flock "$locked" sh -c 'echo >"$1/held"; until test -e "$1/free"; do sleep 0.05; done' - "$tmp" &
	holder=$!
	until test -e "$tmp/held"; do sleep 0.05; done
	follows
	until_in followed 'a.ptl: another process ships this log'
	touch "$tmp/free"
	wait "$holder"
else
	follows
fi
until_in result "^events_rows $total whole"
until cat "$tmp/state"/*[0-9a-f] 2>/dev/null | grep -q '^summary [1-9][0-9]* [0-9]* 1$'; do
	kill -0 "$shipper" || break
	sleep 0.05
done
check "a follower ships the logs that can be read" is_whole "$total"
# until_there FILE TEXT: a minute at most.
until_there() {
	tries=1200
	until grep -q "$2" "$tmp/$1" || test $((tries -= 1)) -eq 0; do sleep 0.05; done
}
until_there printed 'a.ptl: .* shipped'
check "a follower prints while it follows" has printed "a.ptl: $total events shipped"
kill "$shipper"
wait "$shipper"
check "a follower ends without a failure" test $? -eq 0
check "the log that cannot be read is named once" test \
	"$(grep -c '0.ptl: it cannot be shipped before it has changed' "$tmp/followed")" = 1

# An outage does not make the pauses of a follower long. A pause of ten times the outage would be
# longer than the minute of until_there().
rm -rf "$tmp/state"/*[0-9a-f] "$tmp/folder/0.ptl" "$tmp/result.up"
"$make_log" plain "$tmp/folder/b.ptl" 3000 >/dev/null || exit 99
serve none down
follows
until_there followed 'posixtrace: http'
sleep 7
touch "$tmp/result.up"
until_there printed 'b.ptl: .* shipped'
"$make_log" plain "$tmp/folder/c.ptl" 3000 >/dev/null || exit 99
until_there printed 'c.ptl: .* shipped'
check "a follower ships a new log soon after an outage" has printed "c.ptl: $total events shipped"
kill "$shipper"
wait "$shipper"
rm -f "$tmp/result.up"
run 2 ship --to "$url" --state '' "$log"
run 2 ship --schema --dry-run
finish
