#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace dump: lines, selection of events, losses, exit statuses.
. "${0%/*}/lib.sh"

log=$tmp/plain.log
"$make_log" plain "$log" 1000 >/dev/null || exit 99

run 0 dump "$log"
cp "$tmp/out" "$tmp/all"
check "a sound log without losses says nothing on standard error" is_empty err
total=$(lines all)
check "every line has time, delta, pid, tid, address and name" test "$(grep -c -E \
'^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{9} [+-][0-9]+\.[0-9]{9} +([0-9]+|-) +([0-9]+|-) 0x[0-9a-f]{12,} [a-z_]+' \
	"$tmp/out")" -eq "$total"
# Two threads may trace at the same nanosecond: -s, so that sort compares only the times.
check "times never fall" sort -s -c -k1,1 "$tmp/out"
check "START comes first with its filter" sh -c "head -n 1 '$tmp/out' | grep -q 'posix_trace_start filter=none$'"
check "the event STOP has its cause" has out ' posix_trace_stop by=call$'
check "FILTER has both sets by name" has out ' posix_trace_filter old=none new={job_end}$'
check "text is shown as text" has out ' job_begin "job 498"$'
check "a number is shown as bytes" has out ' job_end 0[0-9a-f]00000000000000$'
check "two threads are distinguished" test "$(awk '/job_/ { print $4 }' "$tmp/out" | sort -u | wc -l)" -eq 2
check "deltas add up to the time of the log" awk '
	function ns(t) { split(t, part, /[T:.]/); return ((part[2] * 60 + part[3]) * 60 + part[4]) * 1e9 + part[5] }
	{ sum += $2 * 1e9; if (NR == 1) first = ns($1); last = ns($1) }
	END { difference = sum - (last - first); exit difference > 1000 || difference < -1000 }' "$tmp/out"

run 0 dump -x 'posix_trace_flush_*' "$log"
check "there is a line an event: START, the program's, FILTER, STOP" has_lines out 1003
check "STOP comes last" sh -c "tail -n 1 '$tmp/out' | grep -q ' posix_trace_stop '"

run 0 dump --utc "$log"
check "--utc says so with a Z" has out '^[^ ]*Z '
sed 's/Z / /' "$tmp/out" >"$tmp/utc"
check "UTC in the zone of UTC is the same time" cmp -s "$tmp/utc" "$tmp/all"
TZ=XXX-5 "$posixtrace" dump "$log" >"$tmp/out"
check "local time follows TZ" sh -c "! cmp -s '$tmp/out' '$tmp/all'"
run 0 dump --raw "$log"
check "--raw counts nanoseconds" has out '^1[0-9]\{18\} +[0-9]* '
check "--raw has as many lines" has_lines out "$total"
run 0 dump --hex --limit 2 -e job_begin "$log"
check "--hex shows text as bytes" has out ' job_begin 6a6f622030$'

run 0 dump -e 'job_*' "$log"
check "-e takes a glob" has_lines out 1000
run 0 dump -e 'job_*' -x '*end' "$log"
check "-x takes from what -e chose" has_lines out 500
run 0 dump --event job_begin --event 'posix_trace_st*' "$log"
check "-e may be repeated" has_lines out 502
run 0 dump -x '*' "$log"
check "-x '*' leaves nothing" is_empty out
run 0 dump --limit 7 "$log"
check "--limit counts shown events" has_lines out 7
run 0 dump --limit 7 -e job_end "$log"
check "--limit counts shown events only" has_lines out 7
run 0 dump --limit 0 "$log"
check "--limit 0 shows nothing" is_empty out

pid=$(awk '/job_/ { print $3; exit }' "$tmp/all")
tid=$(awk '/job_/ { print $4; exit }' "$tmp/all")
run 0 dump --pid "$pid" -e 'job_*' "$log"
check "--pid finds the process" has_lines out 1000
run 0 dump --pid "$pid" --pid 1 -e 'job_*' "$log"
check "--pid may be repeated" has_lines out 1000
run 0 dump --pid 1 "$log"
check "--pid 1 finds nothing" is_empty out
run 0 dump --tid "$tid" -e 'job_*' "$log"
check "--tid finds one of two threads" has_lines out 500

