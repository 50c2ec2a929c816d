#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace ship and query --at with a server of ClickHouse: the statements of the manual page and
# others have the same answer for a log, its database of SQLite and the fleet.
. "${0%/*}/lib.sh"

"$posixtrace" ship --help >/dev/null 2>&1 || skip "built without libcurl"
servers=$tmp/servers
mkdir "$servers"
. "${0%/*}/../fleet/servers.sh"
command -v python3 >/dev/null || skip "there is no python3"
has_clickhouse || skip "there is no clickhouse-server"
command -v curl >/dev/null || skip "there is no curl"
trap 'is_script && { stop_servers; rm -rf "$tmp"; }' 0
start_clickhouse 1
starts=1
until wait_clickhouse 1; do
	cat "$servers/clickhouse-1/out" "$servers/clickhouse-1/err"
	test $starts -lt 3 || exit 99
	# Another program may have taken a port meanwhile.
	port=$(free_ports)
	rm "$servers/clickhouse-1/config.xml"
	start_clickhouse 1
	starts=$((starts + 1))
done
url=clickhouse://127.0.0.1:$(http_of 1)/fleet

"$make_log" plain "$tmp/plain.log" 3000 >/dev/null || exit 99
"${top_builddir:-..}/tests/tools/make_described" append "$tmp/described.log" || exit 99
"${top_builddir:-..}/tests/tools/make_times" "$tmp/server.ptl" || exit 99
"$make_log" overrun "$tmp/lossy.log" 5000 >/dev/null || exit 99
"$make_log" names "$tmp/names.log" 100 >/dev/null 2>&1 || rm -f "$tmp/names.log"
printf '%s\n' 'type io.open s32 result; u32 function; str path; ns time' 'io.open 1 1 1700000000000000000 3 7 "names" 2624' \
	'type a u32 Fd; u32 fd; u32 time' 'a 1 1 1700000000000000000 1 2 3' |
	"${top_builddir:-..}/tests/tools/compose" "$tmp/old.ptl" 2>/dev/null || rm -f "$tmp/old.ptl"
