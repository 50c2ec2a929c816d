#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# dump --merge and report of several logs: one order by time, with marks where it is not known.
. "${0%/*}/lib.sh"

compose=${top_builddir:-..}/tests/tools/compose
T=1700000000000000000

# log NAME HOST TIMES: a log of events "tick" at these nanoseconds, numbered
log() {
	echo 'type tick u32 n' >"$tmp/lines"
	n=0
	for ns in $3; do
		echo "tick $n 1 $((T + ns)) $n" >>"$tmp/lines"
		n=$((n + 1))
	done
	"$compose" "$tmp/$1" "$2" <"$tmp/lines" || exit 99
}

# shows TEXT OPTION...: the log of each event, with * if its order is not known
shows() {
	text=$1
	shift
	run 0 dump --merge --fields log,n,flags "$@"
	check "$*: '$text'" test "$(sed "s|^$tmp/||" "$tmp/out" | awk '{
		printf "%s%s%s%s", (NR > 1 ? " " : ""), $1, $2, ($3 ~ /unordered/ ? "*" : "") }')" = "$text"
}

ms=1000000
log a one "0 $((10 * ms)) $((20 * ms)) $((30 * ms))"
log b one "$((5 * ms)) $((10 * ms + 1500)) $((20 * ms + 3000)) $((40 * ms))"
shows 'a0 b0 a1* b1* a2 b2 a3 b3' "$tmp/a" "$tmp/b"
check "each log's clock and bound are printed" has err "^posixtrace: $tmp/a: host one, clock none: events less than 0.000002000 s"
shows 'b0 b1 b2 b3' "$tmp/b"
shows 'a0 b0 a1* b1* a2* b2* a3 b3' --clock-error "$tmp/a=2us" --clock-error "$tmp/b=1us" "$tmp/a" "$tmp/b"
shows 'a0 b0 a1 b1 a2 b2 a3 b3' --clock-error "$tmp/a=0s" --clock-error "$tmp/b=1us" "$tmp/a" "$tmp/b"

# Hosts have clocks of their own.
log c two "1 $((100 * ms)) $((500 * ms))"
log d one "$((119 * ms)) $((521 * ms))"
shows 'c0 c1* d0* c2 d1' "$tmp/c" "$tmp/d"
check "also of hosts" has err "host two, clock none: events less than 0.020000000 s"
shows 'c0 c1 d0 c2 d1' --clock-error 1ms "$tmp/c" "$tmp/d"
shows 'c0 c1 d0 c2 d1' --clock-error 1ms --clock-error two=17ms "$tmp/c" "$tmp/d"
shows 'c0 c1* d0* c2 d1' --clock-error 1ms --clock-error two=18ms "$tmp/c" "$tmp/d"
shows 'c0* c1* d0* c2* d1*' --clock-error 1h "$tmp/c" "$tmp/d"

# Events with equal times are in the order of the command line; a log's own order remains if its
# times decrease.
log e one '0 100000 50000 200000'
log f one '0 60000 150000'
shows 'e0* f0* f1 e1 e2 f2 e3' --clock-error one=0s "$tmp/e" "$tmp/f"
shows 'f0* e0* f1 e1 e2 f2 e3' --clock-error one=0s "$tmp/f" "$tmp/e"
log empty one ''
shows 'a0 a1 a2 a3' "$tmp/a" "$tmp/empty"