time=$(sed -n 400p "$tmp/all" | cut -d' ' -f1)
before=$(awk -v t="$time" '$1 < t' "$tmp/all" | wc -l)
upto=$(awk -v t="$time" '$1 <= t' "$tmp/all" | wc -l)
run 0 dump --begin "$time" "$log"
check "--begin shows that time and later" has_lines out $((total - before))
run 0 dump --end "$time" "$log"
check "--end shows up to that time" has_lines out "$upto"
run 0 dump --begin "$time" --end "$time" "$log"
check "both bounds are included" has_lines out $((upto - before))
run 0 dump --begin "${time}Z" "$log"
check "a time may say that it is UTC" has_lines out $((total - before))
run 0 dump --begin "$(echo "$time" | tr T ' ')" "$log"
check "a blank can replace the T" has_lines out $((total - before))
raw=$("$posixtrace" dump --raw "$log" | sed -n 400p | cut -d' ' -f1)
run 0 dump --begin "${raw%?????????}.${raw#??????????}" "$log"
check "seconds since 1970 are a time" has_lines out $((total - before))
first=$(head -n 1 "$tmp/all" | cut -d' ' -f1)
run 0 dump --begin +0 "$log"
check "+0 is the first event" has_lines out "$total"
run 0 dump --begin -0s "$log"
check "-0s is the last one" test "$(sed 1q "$tmp/out" | cut -d' ' -f1)" = "$(sed '$!d' "$tmp/all" | cut -d' ' -f1)"
run 0 dump --begin +1h "$log"
check "an hour behind the first event there is nothing" is_empty out
run 0 dump --end -1h "$log"
check "no event is an hour before the last one" is_empty out
run 0 dump --raw "$log"
run 0 dump --begin "$(awk 'NR == 1 { first = substr($1, 6) } NR == 400 { printf "+%.0fns", substr($1, 6) - first }' "$tmp/out")" "$log"
check "+SPAN counts from the first event" has_lines out $((total - before))
run 0 dump --begin "${time#*T}" "$log"
check "a time of day is one of the log's day" has_lines out $((total - before))
run 0 dump --utc --end "${time#*T}" "$log"
check "also in UTC" has_lines out "$upto"
run 0 dump --tail 7 "$log"
sed 's/^\([^ ]*\) [^ ]* /\1 /' "$tmp/out" >"$tmp/tail"
tail -n 7 "$tmp/all" | sed 's/^\([^ ]*\) [^ ]* /\1 /' >"$tmp/last"
check "--tail shows the last events" cmp "$tmp/tail" "$tmp/last"
run 0 dump --tail 1000000 "$log"
check "--tail of more than there are shows all" cmp "$tmp/out" "$tmp/all"
run 0 dump --tail 3 --limit 5 -e job_begin "$log"
check "--tail of what --limit leaves" sh -c "cut -d'\"' -f2 '$tmp/out' | tr '\n' ' ' | grep -q '^job 4 job 6 job 8 $'"
for wrong in 0 1000001 -1 x ''; do
	run 2 dump --tail "$wrong" "$log"
done
for wrong in + +x +1x +1. -x 25:00 10:60 10: +99999999999999999999 +9999999999h; do
	run 2 dump --begin "$wrong" "$log"
done
# Late events are found at any place, and no event behind the last of them is read.
awk 'BEGIN {
	print "order le"; print "name 0x040 \"tick\""
	for (i = 0; i < 20000; i++)
		printf "evt id=0x040 pid=1 time=%d.%03d000000 data=%064d\n", i / 1000, i % 1000, i
	print "evt id=0x040 pid=1 time=1.000500000 data=aa"
	for (i = 20000; i < 40000; i++)
		printf "evt id=0x040 pid=1 time=%d.%03d000000 data=%064d\n", i / 1000, i % 1000, i
}' >"$tmp/late.evt"
"$posixtrace" convert "$tmp/late.evt" --to log -o "$tmp/late.log" 2>"$tmp/err" || exit 99
run 0 dump --begin 1 --end 1.001 --raw "$tmp/late.log"
check "an event 19 s late is within --end" has_lines out 3
check "the event has its place in the log" sh -c "sed -n 3p '$tmp/out' | grep -q '^1000500000 '"
run 0 report -h --begin 1 --end 1.001 --raw "$tmp/late.log"
check "report shows it too" has_lines out 3
run 0 dump --end 0 "$tmp/late.log"
check "--end at the first event shows it" has_lines out 1
run 0 dump --end -1s "$tmp/late.log"
check "--end before the last event" has_lines out $((40001 - 1000))
run 0 dump --begin 2200-01-01 "$log"
check "nothing is after the log" is_empty out
run 0 dump --end 1990-01-01T00:00+01:00 "$log"
check "nothing is before the log" is_empty out
run 0 dump --begin 1960-01-01 "$log"
check "before 1970 is before the log" has_lines out "$total"

"$posixtrace" dump - <"$log" >"$tmp/out"
check "standard input may be a file" cmp -s "$tmp/out" "$tmp/all"
cat "$log" | "$posixtrace" dump - >"$tmp/out"
check "standard input may be a pipe" cmp -s "$tmp/out" "$tmp/all"
run 0 dump "$log" "$log"
check "two logs come one after the other" has_lines out $((2 * total + 2))
check "each has its title" test "$(grep -c '^==> .*plain.log <==$' "$tmp/out")" -eq 2
run 1 dump "$tmp/missing" "$log"
check "a log is dumped after one that is missing" has_lines out $((total + 1))

"$posixtrace" dump "$log" "$log" "$log" "$log" "$log" "$log" "$log" "$log" "$log" "$log" \
	2>"$tmp/err" | head -n 1 >/dev/null
check "a reader that goes away is no news" is_empty err