# Spans of one event between spans of two events, in the order of their ends. One has a duration that is
# longer than its time, and one has CPU time; these have rows.
"${top_builddir:-..}/tests/tools/compose" "$tmp/mixed.ptl" <<'END' || exit 99
type in u32 id; @begin work; @key id
type out u32 id; ns time; @end work; @key id
type call ns time; str path
type cpu ns time; ns cpu_time
in 1 1 100 1
call 1 1 200 50 "a"
in 1 2 300 2
out 1 1 400 1 90
call 1 2 500 0 "b"
cpu 1 1 600 70 30
out 1 2 700 2 10
call 1 1 800 18446744073709551615 "long"
call 1 1 900 5 ""
out 1 1 950 7 3
END
page=${top_srcdir:-${0%/*}/../..}/tools/posixtrace/man/posixtrace-query.1

# The statements of the examples of the page, one on a line.
python3 - "$page" >"$tmp/statements" <<'END'
import re
import shlex
import sys
for lines in re.findall(r"^\$ posixtrace query .*\n(?:^> .*\n)*", open(sys.argv[1]).read(), re.M):
    words = shlex.split(re.sub(r"^[$>] ", "", lines, flags=re.M).replace("\\e", "\\"))
    print(" ".join(words[-1].split()))
END
check "the page has examples" test "$(lines statements)" -ge 5
cat >>"$tmp/statements" <<'END'
select name, type, pid, tid, thread, address, level, len, hex(data), flags, log, time from events
select * from spans
select * from types
select * from threads
select * from losses
select * from objects
select * from streams
select * from ledger
select * from logs
select * from hosts
select * from clocks
select * from stored order by name
select * from rates order by minute, name
select minute, name, events / 60.0 from rates where events > 1 order by minute, name
select minute, host, name, spans, longest from durations order by minute, name
select labels, message, function, source, line, module from events
select count(*) from events a join types t on a.type = t.type
select a.span, b.span from spans a, spans b where a.begin < b.begin and a.end > b.end
select name, time from events where time > at('+1us') and time <= at('-1us')
select count(*), sum(len), avg(len), min(len), max(tid) from events
select name, count(*) n, total(len) from events where pid > 0 group by name order by n desc, name
select count(*) from events where name = 'job_begin' or type < 10
select count(*) from events where name = 5 or tid = 'x' or time = null
select name from events order by time desc limit 3
select count(*) from events where time < 0
select typeof(name), typeof(level), typeof(data), typeof(flags), count(*) from events group by 1, 2, 3, 4
END
# Logs of old days are deleted, and others are kept.
one=${url}_keep
run 0 ship --state "$tmp/state" --to "$one" "$tmp/plain.log"
run 0 query --csv --at "$one" 'select count(*) from events'
before=$(cat "$tmp/out")
for table in events_rows other_rows; do
	curl -sS "http://127.0.0.1:$(http_of 1)/" --data-binary "INSERT INTO fleet_keep.$table
		(row_day, row_source, row_seq) VALUES ('2018-01-02', 1, 0), ('2018-01-03', 1, 1)"
done
run 0 query --csv --at "$one" 'select count(*) from events'
check "there are older rows" test "$(cat "$tmp/out")" != "$before"
run 0 ship --state "$tmp/state" --to "$one" --keep 30 "$tmp/plain.log"
check "the days are counted" has out '^fleet_keep: the logs of 2 days were deleted$'
run 0 query --csv --at "$one" 'select count(*) from events'
check "the older rows are deleted, and the others are there" test "$(cat "$tmp/out")" = "$before"
rows=$(curl -sS "http://127.0.0.1:$(http_of 1)/" --data-binary "SELECT count() FROM fleet_keep.other_rows WHERE
	row_day < '2019-01-01'")
check "also those of the other tables" test "$rows" = 0
run 0 ship --state "$tmp/state" --to "$one" --keep 30 "$tmp/plain.log"
check "nothing is left to delete" lacks out 'deleted'

fields='select u8, s16, x32, took, at, e, f64, path, hex(raw), fixed, pair, tail, op, fl from events'

# Each log has a database of its own, so that the rows are those of one log.
for log in plain.log described.log server.ptl lossy.log old.ptl mixed.ptl; do
	test -f "$tmp/$log" || continue
	one=${url}_${log%.*}
	run 0 ship --state "$tmp/state" --to "$one" --batch 1000 "$tmp/$log"
	rm -f "$tmp/log.db"
	run 0 convert "$tmp/$log" --to sqlite -o "$tmp/log.db"
	{
		cat "$tmp/statements"
		test "$log" != described.log || echo "$fields"
	} >"$tmp/asked"
	equal=0
	while read -r statement; do
		"$posixtrace" query --csv "$tmp/$log" "$statement" >"$tmp/of_log" 2>"$tmp/log.err"
		of_log=$?
		"$posixtrace" query --csv --at "$one" "$statement" >"$tmp/of_fleet" 2>"$tmp/fleet.err"
		of_fleet=$?
		case $(cat "$tmp/log.err") in *"no such column"*) continue ;; esac
		check "$log: $statement" test $of_fleet -eq $of_log
		check "$log: $statement: the same answer" diff "$tmp/of_log" "$tmp/of_fleet"
		equal=$((equal + 1))
		# The database has neither the tables of the account nor at() and functions of addresses;
		# its table ledger is another one.
		test "$statement" != "select * from ledger" || continue
		command -v sqlite3 >/dev/null && sqlite3 -csv -header "$tmp/log.db" "$statement" \
			>"$tmp/of_db" 2>/dev/null || continue
		"$posixtrace" query --json "$tmp/$log" "select count(*) n from ($statement)" >"$tmp/rows"
		check "$log: $statement: as many rows in the database of SQLite" test \
			"$(sed -n 's/.*"n":\([0-9]*\).*/\1/p' "$tmp/rows")" = \
			"$(sqlite3 "$tmp/log.db" "select count(*) from ($statement)")"
	done <"$tmp/asked"
	check "$log: statements were compared" test "$equal" -ge 25
done

# In the tables of older versions, the answers are the same. events_rows has a column for each fact, or an
# array with a text for each field, and spans have rows.
shared='row_level UInt8, row_flags UInt8, row_function String, row_file String, row_line UInt32, row_module String,
	row_labels String, row_message String, row_texts Array(String)'
compact="row_texts Array(String), row_marks UInt8, row_level UInt8 ALIAS toUInt8(intDiv(row_marks, 4)),
	row_flags UInt8 ALIAS toUInt8(row_marks % 4), row_line UInt32 ALIAS toUInt32(row_numbers[indexOf(row_keys, toUInt64(2))])"
key=1
for fact in function file module labels message; do
	compact="$compact, row_$fact String ALIAS row_texts[indexOf(row_keys, toUInt64($key))]"
	key=$((key + 1))
done
for log in shared:described.log shared:server.ptl shared:lossy.log compact:described.log compact:mixed.ptl; do
	layout=${log%:*} log=${log#*:}
	old=${url}_${layout}_${log%.*}
	database=${old##*/}
	eval "columns=\$$layout"
	# shellcheck disable=SC2154 # eval sets it
	ask 1 "CREATE DATABASE $database"
	ask 1 "CREATE TABLE $database.events_rows (row_day Date, row_attempt UInt64, row_source UInt64, row_seq UInt64,
		row_host String, row_process Int32, row_log String, row_time Int64, row_name String, row_type UInt32,
		row_pid Int32, row_tid Int32, row_thread Int64, row_address Int64, row_data String, row_keys Array(UInt64),
		row_numbers Array(Int64), $columns) ENGINE = MergeTree() PARTITION BY row_day ORDER BY (row_source, row_time)"
	run 0 ship --state "$tmp/state" --to "$old" --batch 1000 "$tmp/$log"
	case $layout in shared) kept=spans_rows ;; compact) kept=other_rows ;; esac
	check "$log, $layout tables: spans have rows" test "$(ask 1 "SELECT count() FROM $database.$kept")" -gt 0
	while read -r statement; do
		for at in "${url}_${log%.*}" "$old"; do
			"$posixtrace" query --csv --at "$at" "$statement" 2>&1
		done >"$tmp/twice"
		half=$(($(lines twice) / 2))
		check "$log, $layout tables: $statement" test "$(head -n $half "$tmp/twice")" = "$(tail -n +$((half + 1)) "$tmp/twice")"
	done <"$tmp/statements"
done
# answers_at URL: what a database answers about spans, accounts, events and durations.
answers_at() {
	for statement in 'select * from spans' 'select * from ledger' 'select count(*) from events' \
		'select minute, name, spans, longest from durations order by minute, name'; do
		echo "$statement"
		"$posixtrace" query --csv --at "$1" "$statement" 2>&1
	done
}
# If a user has removed tables of rows, the new ones fit the views that remain.
for log in shared:described.log:summary_rows compact:mixed.ptl:other_rows; do
	table=${log##*:} log=${log%:*}
	old=${url}_${log%:*}_$(basename "${log#*:}" ".${log##*.}")
	database=${old##*/}
	answers_at "$old" >"$tmp/before"
	ask 1 "DROP TABLE $database.events_rows"
	ask 1 "DROP TABLE $database.$table"
	run 0 ship --state "$tmp/state" --to "$old" "$tmp/${log#*:}"
	answers_at "$old" >"$tmp/after"
	check "$log: there are spans" test "$(lines before)" -gt 12
	check "$log: removed tables, and views that remain" diff "$tmp/before" "$tmp/after"
done

# A type gets its schema after its first events were shipped: they are spans then (late), or have fields
# (noted). The position that knows the first events is there or not.
for way in 'late kept' 'late lost' 'noted kept' 'noted lost'; do
	kind=${way% *} state=$tmp/${way% *}_${way#* }
	one=${url}_${way% *}_${way#* }
	cat >"$tmp/first" <<-END
		"$posixtrace" ship --state "$state" --to "$one" "$tmp/late.log" >"$tmp/first.out" 2>&1
		test \$? = 3
	END
	check "$way: a log that is shipped when it has no schema" \
		"${top_builddir:-..}/tests/tools/make_described" "$kind" "$tmp/late.log" "sh '$tmp/first'"
	check "$way: its first events were shipped" has first.out ': [2-9] events shipped'
	test "${way#* }" = kept || rm -r "$state"
	run 0 ship --state "$state" --to "$one" "$tmp/late.log"
	for table in events spans types ledger; do
		"$posixtrace" query --csv "$tmp/late.log" "select * from $table" >"$tmp/of_log"
		"$posixtrace" query --csv --at "$one" "select * from $table" >"$tmp/of_fleet" 2>&1
		check "$way: a late schema: $table" diff "$tmp/of_log" "$tmp/of_fleet"
	done
	run 0 ship --state "$state" --to "$one" "$tmp/late.log"
	check "$way: a late schema: all are sent again only once" has out ': 0 events shipped'
done

# An older version of ship finds no summary that it could void before the server refuses its rows.
ask 1 "INSERT INTO fleet_mixed.voided SELECT DISTINCT row_attempt FROM fleet_mixed.other_rows WHERE row_table = 8"
check "an older version voids no summary" test "$(ask 1 'SELECT count() FROM fleet_mixed.voided')" = 0
ask 1 "INSERT INTO fleet_mixed.other_rows (row_seq, row_nulls) VALUES (1, 1)" >"$tmp/out"
check "an older version cannot send a summary" has out 'Exception.*row_nulls'
ask 1 "INSERT INTO fleet_mixed.events_rows (row_seq, row_texts) VALUES (1, [])" >"$tmp/out"
check "an older version cannot send events" has out 'Exception.*row_texts'
# It makes a table that a user has removed: the present version names this table.
one=${url}_mixed
"$posixtrace" query --csv --at "$one" 'select * from spans' >"$tmp/before"
ask 1 "DROP TABLE fleet_mixed.other_rows"
ask 1 "CREATE TABLE fleet_mixed.other_rows (row_day Date, row_attempt UInt64, row_source UInt64, row_seq UInt64,
	row_host String, row_table UInt8, row_nulls UInt32, row_integers Array(Int64), row_strings Array(String))
	ENGINE = MergeTree() PARTITION BY row_day ORDER BY (row_table, row_source, row_seq)"
run 1 ship --state "$tmp/state" --to "$one" "$tmp/mixed.ptl"
check "tables of two versions: the one to remove" has err 'has made the table fleet_mixed.other_rows,.*: remove it'
ask 1 "DROP TABLE fleet_mixed.other_rows"
run 0 ship --state "$tmp/state" --to "$one" "$tmp/mixed.ptl"
"$posixtrace" query --csv --at "$one" 'select * from spans' >"$tmp/after"
check "tables of two versions: then the spans are there" diff "$tmp/before" "$tmp/after"

# Spans of one event have no rows in the present tables, and the array of texts of older versions can be read.
check "spans of one event have no rows" test "$(ask 1 'SELECT count() FROM fleet_mixed.other_rows WHERE row_table = 100')" = 4
check "the array of texts has them" test "$(ask 1 "SELECT has(row_texts, 'long') FROM fleet_mixed.events_rows
	WHERE row_time = 800")" = 1

# Two logs in one database, by two hosts, with the account of the page.
run 0 ship --state "$tmp/state" --to "$url" --host web1 "$tmp/plain.log" "$tmp/lossy.log"
run 0 ship --state "$tmp/state" --to "$url" --host web2 "$tmp/plain.log" "$tmp/lossy.log"
grep 'group_concat' "$tmp/statements" >"$tmp/account"
check "the page has one statement of the account" has_lines account 1
run 0 query --json --at "$url" "select host, count(*) types, sum(lost) lost, sum(abs(open)) open
	from ($(cat "$tmp/account")) group by host"
lost=$("$posixtrace" query --csv "$tmp/lossy.log" 'select lost from streams' | sed 1d)
check "the account of each host closes" test "$(grep -c "\"lost\":$lost,\"open\":0}" "$tmp/out")" = 2
run 0 query --csv --at "$url" "select count(*) from events where [log.host] = 'web1'"
check "the host is a condition" test "$(sed 1d "$tmp/out")" -gt 1000

# The statement of the page for ClickHouse itself.
awk '/^SELECT host, pid/ { on = 1 } /^\.Ed/ { on = 0 } on' "$page" >"$tmp/native"
ask 1 "SELECT count(), sum(abs(open)) FROM ($(cat "$tmp/native"))" >"$tmp/out" 2>&1
check "the statement for ClickHouse: all accounts close" has out '^[1-9][0-9]*	0$'
check "the view events has the fields" test "$(ask 1 "SELECT count() FROM fleet_described.events WHERE path = 'short'")" = 1

# The views per minute agree with the tables, for each minute, host and type. Rows of a voided attempt,
# as an INSERT leaves that arrives late, do not count, and not twice.
same() {
	ask 1 "SELECT count(), sum(a != b) FROM (SELECT key, sum(a) AS a, sum(b) AS b FROM ($1) GROUP BY key)" \
		>"$tmp/out" 2>&1
	check "$2" has out '^[1-9][0-9]*	0$'
}
rates="SELECT concat(host, name, toString(minute)) AS key, events AS a, 0 AS b FROM fleet.rates UNION ALL
	SELECT concat(\`log.host\`, name, toString(toStartOfMinute(toDateTime(intDiv(time, 1000000000))))) AS key,
	toInt64(0) AS a, toInt64(1) AS b FROM fleet.events"
durations="SELECT concat(host, name, toString(minute)) AS key, spans AS a, toInt64(0) AS b FROM fleet.durations UNION ALL
	SELECT concat(host, assumeNotNull(span), toString(toStartOfMinute(toDateTime(intDiv(assumeNotNull(\`end\`),
	1000000000))))) AS key, toInt64(0) AS a, toInt64(1) AS b FROM fleet.spans WHERE isNotNull(duration)"
rates=$(echo "$rates" | sed 's/0 AS b FROM fleet.rates/toInt64(0) AS b FROM fleet.rates/')
same "$rates" "the rates per minute are those of the events"
same "$durations" "the durations per minute are those of the spans"
ask 1 "SELECT min(p50 <= p95 AND p95 <= p99 AND p99 <= longest AND spans > 0) FROM fleet.durations" >"$tmp/out"
check "the percentiles are in order" has out '^1$'
# The view estimates the median. It is between the durations a tenth and one place below and above.
ask 1 "SELECT count(), sum(p50 > q * 1.1 + 10 OR p50 < p * 0.9 - 10) FROM fleet.durations ANY INNER JOIN
	(SELECT host, assumeNotNull(span) AS name, arraySort(groupArray(assumeNotNull(duration))) AS d,
	d[greatest(1, intDiv(length(d) * 4, 10))] AS p, d[least(length(d), intDiv(length(d) * 6, 10) + 2)] AS q,
	uniq(intDiv(assumeNotNull(\`end\`), 60000000000)) AS minutes
	FROM fleet.spans WHERE isNotNull(duration) GROUP BY host, name) USING (host, name) WHERE minutes = 1" >"$tmp/out" 2>&1
check "the median is near the exact one" has out '^[1-9][0-9]*	0$'
ask 1 "INSERT INTO fleet.events_rows SELECT row_day, 4711 AS row_attempt, row_source, row_seq, row_host, row_process,
	row_log, row_time, row_name, row_type, row_pid, row_tid, row_thread, row_address, row_data, row_keys,
	row_numbers, row_text, row_marks, row_took FROM fleet.events_rows"
ask 1 "SELECT count() FROM fleet.events WHERE name = 'none'" >/dev/null
ask 1 "INSERT INTO fleet.voided VALUES (4711)"
same "$rates" "a voided attempt that arrives late does not count"
ask 1 "SELECT sum(events) = (SELECT count() FROM fleet.events) FROM fleet.rates" >"$tmp/out" 2>&1
check "all events are there once" has out '^1$'

# The statements of the page for rates and percentiles.
awk '/^SELECT minute/ { on = 1 } /^\.Ed/ { on = 0 } on { gsub(/\\e/, "\\"); print }' \
	"${page%query.1}ship.1" >"$tmp/minutes"
check "the page has statements for minutes" test "$(grep -c '^SELECT minute' "$tmp/minutes")" = 3
sed 's/;$//; /^SELECT minute/i --' "$tmp/minutes" | awk -v RS='--\n' -v out="$tmp/minute" 'NF { print > (out NR) }'
for statement in "$tmp"/minute[0-9]*; do
	ask 1 "$(sed 's/now() - 3600/toDateTime(0)/; s/today() - 1/toDate(0)/' "$statement")" >"$tmp/out" 2>&1
	check "$(head -n 1 "$statement"): rows" test -s "$tmp/out"
	check "$(head -n 1 "$statement"): no error" lacks out 'Exception'
done

# A second run sends nothing; a run without positions finds them.
run 0 ship --state "$tmp/state" --to "$url" --host web1 "$tmp/plain.log"
check "the second run sends nothing" has out ': 0 events shipped, 0 bytes, '
run 0 ship --state "$tmp/new" --to "$url" --host web1 "$tmp/plain.log"
check "a run without positions sends no event" has out ': 0 events shipped'
run 0 query --csv --at "$url" "select count(*), count(distinct uuid) from logs where host = 'web1'"
check "the summary was replaced" has out '^2,2$'

# Tables that another process makes again: all of them, or one. Each log is sent again.
one=${url}_made
run 0 ship --state "$tmp/state" --to "$one" "$tmp/plain.log"
stored=$(ask 1 'SELECT count() FROM fleet_made.events')
spans=$(ask 1 'SELECT count() FROM fleet_made.spans')
for removed in 'DATABASE fleet_made' 'TABLE fleet_made.events_rows' 'TABLE fleet_made.spans_rows' \
	'TABLE fleet_made.voided' 'TABLE fleet_made.fields' 'TABLE fleet_made.other_rows'; do
	ask 1 "DROP $removed"
	run 0 ship --state "$tmp/other" --to "$one" "$tmp/lossy.log"
	run 0 ship --state "$tmp/state" --to "$one" "$tmp/plain.log"
	check "$removed: all events are there again" test "$stored" = \
		"$(ask 1 "SELECT count() FROM fleet_made.events WHERE log LIKE '%plain%'")"
	check "$removed: all spans are there again" test "$spans" = \
		"$(ask 1 "SELECT count() FROM fleet_made.spans WHERE log LIKE '%plain%'")"
	run 0 query --csv --at "$one" "select sum(abs(open)) from ($(cat "$tmp/account"))"
	check "$removed: the account closes" has out '^0$'
done
# Deleted rows are not sent again.
ask 1 "SELECT DISTINCT partition FROM system.parts WHERE active AND database = 'fleet_made' AND table = 'events_rows'
	AND max_date = (SELECT max(row_day) FROM fleet_made.events_rows) FORMAT TabSeparatedRaw" >"$tmp/partitions"
while read -r partition; do
	ask 1 "ALTER TABLE fleet_made.events_rows DROP PARTITION $partition"
done <"$tmp/partitions"
run 0 ship --state "$tmp/state" --to "$one" "$tmp/plain.log"
check "deleted rows: the position is named" has err "the database has only 0 of $stored shipped events"

# A request that is cut anywhere stores nothing.
check "a cut request stores no row" python3 "${0%/*}/../fleet/cut.py" "$(http_of 1)"

# A spool that overflows while the server is killed: of the logs that are dropped, one had been shipped
# as a whole and one in part. The account of the fleet closes, for each host, process and type.
spool=$tmp/spool
one=${url}_spool
mkdir "$spool"
for i in 1 2 3; do
	"$make_log" plain "$spool/$i.ptl" 30000 >/dev/null || exit 99
	"$make_log" overrun "$spool/lossy$i.ptl" 90000 >/dev/null || exit 99
done
called=$("$posixtrace" query --csv "$spool"/*.ptl "select sum(count) from ledger where term = 'called'" | sed 1d)
lost=$("$posixtrace" query --csv "$spool"/*.ptl "select sum(count) from ledger where term like 'lost:%'" | sed 1d)
cp "$spool/2.ptl" "$tmp/whole.ptl"
head -c $(($(wc -c <"$tmp/whole.ptl") / 2)) "$tmp/whole.ptl" >"$spool/2.ptl"
run 0 ship --state "$tmp/state" --to "$one" "$spool/1.ptl"
run 3 ship --state "$tmp/state" --to "$one" "$spool/2.ptl"
stored=$(ask 1 'SELECT count() FROM fleet_spool.events')
cp "$tmp/whole.ptl" "$spool/2.ptl"
kill_server clickhouse-1
run 1 ship --state "$tmp/state" --to "$one" --give-up 100ms --spool 1 "$spool"
check "the log that the server has is removed" test ! -e "$spool/1.ptl"
# The server is away, so ship cannot compare what it has of 1.ptl: this log gets an account, too.
check "the others are dropped" test "$(ls "$spool" | tr '\n' ' ')" = \
	"1.ptl.account 2.ptl.account 3.ptl.account lossy1.ptl.account lossy2.ptl.account lossy3.ptl.account "
start_clickhouse 1
wait_clickhouse 1 || exit 99
run 0 ship --state "$tmp/state" --to "$one" "$spool"
run 0 query --csv --at "$one" "select count(*) > 5, sum(called), sum(stored), sum(lost) - $lost, sum(abs(open))
	from ($(cat "$tmp/account"))"
check "the account closes after the outage" has out "^1,$called,$stored,$((called - stored - lost)),0$"
run 0 query --csv --at "$one" "select sum(lost) from losses where cause = 'spool'"
check "the losses have the cause" has out "^$((called - stored - lost))$"
run 0 query --csv --at "$one" 'select sum(called) = sum(events) + sum(lost) from types'
check "types" has out '^1$'
run 0 query --csv --at "$one" 'select sum(called) = sum(events) + sum(lost), count(*) from streams'
check "streams" has out '^1,6$'
run 0 query --csv --at "$one" 'select sum(called) = sum(events) + sum(lost) from threads'
check "threads" has out '^1$'
check "the accounts are no longer needed" test -z "$(ls "$spool")"

# Messages.
run 2 query --at "$url" 'select nam from events'
check "a similar name is offered" has err 'name'
run 1 query --at "${url}_none" 'select 1'
check "the reason of the server" has err 'status 404\|status 500: Code: 81'
kill_server clickhouse-1
run 1 query --at "$url" 'select 1'
check "there is no server" has err 'http://127.0.0.1:[0-9]*/: SELECT .*onnect'
finish
