#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# dump, latency, diff, html and why read logs of a database by --at as they read the files. The
# database is a program of the tests; tools/test_at_server.sh has one of ClickHouse.
. "${0%/*}/lib.sh"

"$posixtrace" ship --help >/dev/null 2>&1 || {
	run 2 dump --at clickhouse://host/fleet
	check "a build without libcurl says so" has err 'needs libcurl'
	finish
	exit
}
. "${0%/*}/serving.sh"
. "${0%/*}/at_same.sh"

begin_server fake_clickhouse.py
url=clickhouse://$FAKE_ADDRESS:$port/fleet
make_logs
for log in $logs; do
	run 0 ship --state "$tmp/state" --to "$url" --host web1 --batch 700 "$tmp/$log.ptl"
done
same_answers

# The names of logs.
run 0 dump --at "$url" "$tmp/strange.ptl"
lines=$(lines out)
for name in web1:strange.ptl 'w*:*strange*' strange.ptl "web1:$tmp/strange.ptl"; do
	run 0 dump --at "$url" "$name"
	check "$name: one log" test "$(lines out)" = "$lines"
done
uuid=$("$posixtrace" query --csv "$tmp/strange.ptl" 'select uuid from logs' | sed -n '2s/"//g;2p')
run 0 dump --at "$url" "@$(echo "$uuid" | cut -c1-12)"
check "a UUID: one log" test "$(lines out)" = "$lines"
run 1 dump --at "$url" "strange.ptl@00000000"
run 1 dump --at "$url" web1:strang.ptl
check "no such log: a similar name" has err 'has no such log.*strange.ptl'
run 1 dump --at "$url" --host web2
check "no such host" has err 'the database has no log of these hosts'
run 0 dump --at "$url" --host web1 plain.ptl strange.ptl
check "several logs have titles" test "$(grep -c "^==> web1:$tmp/.* <==\$" "$tmp/out")" = 2
run 1 dump --at "$url" --begin 1980-01-01 --end 1980-01-02
check "an empty range" has err 'no log has events between --begin and --end'
run 0 dump --at "$url" strange.ptl --begin +100s
check "an empty range of a log" is_empty out
check "an empty range of a log: why" has err 'no event of the database is in the range'
run 2 latency --at "$url"
check "too many logs" has err 'latency: 4 logs of the database are chosen, and the command reads 1'
check "their names" has err "web1:$tmp/plain.ptl"
run 2 why --at "$url" plain.ptl strange.ptl
run 2 diff --at "$url" plain.ptl
check "two logs" has err 'reads 2:'
run 2 dump --host web1 "$tmp/plain.ptl"
check "--host without --at" has err 'has no effect without --at'
run 2 dump --at "$url" --at "$url" plain.ptl
run 2 dump --at http://host/db plain.ptl
run 2 dump --at "$url" --begin x plain.ptl

# diff, and a page of logs of two hosts, whose clocks are compared.
run 0 diff "$tmp/plain.ptl" "$tmp/lossy.ptl" --all
cp "$tmp/out" "$tmp/of_file"
run 0 diff --at "$url" plain.ptl lossy.ptl --all
sed "s|web1:$tmp/|$tmp/|" "$tmp/out" >"$tmp/of_fleet"
check "diff: the same differences" diff "$tmp/of_file" "$tmp/of_fleet"
run 0 ship --state "$tmp/state" --to "$url" --host web2 "$tmp/strange.ptl"
run 0 dump --at "$url" strange.ptl --merge
check "two hosts: the bounds of the clocks" has err \
	'web2:.*: host web2, clock monotonic: events less than 0.02'
check "two hosts: marks of an unknown order" has out ' \[unordered\]'
run 0 html --at "$url" -o "$tmp/page.html" strange.ptl
check "a page of two hosts" has page.html 'web2'
run 0 html -o "$tmp/file.html" "$tmp/strange.ptl"
run 0 html --at "$url" -o "$tmp/at.html" web1:strange.ptl
for page in file at; do
	sed "s|web1:$tmp/||g; s|$tmp/||g; s/\"host\":\"[a-z0-9]*\"//g; s/host [a-z0-9]*//g" \
		"$tmp/$page.html" >"$tmp/$page.plain"
done
check "a page of one log is that of the file" cmp "$tmp/file.plain" "$tmp/at.plain"

# The losses of a range: all of them, and a message.
run 0 dump --at "$url" web1:strange.ptl --begin +3ms --end +4ms
check "losses of a part" has err '6 of the [0-9]* events of the whole log were lost; the lines below'
check "losses of a part: the ledger" has err 'WARNING: .*: 3 of .* events lost'
run 4 dump --at "$url" web1:strange.ptl --begin +3ms --end +4ms --fail-on-loss

# The requests: the server sends fewer bytes for fewer events.
"$posixtrace" dump --at "$url" web1:plain.ptl -e job_begin >/dev/null 2>&1
check "only the chosen types are asked for" has result '^asked .*row_type NOT IN ('
"$posixtrace" dump --at "$url" web1:plain.ptl --begin +2ms >/dev/null 2>&1
check "only the range is asked for" has result '^asked .*row_time >= toInt64('

