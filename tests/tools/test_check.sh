#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace check: rules that hold and rules that do not, invalid rules, its three output forms.
. "${0%/*}/lib.sh"

compose=${top_builddir:-..}/tests/tools/compose
awk 'BEGIN {
	print "type req_begin u32 id"; print "type req_end u32 id; s32 result"
	print "type worker_start"; print "type log.line u32 n"
	print "type lock.mutex_held ns time; ptr lock"
	print "object 7 0xa0 A"; print "object 7 0xb0 B"
	# 100 requests of 1 ms; number 40 takes 6 ms, number 41 never ends.
	for (i = 0; i < 100; i++) {
		t = i * 10000000
		print "req_begin 7 8", t, i
		if (i != 41) print "req_end 7 9", t + (i == 40 ? 6000000 : 1000000), i, i == 50 ? -1 : 0
	}
	for (i = 0; i < 4; i++) print "worker_start 7 8", 1000000000 + i
	# 20 lines in 20 ms, then one each 100 ms.
	for (i = 0; i < 20; i++) print "log.line 7 8", 1100000000 + i * 1000000, i
	for (i = 0; i < 9; i++) print "log.line 7 8", 1200000000 + i * 100000000, i
	# Thread 8 takes A, B in A; thread 9 takes B, A in B; thread 10 takes A, then B over its end.
	t = 3000000000
	print "lock.mutex_held 7 8", t + 500, 200, "0xb0"; print "lock.mutex_held 7 8", t + 1000, 900, "0xa0"
	print "lock.mutex_held 7 9", t + 2500, 200, "0xa0"; print "lock.mutex_held 7 9", t + 3000, 900, "0xb0"
	print "lock.mutex_held 7 10", t + 5000, 1000, "0xa0"; print "lock.mutex_held 7 10", t + 6000, 1500, "0xb0"
	print "lock.mutex_held 7 11", t + 7000, 100, "0xa0"; print "lock.mutex_held 7 11", t + 8000, 100, "0xb0"
}' | "$compose" "$tmp/log" || exit 99

# one RULE STATUS: that rule alone
one() {
	echo "$1" >"$tmp/rule"
	run "$2" check "$tmp/rule" "$tmp/log"
}

one 'every req_begin is followed by req_end of the same id within 5ms' 1
check "both are reported" has out '^.*/rule:1: violated: every .* (100 events, 2 violations)$'
check "the late one" has out '^    1970-01-01T00:00:00.400000000Z pid 7 tid 8: req_begin id=40: no req_end within 5.000ms$'
check "the one without an end" has out '00:00:00.410000000Z .* req_begin id=41: no req_end within'
one 'every req_begin is followed by req_end of the same id within 6 ms' 1
check "an event exactly at the limit is in time" has out '1 violation)$'
one 'every req_begin is followed by req_end of the same id' 1
check "without a time the log's end is the end" has out 'id=41: no req_end up to the end of the log$'
one 'every req_begin where "id != 41" is followed by req_end of the same id' 0
check "where leaves events out" has out ': ok: .* (99 events, 0 violations)$'
one 'every req_begin where "id < 40" is followed by req_end where "result == 0" of the same id within 1ms' 0
one 'every req_begin where "id == 50" is followed by req_end where "result == 0" of the same id within 1ms' 1
one 'every req_begin is followed by req_end' 1
check "without a field the thread must be the same" has out '(100 events, 100 violations)$'
check "ten are printed, the others are counted" has out '^    and 90 more$'

one 'never req_end where "result != 0"' 1
check "a forbidden event is reported" has out '^    1970-01-01T00:00:00.501000000Z pid 7 tid 9: req_end$'
one 'never req_end where "result > 0"' 0
one 'never gone' 0
check "a rule about nothing is skipped" has out ': skipped: never gone (.*the log has no such event type)$'
check "a skipped rule is reported" has err 'WARNING: .*/rule:1: gone: the log has no such event type$'
run 0 check --tap "$tmp/rule" "$tmp/log"
check "in TAP, too" has out '^ok 1 - never gone # SKIP the log has no such event type$'
run 0 check --junit "$tmp/rule" "$tmp/log"
check "JUnit reports the skipped rule" has out '<skipped message="the log has no such event type"/></testcase>$'
check "where it is counted" has out 'failures="0" errors="0" skipped="1">$'
one 'never req_edn' 0
check "the nearest name is reported" has err 'WARNING: .*/rule:1: req_edn: the log has no such event type; did you mean req_end?$'
one 'every req_begin is followed by req_edn' 1
check "also of the event that is to follow" has err ': req_edn: .*; did you mean req_end?$'
one 'every req_begin is followed by req_end of the same idd' 2
check "the nearest field is named" has err 'rule:1: no event type of .* has a field idd; did you mean id?$'
one 'never req_end where "resutl > 0"' 2
check "also in expressions" has err 'no event type has a field or a value of this name; did you mean result?$'
one 'every log.line is followed by req_end of the same id' 0
check "a type without the fields of a rule is reported" has err \
	'WARNING: .*: log.line: no event type of this name has the fields of the rule$'
