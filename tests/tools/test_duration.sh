#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# --where with duration: of calls with a duration, of begins and ends, and of pairs.
. "${0%/*}/lib.sh"

compose=${top_builddir:-..}/tests/tools/compose
# 100 calls of 1 to 100 us; 4 spans "job" of 5 ms that overlap, one without an end, one without a begin.
log=$tmp/times.log
"${top_builddir:-..}/tests/tools/make_times" "$log" || exit 99

# shown COUNT EXPRESSION [OPTION]...: every command shows this number of events.
shown() {
	count=$1 expression=$2
	shift 2
	run 0 dump --where "$expression" "$@" "$log"
	check "$expression: dump shows $count, not $(lines out)" has_lines out "$count"
	cp "$tmp/out" "$tmp/shown"
	run 0 report -h --where "$expression" "$@" "$log"
	check "$expression: report shows $count, not $(lines out)" has_lines out "$count"
	run 0 dump --merge --where "$expression" "$@" "$log" "$log"
	check "$expression: two logs show $((2 * count))" has_lines out $((2 * count))
}

shown 50 'event.name == "call" && duration > 50us'
shown 50 'event.name == "call" && event.duration > 50us'
shown 1 'event.name == "call" && duration == 100us'
shown 4 'duration >= 5ms && event.name ~ "job.*"'
check "the end of a span is shown" test "$(grep -c ' job\.end ' "$tmp/shown")" -eq 4
shown 4 'duration >= 5ms' -e job.end
shown 0 'duration > 0s' -e job.begin
shown 0 'duration > 1000s'
run 0 dump -e job.end --where '!(duration > 0s)' "$log"
check "an end without a begin has none" is_empty out

log=$tmp/pairs.log
awk 'BEGIN {
	print "type open u32 fd"; print "type close u32 fd"; print "type own ns duration"
	print "type job.begin u32 n; @begin job; @key n"; print "type job.end u32 n; @end job; @key n"
	for (i = 0; i < 20; i++) print "open 7 8", i * 1000000, i
	for (i = 0; i < 20; i++) print "close 7 9", i * 1000000 + 100000 * i, i
	print "own 7 8", 50000000, 3000
	for (i = 0; i < 10; i++) { print "job.begin 7 8", 60000000 + i * 1000000, i
		print "job.end 7 8", 60000000 + i * 1000000 + 100000 * i, i }
}' | sort -s -n -k4 | awk '/^type/ { print; next } { rest[++n] = $0 } END { for (i = 1; i <= n; i++) print rest[i] }' |
	"$compose" "$log" || exit 99
shown 10 'duration >= 1ms && fd >= 0' --pair open,close,fd
check "the ends of pairs are shown" test "$(grep -c ' close fd=1[0-9]$' "$tmp/shown")" -eq 10
shown 5 'duration >= 500us && n >= 0'
shown 1 'duration == 3us'
check "a field of the name duration is one" test "$(grep -c ' own ' "$tmp/shown")" -eq 1
run 0 dump --where 'fd == 3 && duration > 200us' --pair open,close,fd "$log"
check "together with other fields" has_lines out 1
run 0 dump --where 'fd == 3 && duration > 300us' --pair open,close,fd "$log"
check "a duration that is not above is left out" is_empty out
run 0 latency --json --where 'n >= 0 && duration >= 500us' "$log"
check "latency measures the spans that are wanted" has out '"name":"job","kind":"span","count":5,'
check "latency counts no begin without an end" lacks out '"no_end":[1-9]'
run 0 latency --json --pair open,close,fd --where 'duration >= 1ms' "$log"
check "also of pairs" has out '"name":"open..close","kind":"pair","count":10,'

echo 'never job.end where "duration > 800us"' >"$tmp/rules"
run 1 check "$tmp/rules" "$log"
check "rules know durations" has out 'violated: .* (1 event, 1 violation)$'
sed 's/duration/duratoin/' "$tmp/rules" >"$tmp/wrong"
run 2 check "$tmp/wrong" "$log"

for command in dump report; do
	run 2 $command --pair open,close,fd "$log"
	check "$command: pairs that nothing asks for are no mistake that passes" has err 'has no effect without a duration'
	run 2 $command --where 'duration > 1s' --pair open "$log"
	run 2 $command --where 'duration > 1s' --pair open,closed "$log"
	run 2 $command --where 'duration > 1s' --pair open,close,path "$log"
	run 2 $command --where 'duration > 1s && durations' "$log"
done
echo 'type a u32 n' | "$compose" "$tmp/none.log"
run 2 dump --where 'duration > 1s' "$tmp/none.log"
check "where nothing has a duration, the word is wrong" has err 'no event type has a field or a value of this name'

# A recorded program: the calls of the C library have their durations.
if has_shim; then
	POSIXTRACE_PRELOAD=$shim "$posixtrace" record -q -o "$tmp/record.log" sh -c 'sleep 0.02; cat <&3' 3</dev/null \
		>/dev/null 2>"$tmp/err"
	if "$posixtrace" dump -e io.read "$tmp/record.log" 2>/dev/null | grep -q .; then
		run 0 dump --where 'duration >= 20ms' -e time.sleep "$tmp/record.log"
		check "record: the call that slept" has_lines out 1
		run 0 dump --where 'fd == 3 && duration > 1s' "$tmp/record.log"
		check "record: fields and duration together" is_empty out
		run 0 dump --where 'fd >= 0 && duration >= 0s' -e io.read "$tmp/record.log"
		check "record: every read has one" test "$(lines out)" -eq \
			"$("$posixtrace" dump -e io.read --where 'fd >= 0' "$tmp/record.log" | wc -l)"
	fi
fi
finish