"$posixtrace" dump --at "$url" web1:strange.ptl --limit 3 >"$tmp/out" 2>"$tmp/err"
check "--limit: three lines" has_lines out 3

# A log that is not complete.
{ cat "$tmp/lines"; echo abandon; } | "${top_builddir:-..}/tests/tools/compose" "$tmp/cut.ptl" || exit 99
run 3 ship --state "$tmp/state" --to "$url" --host web3 "$tmp/cut.ptl"
run 3 dump "$tmp/cut.ptl"
cp "$tmp/out" "$tmp/of_file"
run 3 dump --at "$url" web3:cut.ptl
check "a log without an end: the same lines" diff "$tmp/of_file" "$tmp/out"
check "a log without an end: the message" has err 'not complete in the database'
run 3 latency --at "$url" web3:cut.ptl

# A password is not repeated.
secret=clickhouse://ann:s3cret@$FAKE_ADDRESS:$port/fleet
run 0 dump --at "$secret" plain.ptl
run 1 dump --at "$secret" web1:strang.ptl
check "no such log: no password" lacks err s3cret
run 1 dump --at "$secret" --host web9
check "no such host: no password" lacks err s3cret
run 1 dump --at "$secret" --host web1 --begin 1980-01-01 --end 1980-01-02
check "an empty range: no password" lacks err s3cret
run 1 dump --at "$secret" --host web1 --begin +100s
check "a range behind all logs: no password" lacks err s3cret
run 2 dump --at "$secret" --at "$secret" plain.ptl
check "two databases: no password" lacks err s3cret
echo "types_rows garbage" >"$tmp/result.select"
run 1 dump --at "$secret" web1:strange.ptl
check "a wrong answer: the database without the password" has err \
	"^posixtrace: clickhouse://$FAKE_ADDRESS:$port/fleet: the answer"
rm -f "$tmp/result.select"

# made NAME HOST: ships a log of the lines of standard input.
made() {
	"${top_builddir:-..}/tests/tools/compose" "$tmp/$1.ptl" || exit 99
	run 0 ship --state "$tmp/state" --to "$url" --host "$2" "$tmp/$1.ptl"
}

# Call stacks before the range do not count for --limit.
made early web1 <<'END'
trace pid=7 host=alpha clock=monotonic hz=1000000000 created=1s resolution=1 name=early
type cpu.stack u32 stack
type note u32 number
start 1s
repeat 9 cpu.stack 7 7 +1us 1
repeat 9 note 7 7 +1ms 5
END
same 0 dump early --begin +2ms --limit 3
check "call stacks before the range: three lines" has_lines out 3

# Events that dump hides do not count for --limit, even if they fill the first answers of the server.
made opened web1 <<'END'
trace pid=7 host=alpha clock=monotonic hz=1000000000 created=1s resolution=1 name=opened
type posixtrace_descriptor s32 pid; s32 fd; u64 looked_ns; u8 closes_at_exec; str kind; str name; str client; str peer
type note u32 number
repeat 16400 posixtrace_descriptor 7 7 +1us 7 3 1 0 file /a "" ""
repeat 9 note 7 7 +1us 5
END
same 0 dump opened --limit 3
check "hidden events: three lines" has_lines out 3
same 0 dump opened --limit 3 --system

# Times that are relative to several logs.
made one m <<'END'
trace pid=7 host=alpha clock=monotonic hz=1000000000 created=1s resolution=1 name=one
type note u32 number
note 7 7 1000ms 1
note 7 7 1020ms 2
END
made two m <<'END'
trace pid=8 host=alpha clock=monotonic hz=1000000000 created=1s resolution=1 name=two
type other u32 number
other 8 8 1001ms 3
other 8 8 1002500us 4
other 8 8 1010ms 5
END
# same_merged NAMES OPTION...: the merged output is that for the files.
same_merged() {
	names=$1
	shift
	"$posixtrace" dump --merge --raw "$@" "$tmp/one.ptl" "$tmp/two.ptl" >"$tmp/of_file" 2>/dev/null
	run 0 dump --merge --raw --at "$url" "$@" --host m $names
	sed "s|m:$tmp/|$tmp/|" "$tmp/out" >"$tmp/of_fleet"
	check "merged $* $names: the same lines" diff "$tmp/of_file" "$tmp/of_fleet"
}
same_merged '' --begin +9500us
same_merged '' --end -15ms
same_merged 'one.ptl two.ptl' -e other --begin +2ms

# Logs whose hosts and names make the same text.
mkdir -p "$tmp/x:$tmp"
for type in first second; do
	printf 'trace pid=7 host=alpha\ntype %s\n%s 7 7 1s\n' $type $type >"$tmp/$type"