one 'never lock AB then B' 0
check "the nearest lock is named" has err 'WARNING: .*: AB: the log has no such lock; did you mean A?$'
run 2 dump --fields idd "$tmp/log"
check "--fields names the nearest field" has err 'no event type of the log has this field; did you mean id?$'
run 2 latency --pair req_begn,req_end "$tmp/log"
check "--pair names the nearest type" has err 'has no such event type; did you mean req_begin?$'
one 'count gone == 0' 0
check "to count what is not there is a check" has out ': ok: count gone == 0 (.*the log has no such event type)$'

one 'never lock A then B' 1
check "A then B is found in two threads" has out '(8 events, 2 violations)$'
check "inside, and over the end" test "$(grep -c 'tid \(8\|10\): B was acquired while A was held$' "$tmp/out")" -eq 2
one 'never lock B then A' 1
check "B then A in one" has out '00:00:03.000002300Z pid 7 tid 9: A was acquired while B was held$'
one 'never lock "0xa0" then 0xb0' 1
one 'never lock A then C' 0

for rule in 'worker_start <= 4' 'worker_start == 4' 'worker_start >= 4' 'worker_start < 5' 'worker_start > 3' \
	'gone == 0' 'req_begin where "id < 10" == 10'; do
	one "count $rule" 0
done
for rule in 'worker_start <= 3' 'worker_start == 5' 'worker_start >= 5' 'worker_start < 4' 'worker_start > 4'; do
	one "count $rule" 1
	check "the number of events is printed" has out '4 events worker_start$'
done
one 'rate log.line <= 29 per 1s' 0
one 'rate log.line <= 28 per 1s' 1
check "each event too many is reported" has out '00:00:02.000000000Z .*: log\.line: more than 28 in 1\.000s$'
one 'rate log.line <= 10 per 10 ms' 0
one 'rate log.line < 10 per 10ms' 1
one 'rate log.line <= 0 per 1s' 1

# Many rules, names, comments; the three forms.
cat >"$tmp/rules" <<'END'
# requests
answers: every req_begin is followed by req_end of the same id within 5ms

	never "gone"	# nothing of it
lock order: never lock A then B
END
run 2 check "$tmp/rules" "$tmp/log"
check "a name is one word" has err '^.*/rules:5:1: error: expected every, never, count or rate, found "lock"$'
check "the line is shown" has err '^    lock order: never lock A then B$'
check "with a caret" has err '^    ^$'
sed -i.bak 's/^lock order:/"lock <order>":/' "$tmp/rules"
run 1 check "$tmp/rules" "$tmp/log"
check "rules have lines and names" has out '/rules:2: violated: answers (100 events, 2 violations)$'
check "a rule without a name has its text" has out '/rules:4: skipped: never "gone"'
run 1 check --tap "$tmp/rules" "$tmp/log"
check "TAP has a plan" test "$(sed -n 2p "$tmp/out")" = 1..3
check "TAP reports the rules that are not ok" has out '^not ok 1 - answers$'
check "TAP reports the rules that are ok" has out '^ok 2 - never'
run 1 check --junit "$tmp/rules" "$tmp/log"
check "JUnit counts" has out ' tests="3" failures="2" errors="0" skipped="1">$'
check "JUnit is XML" has out 'name="lock &lt;order&gt;"><failure message="8 events, 2 violations">'
if command -v python3 >/dev/null; then
	check "that can be read" python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$tmp/out"
