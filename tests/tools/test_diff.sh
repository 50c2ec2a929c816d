#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace diff: no difference if there is none, and the planted one if there is one.
. "${0%/*}/lib.sh"

compose=${top_builddir:-..}/tests/tools/compose

# draw SEED SLOW EVERY FILE: 6 event types with 5000 calls each of log-normal durations; those of call5 are
# SLOW times as long; of call2 one in EVERY is left out. The generator is awk's own arithmetic, so that
# every awk draws the same.
draw() {
	awk -v seed="$1" -v slow="$2" -v every="$3" '
	function random() {
		one = (one * 40014) % 2147483563; two = (two * 40692) % 2147483399
		return ((one - two + 2147483562) % 2147483562) / 2147483563
	}
	BEGIN {
		one = seed * 7919 + 17; two = seed * 104729 + 5
		for (k = 0; k < 6; k++) print "type call" k " ns time"
		for (i = 0; i < 5000; i++) for (k = 0; k < 6; k++) {
			g = -6; for (j = 0; j < 12; j++) g += random()
			d = 10000 * (k + 1) * exp(0.2 * g)
			t += 500 + int(1000 * random())
			if (k == 2 && every && i % every == 0) continue
			printf "call%d 1 1 %d %d\n", k, t, k == 5 ? d * slow : d
		}
	}' | "$compose" "$4" || exit 99
}

for i in 1 2 3 4 5; do
	draw $i 1 0 "$tmp/same$i"
done
draw 6 1.1 0 "$tmp/slow"
draw 7 1 5 "$tmp/fewer"

# Ten pairs of the same: at 5 % for all comparisons of a pair together, none is the most likely by far.
found=0
for i in 1 2 3 4; do
	for j in $(seq $((i + 1)) 5); do
		"$posixtrace" diff --fail-on-difference "$tmp/same$i" "$tmp/same$j" >"$tmp/out" || found=$((found + 1))
	done
done
check "nothing is found in ten pairs of the same, not in $found" test $found -eq 0

for i in 1 2 3; do
	run 4 diff --fail-on-difference "$tmp/same$i" "$tmp/slow"
	check "a tenth more is found in the type that has it" has out '^\* p50 .*  event call5$'
	check "no difference is found in another type" test "$(grep '^\* ' "$tmp/out" | grep -c -v ' call5$')" -eq 0
	check "the printed difference is within its interval" awk '$1 == "*" && $2 == "p50" { found = 1
		good = $6 < 1.1 && $8 > 1.1 && $5 > 1.05 && $5 < 1.15 } END { exit !(found && good) }' "$tmp/out"
done
run 4 diff --fail-on-difference "$tmp/slow" "$tmp/same1"
check "the other way round it is a tenth less" awk '$1 == "*" && $2 == "p50" { good = $5 < 0.95 } END { exit !good }' "$tmp/out"
run 0 diff "$tmp/same1" "$tmp/slow"
cp "$tmp/out" "$tmp/once"
run 0 diff "$tmp/same1" "$tmp/slow"
check "twice the same is printed" cmp "$tmp/once" "$tmp/out"
run 0 diff --fail-on-difference --margin 20 "$tmp/same1" "$tmp/slow"
check "a difference within the margin does not count" has out '^0 of [0-9]* comparisons differ by more than 20 %'
run 4 diff --fail-on-difference "$tmp/same1" "$tmp/fewer"
check "events that are not there are found" has out '^\* count *5000 *4000 *0\.8 .*  type call2$'
check "nothing else" test "$(grep -c '^\* ' "$tmp/out")" -eq 1
check "rates have an interval" has out '^  rate .*/s .*/s .* to .* -  type call2$'
run 0 diff --fail-on-difference -x call2 "$tmp/same1" "$tmp/fewer"
check "omitted types are not compared" lacks out call2

# A log with itself; a type that the other lacks; too few events.
run 0 diff --fail-on-difference --margin 0 "$tmp/same1" "$tmp/same1"
check "a log does not differ from itself" has out '^0 of [1-9][0-9]* '
awk 'BEGIN { print "type a ns time"; print "type b ns time"; print "type c ns time"
	for (i = 0; i < 1000; i++) { print "a 1 1", 2 * i, 1000; if (i < 20) print "c 1 1", 2 * i + 1, 5 } }' |
	"$compose" "$tmp/one"
awk 'BEGIN { print "type a ns time"; print "type b ns time"; print "type c ns time"
	for (i = 0; i < 1000; i++) { print "a 1 1", 2 * i, 1000; print "b 1 1", 2 * i + 1, 5 } }' |
	"$compose" "$tmp/two"
run 4 diff --fail-on-difference "$tmp/one" "$tmp/two"
check "a type that the other lacks is found" has out '^\* count *0 *1000 .*  type b$'
check "twenty events are too few for a comparison" lacks out ' c$'
run 0 diff --all "$tmp/one" "$tmp/two"
check "figures without a comparison are shown on demand" has out '^  count *20 *0 .* -  type c$'

