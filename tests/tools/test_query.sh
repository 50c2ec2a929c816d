#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace query: SQL over a log.
. "${0%/*}/lib.sh"

"$posixtrace" query --help >/dev/null 2>&1 || skip "built without SQLite"
log=$tmp/plain.log
"$make_log" plain "$log" 3000 >/dev/null || exit 99
described=$tmp/described.log
"${top_builddir:-..}/tests/tools/make_described" append "$described" || exit 99
times=$tmp/times.log
"${top_builddir:-..}/tests/tools/make_times" "$times" || exit 99

# answers LOG SQL ROWS: as CSV, without the header, rows joined by blanks.
answers() {
	run 0 query --csv "$1" "$2"
	check "$2: '$3'" test "$(sed 1d "$tmp/out" | paste -sd ' ')" = "$3"
}

total=$("$posixtrace" dump "$log" 2>/dev/null | wc -l)
answers "$log" 'select count(*) from events' "$total"
"$posixtrace" dump --fields event "$log" 2>/dev/null | sort | uniq -c | awk '{ print $2 "," $1 }' |
	paste -sd ' ' >"$tmp/counts"
answers "$log" 'select name, count(*) from events group by name' "$(cat "$tmp/counts")"
answers "$log" 'select name, count(*) from events group by +name' "$(cat "$tmp/counts")"
answers "$log" 'select name, events from types where events order by name' "$(cat "$tmp/counts")"
answers "$log" 'select sum(n) from (select count(*) n from events group by type)' "$total"
answers "$log" 'select count(*) from (select distinct name from events)' "$(wc -w <"$tmp/counts")"
answers "$log" 'select max(name) from events' "$(tr ' ' '\n' <"$tmp/counts" | tail -n 1 | cut -d , -f 1)"
answers "$log" 'select name from events order by name limit 1' job_begin
answers "$log" 'select count(*) from (select name, pid, tid from events order by name desc)' "$total"

# Conditions that the log evaluates and those that SQLite evaluates give the same answer.
while read -r condition; do
	answers "$log" "select count(*) from events where $condition" "$("$posixtrace" query --csv "$log" \
		"select sum($condition) from (select +name name, +type type, +time time, +pid pid, +tid tid
		from events)" | sed 1d)"
	check "$condition: some but not all events" test "$(sed 1d "$tmp/out")" -gt 0 -a \
		"$(sed 1d "$tmp/out")" -lt "$total"
done <<'END'
name = 'job_begin'
name in ('job_begin', 'job_end')
name glob 'job*'
name like 'JOB_BEGIN'
name = 'JOB_BEGIN' collate nocase
name = 'job_begin' or type < 10
type = 64
type = 64.0
time >= at('+1us')
time < at('-1us')
time between at('+1us') and at('-1us')
time > at('+1us') + 0.5
name = 'job_end' and time >= at('+1us')
pid = 0 or name = 'job_end'
name = 'job_begin' or name = 'job_end'
time < at('+1us') or time > at('-1us')
type > 64 or time <= at('-1us')
type < 10 or time < at('+1us')
END
answers "$log" "select count(*) from events where name = 'job_begin' and name = 'job_end'" 0
answers "$log" "select count(*) from events where pid = 1 and pid = 2" 0
answers "$log" "select count(*) from events where pid = (select max(pid) from threads) and tid > 0" \
	"$("$posixtrace" query --csv "$log" 'select count(*) from events where +pid > 0' | sed 1d)"
answers "$log" "select count(*) from events where time = null or name = null or type = 'x'" 0
answers "$log" "select count(*) from events a join types t on a.type = t.type" "$total"
answers "$log" "select count(*) from types t join events a using (type) where t.name = 'job_end'" \
	"$("$posixtrace" dump -e job_end "$log" 2>/dev/null | wc -l)"
run 0 query "$log" "explain query plan select name, count(*) from events where time > 5 group by name"
check "a condition on time and grouping by name are the table's" has out 'VIRTUAL TABLE INDEX 0:a>#b'
check "nothing is sorted" lacks out 'TEMP B-TREE'

answers "$described" "select u8, s16, x32, took, at, e, f64 from events where name = 'every'" \
	'1,-2,48879,1500000,1700000000000000001,'\''-ENOENT,-2.5'