fi
run 0 check --syntax "$tmp/rules"
check "--syntax prints nothing" is_empty out
run 1 check - "$tmp/log" <"$tmp/rules"

# Rules that cannot be decided.
awk 'BEGIN { print "type a u32 id"; print "type b u32 id"
	print "a 1 1 1000 1"; print "posix_trace_overflow 1 1 2000"; print "posix_trace_resume 1 1 3000"; print "a 1 1 4000 2"; print "b 1 1 5000 2" }' |
	"$compose" "$tmp/lost"
echo 'every a is followed by b of the same id' >"$tmp/rule"
run 2 check "$tmp/rule" "$tmp/lost"
check "a loss leaves a rule undecided" has out ': undecided: .* (2 events, 0 violations, 1 undecided)$'
run 2 check --tap "$tmp/rule" "$tmp/lost"
check "an undecided rule is not ok" has out '^not ok 1 - every a'

# verdict STATUS WORD RULE LINE...: the verdict of check on a rule and a log of these lines.
verdict() {
	wanted_word=$2
	echo "$3" >"$tmp/rule"
	exits=$1
	shift 3
	printf '%s\n' 'type a u32 id' 'type b u32 id' "$@" | "$compose" "$tmp/gaps" || exit 99
	run "$exits" check "$tmp/rule" "$tmp/gaps"
	check "$wanted_word: $(cat "$tmp/rule"): $(printf '%s; ' "$@")" has out ":1: $wanted_word: "
}
s=000000000
within='every a is followed by b of the same id within 2s'
ever='every a is followed by b of the same id'
# An obligation that was open when the stream stopped, or when events were lost, is undecided,
# whatever follows.
verdict 2 undecided "$within" 'a 1 1 0 1' "posix_trace_stop 0 0 1$s" "posix_trace_start 0 0 9$s"
verdict 2 undecided "$within" 'a 1 1 0 1' "posix_trace_stop 0 0 1$s" "a 1 1 9$s 2" "b 1 1 9$s 2"
verdict 2 undecided "$within" 'a 1 1 0 1' "posix_trace_start 0 0 9$s"
verdict 2 undecided "$within" 'a 1 1 0 1' "posix_trace_resume 0 0 9$s"
verdict 2 undecided "$within" 'a 1 1 0 1' "posix_trace_overflow 0 0 1$s" "b 1 1 9$s 9"
verdict 2 undecided "$within" "posix_trace_overflow 0 0 1$s" "a 1 1 1$s 1" "b 1 1 7$s 9" "posix_trace_resume 0 0 9$s"
verdict 2 undecided "$within" "b 1 1 1$s 9" "posix_trace_overflow 0 0 500000000" 'a 1 1 0 1' "b 1 1 9$s 9"
verdict 2 undecided "$within" 'a 1 1 0 1' "posix_trace_stop 0 0 1$s"
verdict 2 undecided "$ever" 'a 1 1 0 1' "posix_trace_stop 0 0 1$s"
verdict 2 undecided "$ever" 'a 1 1 0 1' "posix_trace_stop 0 0 1$s" "posix_trace_start 0 0 9$s"
verdict 2 undecided "$ever" 'a 1 1 0 1' "posix_trace_overflow 0 0 1$s"
verdict 2 undecided "$ever" 'a 1 1 0 1' "posix_trace_error 0 0 1$s"
# One that had been open for too long by then is violated.
verdict 1 violated "$within" 'a 1 1 0 1' "posix_trace_stop 0 0 3$s" "posix_trace_start 0 0 9$s"
verdict 1 violated "$within" 'a 1 1 0 1' "posix_trace_overflow 0 0 3$s" "posix_trace_resume 0 0 9$s"
verdict 1 violated "$within" 'a 1 1 0 1' "b 1 1 3$s 9" "posix_trace_resume 0 0 9$s"
verdict 1 violated "$within" 'a 1 1 0 1' "b 1 1 3$s 9"
verdict 0 ok "$within" 'a 1 1 0 1' "posix_trace_stop 0 0 3$s" "late b 1 1 2$s 1" "posix_trace_start 0 0 9$s"
# A late event counts with its own time.
verdict 0 ok "$within" 'a 1 1 0 1' "b 1 1 2500000000 9" "late b 1 1 2$s 1" "b 1 1 9$s 9"
verdict 1 violated "$within" 'a 1 1 0 1' "b 1 1 2500000000 9" "late b 1 1 2000000001 1" "b 1 1 9$s 9"
verdict 0 ok 'rate b <= 1 per 1s' 'b 1 1 0 1' "b 1 1 5$s 1" "late b 1 1 2500000000 1"
verdict 1 violated 'rate b <= 1 per 1s' 'b 1 1 0 1' "b 1 1 5$s 1" "late b 1 1 4500000000 1"
verdict 1 violated 'rate b <= 1 per 1s' 'b 1 1 0 1' "b 1 1 5$s 1" "late b 1 1 500000000 1"
verdict 2 undecided 'rate b <= 1 per 1s' 'b 1 1 4000000000 1' "b 1 1 6$s 1" "late b 1 1 2500000000 1"
# A filter hides the event that must follow.
verdict 2 undecided "$within" 'start 0' 'a 1 1 0 1' "filter 1$s b" "a 1 1 8$s 2"
verdict 2 undecided "$within" 'start 0 b' 'a 1 1 0 1' "filter 1$s" "a 1 1 8$s 2" "b 1 1 8$s 2"
verdict 2 undecided "$within" 'start 0 b' 'a 1 1 0 1' "a 1 1 8$s 2"
verdict 2 undecided "$ever" 'start 0 b' 'a 1 1 0 1'
verdict 1 violated "$within" 'start 0 a' 'a 1 1 0 1' "b 1 1 8$s 2"
verdict 1 violated "$within" 'start 0' 'a 1 1 0 1' "filter 3$s b" "a 1 1 8$s 2"
# Lost events may be those that a rule requires, or forbids.
verdict 2 undecided 'never b' 'a 1 1 0 1' 'lost b 5'
check "the number of lost events is printed" has out '5 events of its types were lost)$'
verdict 0 ok 'never b' 'a 1 1 0 1' 'lost a 5'
verdict 1 violated 'never b' 'b 1 1 0 1' 'lost b 5'
verdict 2 undecided 'count b == 1' 'b 1 1 0 1' 'lost b 5'
verdict 2 undecided 'count b >= 3' 'b 1 1 0 1' 'lost b 5'
verdict 1 violated 'count b < 1' 'b 1 1 0 1' 'lost b 5'
verdict 1 violated 'count b == 0' 'b 1 1 0 1' 'lost b 5'
check "a certain count leaves nothing undecided" has out '(1 event, 1 violation; 5 events of its types were lost)$'
check "the number is a lower limit" has out ': at least 1 event b$'
verdict 0 ok 'count b == 1' 'b 1 1 0 1' 'lost a 5'
verdict 2 undecided 'rate b <= 3 per 1s' 'b 1 1 0 1' 'lost b 5'
verdict 1 violated 'rate b <= 1 per 1s' 'b 1 1 0 1' 'b 1 1 1 1' 'lost b 5'
verdict 2 undecided "$ever" 'a 1 1 0 1' 'lost b 5'
verdict 2 undecided "$ever" 'a 1 1 0 1' 'b 1 1 1 1' 'lost a 5'
verdict 0 ok "$ever" 'a 1 1 0 1' 'b 1 1 1 1' 'lost b 5'
verdict 1 violated "$within" 'a 1 1 0 1' "posix_trace_overflow 0 0 3$s" "posix_trace_resume 0 0 9$s" 'lost b 5'
for cause in 4 5 6 7 9; do # at no place that the log marks
	verdict 2 undecided "$within" 'a 1 1 0 1' "posix_trace_overflow 0 0 3$s" "posix_trace_resume 0 0 9$s" "lost b 5 $cause"