# Everything slower, and the common factor removed.
for factor in 1 2; do
	awk -v f=$factor 'BEGIN { for (k = 0; k < 4; k++) print "type c" k " ns time"
		for (i = 0; i < 4000; i++) print "c" i % 4 " 1 1", i * 1000, (100 + i % 7) * f * (i % 4 == 3 && f == 2 ? 1.5 : 1) }' |
		"$compose" "$tmp/all$factor"
done
run 0 diff "$tmp/all1" "$tmp/all2"
check "twice as slow is found in all" test "$(grep -c '^\* p50' "$tmp/out")" -eq 4
run 0 diff --relative "$tmp/all1" "$tmp/all2"
check "--relative says what is common" has out '^4 spans together took [12]\.[0-9]* times as long in B'
check "--relative finds the type that differs" test "$(grep '^\* p50' "$tmp/out" | sed 's/.* //')" = c3

# Losses of a log are reported, and mark the affected figures.
for lost in 7 0; do
	awk -v lost=$lost 'BEGIN { print "type a ns time"; print "type b ns time"; print "type s.x @begin s"; print "type s.y @end s"
		for (i = 0; i < 1000; i++) { print "a 1 1", 2 * i, 1000; print "b 1 1", 2 * i + 1, 5 }
		print "s.x 1 1 3000"; print "s.y 1 1 3001"
		if (lost) { print "lost a", lost; print "lost s.y 2" } }' | "$compose" "$tmp/lost$lost"
done
run 0 diff "$tmp/lost0" "$tmp/lost7"
check "a log that has lost nothing says nothing" lacks out '^A: .* lost$'
check "one that has says how much" has out '^B: .*, 9 events of the compared types lost$'
check "the rate of its type is marked" has out '^  rate .* type a (lost: 0 in A, 7 in B)$'
check "the durations of its events are marked" has out '^  p50 .* event a (lost: 0 in A, 7 in B)$'
check "others are not" lacks out ' b (lost'
run 0 diff -x 's.*' "$tmp/lost0" "$tmp/lost7"
check "losses of types that are not compared do not count" has out '^B: .*, 7 events of the compared types lost$'
run 0 diff --json "$tmp/lost0" "$tmp/lost7"
check "JSON has it of each log" has out '"lost":9,"not_traced":0},"level"'
check "the losses of each figure are counted" has out '"lost_a":0,"lost_b":7'
run 0 latency "$tmp/lost7"
check "latency says it" has out ': 2002 events, .*, 9 events of these types lost$'
check "latency marks an event with losses" has out '  a (7 events lost)$'
check "latency marks a span if one of its ends was lost" has out '  s (2 events lost)$'
check "latency marks no other event" lacks out '  b ('
run 0 latency --json "$tmp/lost7"
check "in JSON, too" has out '"backwards":0,"lost":7}'
run 0 latency "$tmp/lost0"
check "without losses no mark is printed" lacks out lost$

if command -v python3 >/dev/null; then
	run 0 diff --json "$tmp/same1" "$tmp/slow"
	check "JSON is JSON, and has what was found" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
found = {c["name"] for c in d["comparisons"] if c.get("differs")}
sys.exit(0 if found == {"call5"} and d["differ"] >= 1 and d["tested"] == 18 else 1)' "$tmp/out"
fi

head -c $(($(wc -c <"$tmp/same2") / 2)) "$tmp/same2" >"$tmp/cut"
run 3 diff "$tmp/same1" "$tmp/cut"
for wrong in "" "$tmp/one" "$tmp/one $tmp/two $tmp/one" "--level 2 $tmp/one $tmp/two" \
	"--level x $tmp/one $tmp/two" "--margin -1 $tmp/one $tmp/two" "--pair a $tmp/one $tmp/two" \
	"--pair a,nothing $tmp/one $tmp/two"; do
	run 2 diff $wrong
	check "diff $wrong: nothing is on standard output" is_empty out
done
# The percentiles of diff are those of latency, for many durations and for two.
printf '%s\n' 'type p ns time' 'p 1 1 1 100' 'p 1 1 2 300' | "$compose" "$tmp/pair"
for log in same1 slow pair; do
	"$posixtrace" latency --json "$tmp/$log" | tr '{' '\n' |
		sed -n 's/.*"name":"\([^"]*\)".*"p50_ns":\([0-9]*\),"p90_ns":\([0-9]*\),"p99_ns":\([0-9]*\).*/\1 p50 \2\n\1 p90 \3\n\1 p99 \4/p' |
		sort >"$tmp/wanted"
	"$posixtrace" diff --all --json "$tmp/$log" "$tmp/$log" | tr '{' '\n' |
		sed -n 's/.*"name":"\([^"]*\)".*"quantity":"\(p[0-9]*\)","a":\([0-9]*\),.*/\1 \2 \3/p' | sort >"$tmp/out"
	check "$log: latency has percentiles" test -s "$tmp/wanted"
	check "$log: diff has the same" cmp "$tmp/wanted" "$tmp/out"
done
check "the median of two durations is the shorter one" has out '^p p50 100$'

run 1 diff "$tmp/one" "$tmp/missing"
cat "$tmp/one" | "$posixtrace" diff - - >"$tmp/out" 2>"$tmp/err"
check "a pipe is no two logs, and that is said" has err 'standard input: can only be read once$'
finish
