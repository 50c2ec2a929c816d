#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace latency: known durations, pairs, events without a partner, locks, limits.
. "${0%/*}/lib.sh"

compose=${top_builddir:-..}/tests/tools/compose
json() { command -v python3 >/dev/null || return 0; python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$tmp/out"; }

# Calls of 1 to 1000 microseconds; jobs that overlap; nested functions; requests without a schema's role.
awk 'BEGIN {
	print "type call ns time; s32 result"
	print "type job.begin u32 job; ns kernel_time; ns user_time; @begin job; @key job"
	print "type job.end u32 job; ns kernel_time; ns user_time; @end job; @key job"
	print "type in ptr f; @begin function"
	print "type out ptr f; @end function"
	print "type req u32 id"
	print "type done u32 id; str how"
	print "type held_lock ns time; ptr lock"
	print "type lock ns time; ptr lock"
	print "type lock_held ns time; ptr lock"
	print "object 7 0x1000 pool"
	for (i = 1; i <= 1000; i++) print "call 7 8", i * 2000000, i * 1000, 0
	t = 3000000000
	# Jobs 0 to 3 last 5 ms, 1 ms of it in the kernel and 2 ms outside of it; job 4 does not
	# end.
	print "job.end 7 8", t, 99, 0, 0
	for (i = 0; i < 5; i++) print "job.begin 7 8", t + i * 1000, i, 1000000, 0
	for (i = 0; i < 4; i++) print "job.end 7 9", t + i * 1000 + 5000000, i, 2000000, 2000000
	# A call in a call: 1 ms in 10 ms.
	t += 1000000000
	print "in 7 8", t, 1; print "in 7 8", t + 4000000, 2
	print "out 7 8", t + 5000000, 2; print "out 7 8", t + 10000000, 1
	for (i = 0; i < 10; i++) print "req 7 8", t + 20000000 + i, i
	for (i = 9; i >= 0; i--) print "done 7 9", t + 20000000 + 100 + i * 1000, i, "ok"
	t += 1000000000
	for (i = 0; i < 3; i++) print "lock 7 8", t++, 2000000, "0x1000"
	print "lock 7 9", t++, 1000000, "0x2000"
	for (i = 0; i < 10; i++) print "lock_held 7 9", t++, 9000000, "0x2000"
}' >"$tmp/lines"
"$compose" "$tmp/a.log" <"$tmp/lines" || exit 99

run 0 latency "$tmp/a.log"
cp "$tmp/out" "$tmp/all"
# row NAME: the line of a span or event in the first table
row() { sed -n '/  span or event$/,/^$/p' "$tmp/out" | awk -v name="$1" '$NF == name { print; exit }'; }
column() { row "$1" | awk -v c="$2" '{ print $c }'; }
check "every call is counted" test "$(column call 1)" = 1000
check "the least is exact" test "$(column call 3)" = 1.000us
# percentile COLUMN NANOSECONDS: right to 1/128, never below
percentile() { "$posixtrace" latency --json "$tmp/a.log" | tr '{' '\n' | grep '"name":"call"' |
	sed "s/.*\"$1\":\([0-9]*\).*/\1/" | awk -v want="$2" '{ exit !($1 >= want && $1 <= want * (1 + 1 / 128)) }'; }
check "p50" percentile p50_ns 500000
check "p90" percentile p90_ns 900000
check "p99" percentile p99_ns 990000
check "p99.9" percentile p99_9_ns 999000
check "the greatest is exact" percentile max_ns 1000000
check "the total is exact" test "$(column call 9)" = 500.5ms
check "keys pair across threads" test "$(column job 1)" = 4
check "each span has its duration" test "$(column job 3) $(column job 8)" = "5.000ms 5.000ms"
check "spans of a thread nest" test "$(column function 3) $(column function 8)" = "1.000ms 10.00ms"
check "an end without a begin and a begin without an end are counted" has out '^ *1 *1 *0 *0 *0  job$'
check "CPU time is the difference of both fields" has out '^ *4 *20.00ms *12.00ms *3.000ms *60.0%  job$'
check "the lock that is waited for longest comes first" test "$(sed -n '/ pid  lock$/,/^$/p' "$tmp/out" |
	sed -n 2p | grep -c '^ *3 *6.000ms *2.000ms *2.000ms *0 *0ns *0ns *0ns *7  0x1000 "pool" lock$')" = 1
check "a lock that is waited for and held" has out \
	'^ *1 *1.000ms *1.000ms *1.000ms *10 *90.00ms *9.000ms *9.000ms *7  0x2000 lock$'
check "the table has the waiting threads" has out '^ *3 *6.000ms *2.000ms *2.000ms *7 *8  0x1000 "pool"$'
check "nothing is wrong" is_empty err
run 0 latency --json "$tmp/a.log"
check "JSON is JSON" json
check "JSON has the lock's name" has out '"lock":"0x1000","lock_name":"pool","pid":7,"event":"lock","wait":{"count":3,"total_ns":6000000,"max_ns":2000000}'
check "JSON has CPU times" has out '"cpu_count":4,"cpu_total_ns":12000000,"cpu_max_ns":3000000,"cpu_wall_ns":20000000'

# Pairs.
run 0 latency --pair req,done,id -e req -e done "$tmp/a.log"
check "a pair by its field" test "$(column req..done 1) $(column req..done 3)" = "10 100ns"
check "nothing else where it is not wanted" test "$(grep -c '  call$' "$tmp/out")" = 0
run 0 latency --pair req,done -e req -e done "$tmp/a.log"
check "without a field the thread pairs, and these are two" has out '^ *10 *10 *0 *0 *0  req..done$'
run 2 latency --pair req,gone,id "$tmp/a.log"
check "an event type that is not there is reported" has err '^posixtrace: --pair: gone: .*a.log has no such event type'
run 2 latency --pair req,done,how "$tmp/a.log"
check "a field that is not there is reported" has err '^posixtrace: --pair: req has no field how$'