done
verdict 2 undecided "$ever" 'a 1 1 0 1' 'lost b 5 2' # the log was full
verdict 1 violated "$ever" 'a 1 1 0 1' 'lost b 5 3'  # its beginning was overwritten
# A process that ended before the stop cannot meet its obligation any more, another process still can.
ended='type posixtrace_ended s32 pid; str status; s32 code; s32 signal; bool core'
over='type process.end s32 pid'
of_1='posixtrace_ended 9 9 1000 1 "exited with 0" 0 0 0'
of_2='posixtrace_ended 9 9 1000 2 "exited with 0" 0 0 0'
stop="posix_trace_stop 0 0 1$s"
verdict 1 violated "$ever" "$ended" 'a 1 1 0 1' "$of_1" "$stop"
check "the reason is the end of the process" has out ' a id=1: no b before the process ended$'
verdict 1 violated "$within" "$ended" 'a 1 1 0 1' "$of_1" "$stop"
check "also if the time had not passed" has out ' a id=1: no b before the process ended$'
verdict 1 violated "$within" "$ended" 'a 1 1 0 1' "$of_1"
verdict 1 violated "$within" "$ended" 'a 1 1 0 1' "$of_1" "posix_trace_stop 0 0 3$s"
check "a time that passed first is the reason" has out ' a id=1: no b within 2.000s$'
verdict 1 violated "$ever" "$over" 'a 1 1 0 1' 'process.end 1 1 1000 1' "$stop"
verdict 1 violated "$ever" "$ended" 'a 1 1 0 1' "$of_1" "posix_trace_overflow 0 0 1$s"
verdict 0 ok "$ever" "$over" 'a 1 1 0 1' 'process.end 1 1 1000 1' 'b 1 2 1001 1' "$stop"
verdict 0 ok "$ever" "$ended" 'a 1 1 0 1' "$of_1" 'late b 1 1 999 1' "$stop"
verdict 0 ok "$ever" "$ended" 'a 1 1 0 1' "$of_1" "$stop" 'late b 1 1 999 1'
verdict 1 violated "$ever" "$ended" 'a 1 1 0 1' "$of_1" 'b 1 1 1001 1' "$stop"
verdict 2 undecided "$ever" "$ended" 'a 1 1 0 1' "$of_2" "$stop"
verdict 2 undecided "$ever" "$ended" 'a 1 1 0 1' "$stop" "$of_1"
verdict 2 undecided "$ever" "$ended" "$of_1" 'a 1 1 1001 1' "$stop"
verdict 2 undecided "$ever" "$over" "$ended" 'a 1 1 0 1' 'process.end 2 2 1000 2' "$of_2" "$stop"
verdict 2 undecided "$ever" 'type process.exit s32 pid' 'a 1 1 0 1' 'process.exit 1 1 1000 1' "$stop"
verdict 2 undecided "$ever" "$ended" 'a 1 1 0 1' "posix_trace_overflow 0 0 500" "$of_1" "$stop"
verdict 2 undecided "$ever" "$ended" 'start 0 b' 'a 1 1 0 1' "$of_1" "$stop"
verdict 2 undecided "$ever" "$ended" 'a 1 1 0 1' "$of_1" "$stop" 'lost b 5'
verdict 2 undecided "$ever" "$ended" 'a 1 1 0 1' "$of_1" "$stop" 'lost b 5 2'
verdict 1 violated "$ever" "$ended" 'a 1 1 0 1' 'a 2 2 0 1' "$of_1" "$stop"
check "each process has its own end" has out '(2 events, 1 violation, 1 undecided)$'
# Two processes in PID namespaces of their own may have one number: the end of one proves nothing.
child='type process.child s32 pid; s32 parent'
verdict 2 undecided "$ever" "$ended" "$child" 'process.child 1 1 0 1 9' 'a 1 1 5 1' 'process.child 1 1 10 1 8' "$of_1" "$stop"
verdict 0 ok "$ever" "$ended" "$child" 'process.child 1 1 0 1 9' 'process.child 1 1 5 1 8' 'a 1 1 10 1' "$of_1" 'b 1 1 2000 1' "$stop"
verdict 2 undecided "$ever" "$ended" "$child" 'a 1 1 5 1' 'process.child 1 1 10 1 8' "$of_1" "$stop"
verdict 2 undecided "$ever" "$over" "$child" 'a 1 1 5 1' 'process.child 1 1 10 1 8' 'process.end 1 1 1000 1' "$stop"
verdict 1 violated "$ever" "$ended" "$child" 'process.child 1 1 0 1 9' 'a 1 1 5 1' "$of_1" 'process.child 1 1 1010 1 8' "$of_1" "$stop"
verdict 1 violated "$ever" "$ended" "$child" 'process.child 1 1 0 1 9' 'process.child 2 2 5 2 9' 'a 1 1 5 1' "$of_1" "$stop"
# Only the shim's own event is the end of a process.
verdict 2 undecided "$ever" 'type process.end str pid' 'a 1 1 0 1' 'process.end 1 1 1000 "\x01\x00"' "$stop"
verdict 2 undecided "$ever" 'type process.end f64 pid' 'a 1 1 0 1' 'process.end 1 1 1000 1' "$stop"
verdict 2 undecided "$ever" 'type process.end u64 pid' 'a 1 1 0 1' 'process.end 1 1 1000 1' "$stop"
verdict 2 undecided "$ever" "$over" 'a 1 1 0 1' 'process.end 5 5 1000 1' "$stop"
# If the log was full, an end in it proves nothing, also before the end of the log.
verdict 2 undecided "$within" "$ended" 'a 1 1 0 1' "$of_1" "$stop" "posix_trace_start 0 0 3$s" "a 2 2 9$s 2" 'lost b 5 2'
# After --end no event is known; before --begin only the filter is known.
printf '%s\n' 'type a u32 id' 'type b u32 id' 'start 0 b' "a 1 1 1$s 1" "a 1 1 8$s 2" | "$compose" "$tmp/gaps"
echo "$within" >"$tmp/rule"
run 2 check --begin +500ms "$tmp/rule" "$tmp/gaps"
printf '%s\n' 'type a u32 id' 'type b u32 id' 'start 0' "a 1 1 1$s 1" "b 1 1 8$s 2" | "$compose" "$tmp/gaps"
run 1 check "$tmp/rule" "$tmp/gaps"
run 2 check --end +2s "$tmp/rule" "$tmp/gaps"
run 1 check --end +4s "$tmp/rule" "$tmp/gaps"
echo "$ever" >"$tmp/rule"
run 2 check --end +4s "$tmp/rule" "$tmp/gaps"