answers "$described" "select path, hex(raw), fixed, pair, tail from events where name = 'text' limit 1" \
	'/etc/passwd,00FF,four,"[7,8]",end'
answers "$described" "select pair from events where path = 'short'" ''
answers "$described" "select op, fl from events where name = 'named' order by time limit 1" 'write,7'
answers "$described" "select count(*) from events where op = 'write'" 2
answers "$described" 'select count(u8), count(path), count(level) from events' '1,3,4'
answers "$described" "select value from events, json_each(pair) where json_array_length(pair) = 2" '7 8'
answers "$described" "select kind, name from objects" "$(
	"$posixtrace" query --csv "$described" 'select kind, name from objects' | sed 1d | paste -sd ' ')"
check "things have names" has out '^mutex,"pool lock"$'

# Names that SQL does not distinguish, or that mean something else in it
printf '%s\n' 'type a u32 Fd; u32 fd; u32 time; u32 select; u32 FD' 'a 1 1 1700000000000000000 1 2 3 4 5' \
	'named object 1 4096 1700000000000000000 thing' |
	"${top_builddir:-..}/tests/tools/compose" "$tmp/names.log" || exit 99
answers "$tmp/names.log" 'select Fd, "fd.2", [field.time], "select", "FD.3", time from events' \
	1,2,3,4,5,1700000000000000000
# The database below must have this object, too: its kind has the name of unknown kinds.
answers "$tmp/names.log" 'select kind, name from objects' object,thing

run 0 query --csv "$times" 'select span, kind, count(*), max(duration), max(end - begin = duration) from spans
	group by span order by span'
check "spans are those of begins and ends" has out '^job,span,4,[0-9]*,1$'
check "events with a duration are spans" has out '^call,event,100,100000,1$'
answers "$times" "select duration from spans where span = 'call' order by duration desc limit 2" '100000 99000'

# Queries of begins and ends use the index, and have the same answer as a full read.
spans=$tmp/spans.log
awk 'BEGIN {
	print "type job.begin u32 n; @begin job; @key n"; print "type job.end u32 n; @end job; @key n"; print "type call ns time"
	for (i = 0; i < 30000; i++) {
		if (i % 3 == 0) print "job.begin 1", i % 5, 1000000 + i * 100, i / 3
		else if (i % 3 == 1) print "call 1 1", 1000000 + i * 100, i % 1000
		else print "job.end 1", i % 5, 1000000 + i * 100, int((i - 2) / 3) - int((i - 2) / 3) % 2
	}
}' | "${top_builddir:-..}/tests/tools/compose" "$spans" || exit 99
for asked in 'begin >= 2000000' 'begin > 2000050 and "end" < 2100000' '"end" <= 1500000' '"end" = 1500200' \
	'begin = 1500000' 'begin >= 2000000.5 and begin < 2100000' '"end" > 3900000' 'begin <= 1000000' \
	'begin >= 5000000' "begin >= 'x'" 'begin >= null' '"end" <= 0' 'begin >= 2000000 and "end" <= 1900000'; do
	"$posixtrace" query --csv "$spans" "select * from spans where $asked" >"$tmp/asked" || exit 99
	all=$(echo "$asked" | sed 's/begin/+begin/g; s/"end"/+"end"/g')
	"$posixtrace" query --csv "$spans" "select * from spans where $all" >"$tmp/all"
	check "spans where $asked" cmp "$tmp/asked" "$tmp/all"
done
run 0 query --csv "$spans" 'select count(*) from spans a, spans b where a.begin >= 1999900 and a."end" <= 2000300
	and b.begin = a.begin and b.span = a.span'
check "also of spans of spans" has out '^[1-9][0-9]*$'

"$make_log" overrun "$tmp/lossy.log" 5000 >/dev/null || exit 99
lost=$("$posixtrace" query --csv "$tmp/lossy.log" 'select lost from streams' | sed 1d)
check "events were lost" test "$lost" -gt 0
answers "$tmp/lossy.log" 'select sum(lost) from losses' "$lost"
answers "$tmp/lossy.log" 'select sum(lost), sum(called) = sum(events) + sum(lost) from threads' "$lost,1"
answers "$tmp/lossy.log" 'select sum(lost), sum(called) = sum(events) + sum(lost) from types' "$lost,1"
answers "$log" 'select events = (select count(*) from events), complete from streams' '1,1'