done
made "x:$tmp/c" same <"$tmp/first"
made c "same:$tmp/x" <"$tmp/second"
run 0 dump --at "$url" --host 'same*'
check "equal names: the one log" has out ' first'
check "equal names: the other log" has out ' second'
name=$(sed -n 's/^==> \(.*\) <==$/\1/p' "$tmp/out" | head -n 1)
run 0 dump --at "$url" "$name"
check "a printed name: one log" has_lines out 1

# A slice of large events needs several requests.
{
	printf 'trace pid=9 host=alpha data=65536 name=bulky\ntype blob bytes raw\n'
	printf 'repeat 2200 blob 9 9 +1us hex:%016384d\n' 0
} >"$tmp/lines"
made bulky web1 <"$tmp/lines"
same 0 dump bulky --fields time
same 0 dump bulky --fields time --limit 20
"$posixtrace" dump --at "$url" web1:bulky.ptl -e blob --fields time >/dev/null 2>&1
check "large events: requests with a limit" has result '^asked .* ORDER BY row_seq LIMIT 203[0-9] '

# Losses by a cause that only the database has.
echo "ledger_rows spool" >"$tmp/result.select"
run 4 dump --at "$url" web1:strange.ptl --fail-on-loss
check "events dropped by ship: the cause" has err "events were lost by the cause 'spool': 6;"
check "events dropped by ship: their number, once" has err ': 6 of .* events are unattributed'

# A replica that lacks the rows of the ledger, or some of them: no loss vanishes.
echo "ledger_rows none-of" >"$tmp/result.select"
run 1 dump --at "$url" web1:strange.ptl
check "no ledger: nothing is printed" is_empty out
check "no ledger: a message" has err ': the database has no ledger of this log, so that its losses are not known; try it again'
echo "ledger_rows fewer" >"$tmp/result.select"
run 4 dump --at "$url" web1:strange.ptl --fail-on-loss
check "a part of a ledger: a warning" has err ': the ledger of the database is not even: called [0-9]*, but [0-9]* reported, unread or lost; the lines below count'
# The first row has calls of a type.
echo "ledger_rows later" >"$tmp/result.select"
"$posixtrace" dump --at "$url" web1:strange.ptl >/dev/null 2>"$tmp/err"
check "too few calls: a warning" has err ': the ledger of the database is not even: called .*, but .* reported, unread or lost; the database may lack rows with calls'

# All rows of a type that only lost events.
echo "ledger_rows typeless" >"$tmp/result.select"
run 4 dump --at "$url" web1:strange.ptl --fail-on-loss
check "no row of a type with losses: a warning" has err ': the database lacks rows of the ledger of this log, which have [1-9][0-9]* calls and [1-9][0-9]* losses; the lines below count these'
check "no row of a type with losses: the losses" has err ' events are unattributed'

# Names of functions that cannot be fetched.
echo "stacks_rows garbage" >"$tmp/result.select"
run 0 dump --at "$url" web1:strange.ptl
check "names of functions: a message" has err 'about functions is cut or wrong'
rm -f "$tmp/result.select"

# Answers that fail, are cut, or are hostile.
for table in streams_rows logs_rows types_rows events_rows objects_rows threads_rows ledger_rows; do
	for fault in 404 cut short garbage; do
		echo "$table $fault" >"$tmp/result.select"
		case $table-$fault in
		# these tables have no rows for the log, or answers of whole values
		threads_rows-cut | threads_rows-short) continue ;;
		esac
		run 1 dump --at "$url" web1:strange.ptl
		check "$table, $fault: nothing is printed" is_empty out
		check "$table, $fault: a message" has err '^posixtrace: '
	done
done
for fault in fewer twice type; do
	echo "events_rows $fault" >"$tmp/result.select"
	run 1 dump --at "$url" web1:strange.ptl
	check "events, $fault: nothing is printed" is_empty out
done
echo "events_rows 404" >"$tmp/result.select"
run 1 dump --at "$url" web1:strange.ptl
check "the reason of the server" has err "status 404: Code: 60. DB::Exception"
rm -f "$tmp/result.select"
end_server
run 1 dump --at "$url" web1:strange.ptl
check "there is no server" has err "http://$FAKE_ADDRESS:[0-9]*/: SELECT .*onnect"

# The server ends while it gets the ledger, in the tables of an older version, where the ledger has an
# INSERT of its own: the log is not listed, because its losses are not known.
FAKE_TABLES="1000 0 10 2 10 0"
export FAKE_TABLES
begin_server fake_clickhouse.py none none none none none none none down
url=clickhouse://$FAKE_ADDRESS:$port/fleet
run 1 ship --state "$tmp/partial" --to "$url" --host web1 --give-up 1s "$tmp/strange.ptl"
touch "$tmp/result.up"
run 1 dump --at "$url" strange.ptl
check "a log without its ledger" has err 'has no such log'
check "its row of streams is there" has result '^streams_rows 1 '
check "its ledger is not there" lacks result '^ledger_rows'
run 0 ship --state "$tmp/partial" --to "$url" --host web1 "$tmp/strange.ptl"
run 0 dump --at "$url" strange.ptl
check "the rest of a summary: the losses" has err 'events lost'
finish