awk 'BEGIN { print "type a u32 id"; print "type b u32 id"; for (i = 0; i < 65537; i++) print "a 1 1", i, i }' |
	"$compose" "$tmp/many"
echo 'every a is followed by b of the same id within 1h' >"$tmp/rule"
run 2 check "$tmp/rule" "$tmp/many"
check "a lack of room leaves a rule undecided" has out '(65537 events, 0 violations, 65537 undecided)$'
# Many open checks; some keys have two of them. One of the two checks with the key 7 gets no event.
awk 'BEGIN { print "type a u32 id"; print "type b u32 id"
	for (i = 0; i < 60000; i++) print "a 1 1", i, i % 50000
	for (i = 0; i < 60000; i++) if (i % 50000 != 7 || i > 50000) print "b 1 1", 100000 + i, i % 50000 }' |
	"$compose" "$tmp/queue"
echo 'every a is followed by b of the same id' >"$tmp/rule"
run 1 check "$tmp/rule" "$tmp/queue"
check "each event meets the youngest check of its key" sh -c \
	"grep -q '(60000 events, 1 violation)$' '$tmp/out' && grep -q '000000007Z pid 1 tid 1: a id=7: no b up to' '$tmp/out'"
head -c $(($(wc -c <"$tmp/many") / 2)) "$tmp/many" >"$tmp/cut"
echo 'never b' >"$tmp/rule"
run 2 check "$tmp/rule" "$tmp/cut"
check "a log that was cut does not prove a rule" has err 'damaged or not complete'
check "the rule does not count as kept" has out ':1: undecided: '
echo 'every a is followed by b of the same id' >"$tmp/rule"
run 2 check "$tmp/rule" "$tmp/cut"
check "a check that is open at the cut is undecided" has out ' 0 violations, '