run 0 dump --fail-on-loss "$log"
for kind in stopped overrun loop; do
	"$make_log" $kind "$tmp/$kind.log" 5000 >/dev/null || exit 99
	for command in dump stat verify; do
		run 0 $command "$tmp/$kind.log"
		run 4 $command --fail-on-loss "$tmp/$kind.log"
	done
	run 0 dump "$tmp/$kind.log"
	check "$kind: the losses of the ledger are reported" has err "^WARNING: .*$kind.log: [0-9]* of [0-9]* events lost: "
	run 4 dump --fail-on-loss "$tmp/plain.log" "$tmp/$kind.log"
	run 1 dump --fail-on-loss "$tmp/missing" "$tmp/$kind.log"
done
run 0 dump "$tmp/stopped.log"
check "an automatic stop is decoded" has out ' posix_trace_stop by=full$'
check "the gap of a full stream is reported" has err '^WARNING: .*: the stream was full and stopped itself'
run 0 dump "$tmp/overrun.log"
check "the gap of an overflow is reported with both times" has err \
	'^WARNING: .*: [^ ]*: events were lost until [^ ]* ([0-9.]* s)$'
check "events of the stream itself have no process" has out ' -       - 0x000000000000 posix_trace_overflow$'
"$posixtrace" dump "$tmp/overrun.log" >"$tmp/out" 2>&1
check "the warning is before the events after the gap" awk '
	/^WARNING:.* events were lost until/ && !at { at = NR }
	/posix_trace_resume$/ && !resume { resume = NR }
	/ job_/ && !job { job = NR }
	END { exit !(at && resume && at <= resume && job > at) }' "$tmp/out"

events=$("$make_log" unfinished "$tmp/unfinished.log" 1000)
for command in dump stat verify; do
	run 3 $command "$tmp/unfinished.log"
	check "$command: an unfinished log is reported" has err 'its writer has not closed it, or it was cut'
done
run 3 dump -e 'job_*' "$tmp/unfinished.log"
check "an unfinished log shows all that was flushed" has_lines out "$events"
run 2 dump --begin +1s --begin +2s "$log"
check "two times to begin at are one too many" has err 'begin +2s: give one value only; +1s was given before$'
run 2 dump --end 10:15 --end 10:15 "$log"
# Times at the limits of the number type: bounds do not overflow.
compose=${top_builddir:-..}/tests/tools/compose
min=-9223372036854775808
max=9223372036854775807
# ends NAME TIME...: a log with events at these times; then
# window N OPTION...: every command takes the bounds, and dump shows N events
ends() {
	name=$1
	shift
	{
		echo 'type a u32 n'
		for ns in "$@"; do
			echo "a 1 1 $ns 1"
		done
	} | "$compose" "$tmp/ends" || exit 99
}
window() {
	shown=$1
	shift
	run 0 dump --raw "$tmp/ends" "$@"
	check "$name: $*: $shown events" has_lines out "$shown"
	run 0 dump --raw --merge "$tmp/ends" "$tmp/ends" "$@"
	check "$name: $*: two logs have twice as many" has_lines out $((2 * shown))
	run 0 convert "$tmp/ends" --to jsonl "$@"
	check "$name: $*: convert has them" test "$(grep -c '^{"event"' "$tmp/out")" -eq "$shown"
	run 0 latency "$tmp/ends" "$@"
	run 0 diff "$tmp/ends" "$tmp/ends" "$@"
	echo 'never a where "n > 1"' >"$tmp/rule"
	run 0 check "$tmp/rule" "$tmp/ends" "$@"
	run 0 html "$tmp/ends" "$@" --force -o "$tmp/page"
}
at_ends() {
	window 1 --begin +1s --end -1s
	window 2 --begin +1s
	window 2 --end -1s
	window 1 --begin -1s
	window 1 --end +1s
	window 3 --end +100000d
	window 3 --begin -100000d
	window 3 --begin 00:00 --end -0s
	window 3 --begin +0s --end 23:59:59.999999999
	window 0 --begin 9223372036.854775807 --end 0
}
ends last 9223372030000000000 9223372032000000000 $max
at_ends
ends first $min -9223372034000000000 -9223372030000000000
at_ends
ends both $min 0 $max
window 1 --begin +1s --end -1s
window 1 --begin 9223372036.854775807
window 2 --begin 0
window 2 --end 0

# Times of day on the days on which summer time begins and ends, and on the day before.
TZ=CET-1CEST,M3.5.0,M10.5.0/3
for day in 2026-03-29 2026-10-25; do
	at=$(date -d "$day 04:30" +%s)
	ends "$day" $((at - 12600))000000000 "$at"000000000 $((at + 3600))000000000
	window 1 --begin 04:30 --end 04:30
	window 1 --begin 05:00
	window 2 --end 05:29:59
	ends "before $day" $((at - 43200))000000000 "$at"000000000 $((at + 3600))000000000
	window 1 --begin 04:30 --end 04:30
	window 1 --begin 04:30:01
done
TZ=UTC0
finish