# Statements that only count read rows by weight; the same rows one by one give the same answer.
while read -r asked; do
	"$posixtrace" query --csv "$log" "$described" "$asked" >"$tmp/weighted" || exit 99
	"$posixtrace" query --csv "$log" "$described" "$(echo "$asked" |
		sed 's/from events/from (select * from events limit -1)/')" >"$tmp/single"
	check "$asked" cmp "$tmp/weighted" "$tmp/single"
	check "$asked: there is an answer" test -s "$tmp/weighted"
done <<'END'
select name, count(*) from events group by name
select name, count(*) n, sum(len), avg(len), min(len), max(len), total(len) from events group by name order by n desc, name
select log, pid, tid, count(*) from events group by log, pid, tid
select tid, name, count(*) from events where name glob 'job*' group by tid, name having count(*) > 1
select count(*), count(level), count(flags), sum(pid) from events
select count(*) from events where name = 'none'
select sum(len) from events where name = 'none'
select level, count(*) from events group by level order by level desc
select flags, count(*) filter (where len > 3) from events group by flags
select name, count(distinct len) from events group by name
select type % 2, count(*) from events group by 1
select count(*), max(time) from events
select name, group_concat(distinct type) from events group by name
select count(*) from events a, (select 1 union all select 2)
END

# A database of convert has the same tables, columns and values.
if python3 -c 'import sqlite3' 2>/dev/null; then
	for one in "$log" "$described" "$times" "$spans" "$tmp/lossy.log" "$tmp/names.log"; do
		rm -f "$tmp/log.db"
		run 0 convert "$one" --to sqlite -o "$tmp/log.db"
		check "query and database of ${one##*/} are the same" \
			python3 "${0%/*}/database.py" "$posixtrace" "$one" "$tmp/log.db"
	done
fi

# Several logs, one after the other.
# both SQL ROWS
both() {
	run 0 query --csv "$log" "$described" "$1"
	check "two logs, $1: '$2'" test "$(sed 1d "$tmp/out" | paste -sd ' ')" = "$2"
}
more=$("$posixtrace" dump "$described" 2>/dev/null | wc -l)
both 'select log, count(*) from events group by log order by count(*) desc' "$log,$total $described,$more"
both "select count(*) from events where log = '$described'" "$more"
both "select count(*) from events where log = '$log' and log = '$described'" 0
both "select count(*) from events where log in ('$log', '$described', 'none')" $((total + more))
both "select log, u8 from events where name = 'every'" "$described,1"
both "select log, count(*) from events where name = 'job_begin' group by log" \
	"$log,$("$posixtrace" dump -e job_begin "$log" 2>/dev/null | wc -l)"
both 'select sum(n) from (select count(*) n from events group by name)' $((total + more))
both 'select count(*), max(t = time) from (select time, min(time) t from events)' "1,1"
both "select at('+0') = min(first), at('-1us') = max(last) - 1000, count(*) from streams" 1,1,2
both 'select log, events from streams order by events desc' "$log,$total $described,$more"
both "select t.log, count(*) from types t join events e using (log, type) group by 1 order by 2 desc" \
	"$log,$total $described,$more"
both "select sum(e) from (select sum(events) e from threads group by log)" $((total + more))
both "select count(*) from (select * from objects where log = '$described')" \
	"$("$posixtrace" query --csv "$described" 'select count(*) from objects' | sed 1d)"
both "select count(*) from events a, events b where a.name = 'every' and b.log = '$described' and b.time = a.time" \
	"$("$posixtrace" query --csv "$described" "select count(*) from events where time in (select time from events
	where name = 'every')" | sed 1d)"