# Faults of rules: the place, and the expected text.
while IFS='|' read -r column text; do
	printf '# x\n%s\n' "$text" >"$tmp/rule"
	run 2 check --syntax "$tmp/rule"
	check "'$text' is wrong at $column" has err "^\(posixtrace: \)\{0,1\}$tmp/rule:2:$column: error"
done <<'END'
1|foo
6|every
8|every a
9|every a was followed by b
26|every a is followed by b on c
33|every a is followed by b of the other id
37|every a is followed by b of the same
50|every a is followed by b of the same a, b, c, d, e
33|every a is followed by b within soon
34|every a is followed by b within 5
35|every a is followed by b within 5 weeks
33|every a is followed by b within 0s
6|never
9|never a b
15|never a where b
20|never a where "b =="
27|never a where "b == \"x\" )"
15|never a where "b
14|never lock A than B
18|never lock A then
8|count a
9|count a => 5
12|count a <= x
14|rate a <= 100
8|rate a == 5 per 1s
8|rate a <= 99999999 per 1s
END
printf 'every req_begin is followed by req_end of the same id within 5ms\r\nnever gone\r\n' >"$tmp/rule"
run 1 check "$tmp/rule" "$tmp/log"
check "lines may end as those of other systems do" has out 'rule:2: skipped: never gone ('
printf 'foo\nnever a\nbar\n' >"$tmp/rule"
run 2 check --syntax "$tmp/rule"
check "every wrong line is reported" test "$(grep -c ': error: ' "$tmp/err")" -eq 2
printf 'never\t"\033[2J" x\n' >"$tmp/rule"
run 2 check --syntax "$tmp/rule"
check "no rule harms a terminal" test "$(grep -c "$(printf '\033')" "$tmp/err")" -eq 0
awk 'BEGIN { for (i = 0; i < 1001; i++) print "never a" }' >"$tmp/rule"
run 2 check --syntax "$tmp/rule"
check "a thousand rules are the most" has err "^$tmp/rule:1001:1: error"
awk 'BEGIN { for (i = 0; i < 5000; i++) printf "a"; print "" }' >"$tmp/rule"
run 2 check --syntax "$tmp/rule"
echo 'never a where "nothing == 1"' >"$tmp/rule"
run 2 check "$tmp/rule" "$tmp/log"
check "a field that no event has is reported" has err '^posixtrace: .*/rule:1:16: error: no event type has a field or a value of this name$'
echo 'every req_begin is followed by req_end of the same nothing' >"$tmp/rule"
run 2 check "$tmp/rule" "$tmp/log"
run 2 check "$tmp/rules"
run 2 check "$tmp/missing" "$tmp/log"
run 2 check "$tmp/rules" "$tmp/missing"
run 2 check --no-such-option "$tmp/rules" "$tmp/log"
echo 'never "*" where "nothing == 1"' >"$tmp/rule"
run 2 check "$tmp/rule" "$tmp/log"
check "the field is quoted" has err "nothing"
run 2 check --tap "$tmp/rules" "$tmp/missing"
check "TAP reports that nothing was checked" has out '^Bail out! '
run 2 check --junit "$tmp/rule" "$tmp/log"
check "JUnit reports that nothing was checked" has out 'errors="1"'
run 2 check - - <"$tmp/rules"
check "rules and log are not both standard input" has err 'cannot both be standard input$'
echo 'never none' >"$tmp/order"
run 2 check "$tmp/log" "$tmp/order"
check "a log in the place of the rules is recognised" has err \
	"^posixtrace: check: $tmp/log: this is a log; the rules come first: posixtrace check RULES LOG$"