# Other options that select and show events
shows 'a1* b1* a2' --begin +10ms --end +20ms "$tmp/a" "$tmp/b"
shows 'b2 a3 b3' --tail 3 "$tmp/a" "$tmp/b"
shows 'a0 b0 a1*' --limit 3 "$tmp/a" "$tmp/b"
shows 'b1 a2 b2' --where 'n == 1 || n == 2' --begin +10001us "$tmp/a" "$tmp/b"
run 0 dump --merge --json "$tmp/a" "$tmp/b"
check "JSON names the log and marks the event" has out "^{\"log\":\"$tmp/b\",.*\"n\":1}.*,\"unordered\":true}$"
check "two of eight" test "$(grep -c unordered "$tmp/out")" -eq 2
run 0 dump --merge --raw "$tmp/a" "$tmp/b"
check "text begins with the log, and marks the event" has out "^$tmp/b 1700000000010001500 .* tick n=1 \[unordered\]$"
run 0 report "$tmp/a" "$tmp/b"
check "report has a column for the log" has out '^LOG  *TIME  *DELTA'
check "the report has all events" has_lines out 9
check "the report marks events without order" has out "^$tmp/b .* tick *n=1 \[unordered\]$"
run 0 report -h -o "$tmp/report" --fields log,n "$tmp/a" "$tmp/b"
check "report writes to a file, too" test "$(wc -l <"$tmp/report")" -eq 8
run 0 report -h -p 1 --fields log,n "$tmp/a" "$tmp/b"
check "-p chooses processes" has_lines out 2
# Messages about losses have their place among the events of all logs. The event behind a loss, or the next chosen
# one, may be much later.
{
	echo 'type tick u32 n'
	echo "tick 0 1 $T 0"
	echo "posix_trace_overflow 0 0 +11ms"
	echo "posix_trace_resume 0 0 +1ms"
	echo "tick 0 1 +20ms 1"
	echo "posix_trace_overflow 0 0 +1ms"
	echo "posix_trace_resume 0 0 +1ms"
} | "$compose" "$tmp/lossy" one || exit 99
# order OPTION...: the events, and L for each message about a loss
order() {
	"$posixtrace" dump --merge -e tick --fields log,n "$@" "$tmp/lossy" "$tmp/b" 2>&1 |
		sed -n "s|^$tmp/\(.*\)	\(.*\)|\1\2|p; s/^WARNING: .* events were lost until .*/L/p" | paste -sd ' ' -
}
check "losses have their place in the order" test "$(order)" = 'lossy0 b0 b1 L b2 lossy1 L b3'
check "also if the events of this log are not chosen" \
	test "$(order --where 'n == 2 || n == 3')" = 'L b2 L b3'
check "also before --limit" test "$(order --limit 4)" = 'lossy0 b0 b1 L b2'
for k in 1 2 3 4 5 6 7 8; do
	cp "$tmp/a" "$tmp/a$k"
done
run 0 dump --merge --fields n "$tmp"/a1 "$tmp"/a2 "$tmp"/a3 "$tmp"/a4 "$tmp"/a5 "$tmp"/a6 "$tmp"/a7 "$tmp"/a8
check "eight logs of the same are in order" test "$(paste -sd ' ' "$tmp/out")" = \
	"$(for n in 0 1 2 3; do printf "$n $n $n $n $n $n $n $n "; done | sed 's/ $//')"

# Real logs: no event is lost.
"${top_builddir:-..}/tests/tools/make_log" plain "$tmp/x.log" 20000 >/dev/null || exit 99
"${top_builddir:-..}/tests/tools/make_log" plain "$tmp/y.log" 20000 >/dev/null || exit 99
run 0 dump --merge --raw --fields time,event "$tmp/x.log" "$tmp/y.log"
check "every event of both is there" has_lines out \
	$(($("$posixtrace" dump "$tmp/x.log" | wc -l) + $("$posixtrace" dump "$tmp/y.log" | wc -l)))
check "in the order of time" sort -c -s -n "$tmp/out" # -s: any order of equal times is right

run 1 dump --merge "$tmp/a" "$tmp/missing"
check "a missing log is reported, and the others are shown" has_lines out 4
head -c 4500 "$tmp/x.log" >"$tmp/cut.log"
run 3 dump --merge "$tmp/a" "$tmp/cut.log"
check "a cut log is reported" has err "^posixtrace: $tmp/cut.log: "
run 2 dump --merge --fields no_such "$tmp/a" "$tmp/b"
run 2 dump --merge --where 'no_such == 1' "$tmp/a" "$tmp/b"
for wrong in x 1 '1' -1ms 'a=' 'a=b' '=1x' +1ms; do
	test "$wrong" = 1 && continue
	run 2 dump --merge --clock-error "$wrong" "$tmp/a" "$tmp/b"
	check "--clock-error $wrong is reported" has err '^posixtrace: --clock-error .*: not a time such as 2ms'
done
echo '045 "x"' >"$tmp/template"
run 2 report -t "$tmp/template" "$tmp/a" "$tmp/b"
has_templates && check "templates take one log" has err 'templates print one log; give only one$'
finish