run 0 query --csv "$times" "$described" "$times" 'select span, log, count(*) from spans group by span, log'
check "spans are those of each log" has out "^job,$times,8$"
run 0 query --csv "$log" "$described" 'select * from events limit 1'
check "* includes the column log for several logs" has out '^.*,flags,log,'
run 0 query --csv "$log" 'select * from events limit 1'
check "* includes the column log for one log, too" has out 'flags,log'
check "functions are not in *" lacks out function
answers "$log" 'select distinct log from events' "$log"
cat "$described" | "$posixtrace" query --csv - "$log" 'select count(*) from events' >"$tmp/out" 2>"$tmp/err"
check "one of them may be standard input" test "$(sed 1d "$tmp/out")" = $((total + more))
head -c 30000 "$log" >"$tmp/half.log"
run 3 query --csv "$described" "$tmp/half.log" 'select count(*) > 0 from events group by log'
check "one that is cut does not spoil the other" test "$(sed 1d "$tmp/out" | paste -sd ' ')" = '1 1'
run 1 query "$log" "$tmp/none.log" 'select 1'
check "a missing log is reported" has err 'none.log: No such file'

# Readers of CSV and JSON get the exact text, with any content.
if command -v python3 >/dev/null; then
	hard="select 'a,\"' || char(13, 10) || 'b;''' || char(9, 8232, 8238, 233, 127, 133, 128512, 10) as hard, '' as none, 7 as n"
	"$posixtrace" query --csv "$log" "$hard" >"$tmp/hard.csv" || exit 99
	"$posixtrace" query --json "$log" "$hard" >"$tmp/hard.json" || exit 99
	check "CSV and JSON are read as the same text" python3 -c '
import csv, json, sys
rows = list(csv.reader(open(sys.argv[1], newline="", encoding="utf-8"), strict=True))
wanted = "a,\"\r\nb;\x27\t\u2028\u202e\u00e9\x7f\x85\U0001f600\n"
assert rows == [["hard", "none", "n"], [wanted, "", "7"]], rows
text = open(sys.argv[2], encoding="utf-8", newline="").read()
assert json.loads(text) == {"hard": wanted, "none": "", "n": 7}, text
assert not any(c in text for c in "\u2028\u202e\x85"), text
' "$tmp/hard.csv" "$tmp/hard.json"
fi

run 0 query --utc "$described" "select stamp(at) as shown, stamp('x') as none from events where name = 'every'"
check "times are shown, and a table has its columns" has out '^2023-11-14T22:13:20.000000001Z  -$'
check "the table has the names of the times" has out '^shown                           none$'

# The events have many columns, and most of them are NULL.
{
	echo 'type a u32 one; u32 two'
	echo "type b $(seq -f 'u32 f%.0f;' 1 20 | paste -sd ' ')"
	seq -f 'a 1 1 %.0f 1 2' 1000 2100
} >"$tmp/wide.text"
"${top_builddir:-..}/tests/tools/compose" "$tmp/wide.log" <"$tmp/wide.text" || exit 99
run 0 query "$tmp/wide.log" 'select * from events'
check "columns that are NULL in every row are omitted" has out '^time  *name .* one  *two$'
check "the omitted columns are not in the table" lacks out 'f1'
check "a line behind the table counts them" test "$(tail -n 1 "$tmp/out")" = \
	"$("$posixtrace" query --csv "$tmp/wide.log" 'select * from events limit 1' | awk -F , '
		NR == 1 { n = NF } NR == 2 { for (i = 1; i <= n; i++) nulls += $i == "" }
		END { print nulls }') columns omitted: NULL in every row; --csv and --json print all columns"
run 0 query --csv "$tmp/wide.log" 'select * from events limit 1'
check "CSV has all columns" has out ',f20$'
run 0 query --json "$tmp/wide.log" 'select * from events limit 1'
check "JSON has all columns" has out '"f20":null'
run 0 query "$tmp/wide.log" 'select f1, one, f2 from events limit 1'
check "a table of few columns omits none" has out '^-     1  - *$'
run 0 query "$tmp/wide.log" 'select * from events limit 0'
check "a table without rows has the names of all columns" has out ' f20$'
check "no column of it is omitted" lacks out 'omitted'
run 1 query "$tmp/wide.log" "select *, abs(case row_number() over () when 2 then
	cast('-9223372036854775808' as integer) else 1 end) as last from events"
check "after an error the rows before it are printed" has out ' 1 *$'
check "after an error no line counts omitted columns" lacks out 'omitted'
{
	cat "$tmp/wide.text"
	echo "b 1 1 3000 $(seq -s ' ' 101 120)"
} | "${top_builddir:-..}/tests/tools/compose" "$tmp/wide.log" || exit 99
run 0 query "$tmp/wide.log" 'select * from events'
check "a later row with further columns has a header with them" test "$(tail -n 3 "$tmp/out" |
	awk '{ print $NF }' | paste -sd ' ')" = "f20 120 columns"