run 2 check --syntax "$tmp/log"
check "also with --syntax" has err 'this is a log'
run 2 check --tap "$tmp/log" "$tmp/order"
check "TAP says that the rules were not checked" has out '^Bail out!'

# The rules of the manual page, on a log that obeys all but the one that names EIO.
page=${top_srcdir:-${0%/*}/../..}/tools/posixtrace/man/posixtrace-check.1
sed -n '/^\.\\" rules/,/^\.Ed/{/^\./!p}' "$page" >"$tmp/page.rules"
check "the page has rules" test "$(lines page.rules)" -ge 6
for error in 0 5; do
	printf '%s\n' 'type req_begin u32 id' 'type req_end u32 id' 'type worker_start' 'type log.line' \
		'type io.open s32 fd; errno error' 'type io.close s32 fd; errno error' \
		'type lock.mutex_held ns time; ptr lock' 'object 7 0xa0 cache' 'object 7 0xb0 index' \
		'req_begin 7 8 1000 1' 'req_end 7 8 2000 1' 'worker_start 7 8 3000' 'log.line 7 8 4000' \
		'io.open 7 8 5000 3 0' "io.close 7 8 6000 3 $error" \
		'lock.mutex_held 7 8 7000 10 0xa0' 'lock.mutex_held 7 8 8000 10 0xb0' |
		"$compose" "$tmp/kept" || exit 99
	run $((error / 5)) check "$tmp/page.rules" "$tmp/kept"
done
check "the error is found by its name" has out 'page.rules:3: violated: '
finish