# The slowest, and the events around them.
run 0 latency --slowest 2 --around 2 --raw "$tmp/a.log"
check "the slowest comes first" has out '^slowest 1: 10.00ms, from 4000000000, pid 7 tid 8: function$'
sed -n '/^slowest 1/,/^$/p' "$tmp/out" >"$tmp/first"
check "its begin and its end are marked" test "$(grep -c '^  [<>]' "$tmp/first")" = 2
check "there are as many events as wanted" test "$(grep -c '^  ' "$tmp/first")" = 8
sed -n 3p "$tmp/first" >"$tmp/out"
check "the last one before is of that thread" has out ' 8 .*job.begin'
run 0 latency --slowest 1 --around 2 --json "$tmp/a.log"
check "JSON of the slowest is JSON" json
tr -d '\n' <"$tmp/out" >"$tmp/err"
check "it has what was around" has err '"before":\[{.*"during":\[{.*"after":\[{'
run 0 latency --slowest 1 --around 0 -e call "$tmp/a.log"
check "nothing around it where it is not wanted" test "$(sed -n '/^slowest/,$p' "$tmp/out" | wc -l)" = 1
run 0 latency --slowest 1 -e call "$tmp/a.log"
check "a call has the call inside it" has out '^slowest 1: 1.000ms, .* tid 8: call$'

# Losses cut open spans.
awk 'BEGIN {
	print "type in @begin f"; print "type out @end f"
	print "in 1 1 1000"; print "posix_trace_overflow 1 1 2000"; print "posix_trace_resume 1 1 3000"
	print "out 1 1 4000"; print "in 1 1 5000"; print "out 1 1 6000"; print "in 1 1 9000"; print "out 1 1 8000"
	print "in 1 1 9500"
}' | "$compose" "$tmp/lost.log" || exit 99
run 0 latency "$tmp/lost.log"
check "a span that was open where events were lost is no span" test "$(column f 1) $(column f 8)" = "1 1.000us"
check "it is counted, like all others without a partner" has out '^ *1 *1 *1 *0 *1  f$'

# More open spans than the limit.
awk 'BEGIN {
	print "type in u32 id; @begin f; @key id"; print "type out u32 id; @end f; @key id"
	for (i = 0; i < 70000; i++) print "in 1 1", i, i
	for (i = 0; i < 70000; i++) print "out 1 1", 1000000 + i, i
}' | "$compose" "$tmp/many.log" || exit 99
run 0 latency "$tmp/many.log"
check "the oldest are dropped and counted" has out '^ *4464 *0 *0 *4464 *0  f$'
check "the others are spans" test "$(column f 1)" = 65536

# More locks than the table holds.
awk 'BEGIN { print "type lock ns time; ptr lock"
	for (i = 0; i < 5000; i++) print "lock 1", i, i, 1000, i * 8 }' | "$compose" "$tmp/locks.log" || exit 99
run 0 latency "$tmp/locks.log"
check "no wait is lost" has out '^ *904 *904.0us *1.000us *1.000us *0 .*others than the first 4096$'
check "waiters beyond the limit have one line" has out '^ *904 *904.0us *1.000us *1.000us *-  *-  others than the first 4096$'

# make_times has events that a program records by itself.
"${top_builddir:-..}/tests/tools/make_times" "$tmp/times.log"
run 0 latency "$tmp/times.log"
check "live events are measured" test "$(column call 1) $(column call 8)" = "100 100.0us"
check "a lock's name comes from the program" has out '"pool" lock$'
"$make_log" blocks "$tmp/blocks.log" 1000 >/dev/null || exit 99
head -c $(($(wc -c <"$tmp/blocks.log") / 2)) "$tmp/blocks.log" >"$tmp/cut.log"
run 3 latency --pair job_begin,job_end "$tmp/cut.log"
check "a log that was cut is measured as far as it goes" has out '  job_begin\.\.job_end$'
"$make_log" evil "$tmp/evil.log" >/dev/null || exit 99
run 0 latency --json "$tmp/evil.log"
check "a log without any duration is one" json

for wrong in "" "--pair a $tmp/a.log" "--pair a, $tmp/a.log" "--pair ,b $tmp/a.log" \
	"--pair a,b,c,d,e,f,g $tmp/a.log" "--pair a,b,,c $tmp/a.log" "--pair a,b --pair a,b,c $tmp/a.log" \
	"--slowest x $tmp/a.log" "--slowest 1001 $tmp/a.log" "--around 21 $tmp/a.log" "--where nowhere==1 $tmp/a.log"; do
	run 2 latency $wrong
	check "latency $wrong: nothing is on standard output" is_empty out
done
run 1 latency "$tmp/missing"
# The percentiles of latency and query are the same: half of two durations do not exceed the lesser
# one.
printf '%s\n' 'type call ns took' 'call 7 8 1000000000 1000' 'call 7 8 1000500000 900000' |
	"$compose" "$tmp/two.log" || exit 99
middle() {
	sed "s/.*$1\":\([0-9]*\).*/\1/" "$tmp/out" |
		awk '{ exit !($1 >= 1000 && $1 <= 1000 * (1 + 1 / 128)) }'
}
run 0 latency --json "$tmp/two.log"
check "latency: the p50 of two durations is the lesser one" middle '"name":"call".*"p50_ns'
run 0 query --json "$tmp/two.log" 'select p50 from durations'
check "query: the p50 of two durations is the lesser one" middle p50
finish