check "the columns of the first header are still there" has out '^time  *name .* one  *two  *f1 '
check "both headers are there" test "$(grep -c '^time  *name' "$tmp/out")" -eq 2
run 0 query --json "$described" "select time, u8, u64, path, raw, f64 from events where name = 'every'"
check "JSON has members as they were asked for" has out \
	'^{"time":"[0-9]*","u8":1,"u64":1.8446744073709552e+19,"path":null,"raw":null,"f64":-2.5}$'
run 0 query --csv "$log" "select 'a,b', '', null, 'say \"x\"', 1.0, x'00ff'"
check "CSV quotes what must be" test "$(sed 1d "$tmp/out")" = '"a,b","",,"say ""x""",1.0,00ff'
run 0 query "$log" "select char(27) || '[31m', 1"
check "no control character reaches the terminal" has out '^\\x1b\[31m'
run 0 query --tables "$described"
check "--tables lists columns" has out '^events *path *-*$'
check "those of tables too" has out '^streams *host *TEXT$'
run 0 query - 'select count(*) from events' <"$log"
check "standard input is a log, too" has out "^ *$total$"
run 0 query "$log" 'select 1 where 0'
check "no row is no failure" has_lines out 1

# wrong LINE:COLUMN REASON SQL
wrong() {
	run 2 query "$log" "$3"
	check "'$3': where and why" has err "^posixtrace: query${1:+:$1}: $2"
	check "'$3': nothing is printed" is_empty out
}

wrong 1:8 'no such column: foo' 'select foo from events'
wrong 2:3 'near "from": syntax error' 'select name,
  from events'
wrong '' 'no such table: event; did you mean events?$' 'select * from event'
wrong '' 'no such table: elephants$' 'select * from elephants'
wrong 1:8 'no such column: e.nmae; did you mean name?$' 'select e.nmae from events e'
wrong 1:12 'no such column: durtion; did you mean duration?$' 'select sum(durtion) from spans'
wrong 1:8 'no such function: coutn; did you mean count?$' 'select coutn(*) from events'
wrong 1:8 'no such column: name; another table has it$' 'select name from spans'
wrong 1:35 "no such column: posix_trace_start; put text in single quotes: 'posix_trace_start'$" \
	'select * from events where name = posix_trace_start'
wrong '' 'incomplete input' 'select name from'
wrong 1:1 'no statement' '  '
wrong 1:11 'only one statement' 'select 1; select 2'
for sql in 'delete from types' 'insert into types(name) values (1)' 'update threads set pid = 1' 'drop table types' \
	'create table x(y)' "attach '$tmp/new.db' as x" 'vacuum' "vacuum into '$tmp/new.db'" 'begin' \
	'pragma journal_mode = wal' 'create temp table x(y)' 'delete from events' 'create view v as select 1' \
	"select load_extension('x')"; do
	run 2 query "$log" "$sql"
	check "$sql: is not done" has err '^posixtrace: query:.*\(only SELECT\|not authorized\|may not be modified\)'
	check "$sql: nothing is printed" is_empty out
done
check "no file is made" test ! -e "$tmp/new.db"
run 0 query "$log" 'select 1; -- no more
	;'
run 1 query "$log" "select abs(-9223372036854775808)"
check "a later failure is reported" has err 'integer overflow$'
run 1 query "$log" "select length(group_concat(hex(randomblob(1000000)))) from events"
check "memory has a limit" has err 'memory\|too big'
run 1 query "$log" "select at('nonsense')"
check "an invalid time is reported" has err "at('nonsense'): not a time such as 2026-01-02T03:04:05, "
run 2 query "$log"
run 2 query
run 1 query "$log" 'select 1' more
check "a log that is none is named" has err 'select 1: No such file'
run 1 query --tables "$log" 'select 1'

# ^C ends it at any point; the rows so far are shown.
for sql in 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n' \
	'select count(*) from events a, events b, events c, events d'; do
	timeout --preserve-status -s INT 1 "$posixtrace" query "$log" "$sql" >"$tmp/out" 2>"$tmp/err"
	got=$? wanted=130
	check "$sql: ends by SIGINT" exited
	check "$sql: the interruption is reported" has err 'query: interrupted$'
done

# A bar on a terminal after two seconds, unless the answer goes to the terminal.
cat >"$tmp/bar.py" <<'END'
import os, pty, signal, sys
pid, terminal = pty.fork()
if not pid:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # shells ignore it in the background
    os.execvp("sh", ["sh", "-c", 'exec "$0" query "$1" "$2" >"$3"'] + sys.argv[1:])
shown = b""
while b"%" not in shown:  # until the test's own limit
    shown += os.read(terminal, 1000)
os.write(terminal, b"\x03")
try:
    while True:
        shown += os.read(terminal, 1000)
except OSError:
    pass
print(os.WTERMSIG(os.waitpid(pid, 0)[1]))
sys.exit(b"[" not in shown or not shown.rstrip().endswith(b"query: interrupted"))
END
if python3 -c 'import pty' 2>/dev/null; then
	python3 "$tmp/bar.py" "$posixtrace" "$log" 'select count(*) from events a, events b, events c' \
		"$tmp/out" >"$tmp/signal"
	check "a bar shows the progress and disappears" test $? -eq 0
	check "^C at the terminal ends it" test "$(cat "$tmp/signal")" = 2
fi

head -c 30000 "$log" >"$tmp/cut.log"
run 3 query "$tmp/cut.log" 'select count(*) from events'
check "a log that was cut is answered about as far as it goes" has out '^ *[1-9][0-9]*$'
"$make_log" evil "$tmp/evil.log" >/dev/null || exit 99
run 0 query "$tmp/evil.log" 'select name, data, * from events'
check "nothing hostile reaches the terminal" lacks out "$(printf '\033')"

# A field may have the name of a column of a view, and a log may be named twice.
printf 'evt id=0x40 time=%s.000000000 data=-\n' 1 2 60 121 122 123 >"$tmp/minutes.evt"
run 0 convert "$tmp/minutes.evt" -o "$tmp/minutes.ptl"
"${top_builddir:-..}/tests/tools/make_described" minute "$tmp/minute.log" || exit 99
run 0 query --csv "$tmp/minutes.ptl" "$tmp/minute.log" \
	'select minute / 60000000000, events from rates where minute < 1000000000000 order by 1'
check "a field minute does not change the minutes" test "$(sed 1d "$tmp/out" | paste -sd ' ')" = '0,2 1,1 2,3'
for twice in "stored count" "rates events" "durations spans"; do
	# shellcheck disable=SC2086 # two words
	set -- $twice
	run 0 query --csv "$times" "select sum($2) from $1"
	one=$(sed 1d "$tmp/out")
	run 0 query --csv "$times" "$times" "select sum($2) from $1"
	check "$1: a log that is named twice counts twice" test "$(sed 1d "$tmp/out")" -eq $((2 * one))
done
# Recorded events and events that can be read: posixtrace-query(1). In a damaged log, the account has
# both; in a cut log, types and threads count only events that can be read.
"$make_log" plain "$tmp/sound.log" 50000 >/dev/null || exit 99
half=$(($(wc -c <"$tmp/sound.log") / 2))
cp "$tmp/sound.log" "$tmp/hole.log"
printf '################' | dd of="$tmp/hole.log" bs=1 seek="$half" conv=notrunc 2>/dev/null
head -c "$half" "$tmp/sound.log" >"$tmp/cut.log"
all=$("$posixtrace" query --csv "$tmp/sound.log" 'select count(*) from events' | tail -n 1)
for one in sound hole cut; do
	read=$("$posixtrace" query --csv "$tmp/$one.log" 'select count(*) from events' 2>/dev/null | tail -n 1)
	kinds=$all
	test $one = cut && kinds=$read
	status=3
	test $one = sound && status=0
	run $status query --csv "$tmp/$one.log" 'select events, (select sum(events) from types),
		(select sum(events) from threads), (select sum(count) from stored), events -
		(select coalesce(sum(count), 0) from stored where stored.log = streams.log) from streams'
	check "$one: recorded and stored events" has out "^$all,$kinds,$kinds,$read,$((all - read))\$"
done
finish
