#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# --budget: expensive types are recorded for a part of the time, marked, and counted exactly. The cost
# of a call is given, so that the decisions do not depend on the machine.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

needs_shim

for wrong in 0 0% 101% -1% x 1%% '' nan; do
	run 2 record --budget "$wrong" -- true
	check "--budget $wrong is refused" has err '--budget .*: not a share of the processor time'
done

POSIXTRACE_GUARDIAN=${POSIXTRACE_GUARDIAN-$(cd "${top_builddir:-..}/lib" && pwd)/posixtrace-guardian}
export POSIXTRACE_GUARDIAN
log=$tmp/log
even() { is_sound "$log" && is_even "$log"; }

# An event that costs a millisecond: nothing is affordable after the first looks.
POSIXTRACE_BUDGET_COST='1000000 1000000 0'
export POSIXTRACE_BUDGET_COST
run 0 record --budget 1% -o "$log" -- dd if=/dev/zero of=/dev/null bs=1 count=2000000
check "the cost is said" has err '^posixtrace: budget 1%: events cost an estimate of [0-9.]*% of [0-9.]* s of processor time'
check "the log is sound and even" even
run 0 stat "$log"
check "each read is counted" has out '^sample  *io.read: [0-9]* of 200000[0-9] calls are recorded (budget); rates, sizes and times are estimates$'
check "each write is counted" has out '^sample  *io.write: [0-9]* of 200000[0-9] calls'
check "the total says the cause" has out '^account .* lost [0-9]* (over budget [0-9]*)$'
check "the recorder's own types stay" lacks out '^sample  *posixtrace_'
check "rare types stay" lacks out '^sample  *process'
run 0 stat --json "$log"
check "also as JSON" has out '"sampled":true'
run 0 dump -e posixtrace_budget --where 'recorded == 0 && type == "io.read"' "$log"
check "the stream has a mark" has out 'recorded=0 rate=[1-9][0-9]* cost=1ms type="io.read"$'

# A log that lost its END has the same account.
run 0 stat "$log"
grep '^account .*(over budget [0-9]*)$' "$tmp/out" >"$tmp/account"
cp "$log" "$tmp/cut"
truncate -s -8 "$tmp/cut"
run 3 stat "$tmp/cut"
grep '^account ' "$tmp/out" >"$tmp/account.cut"
check "without its END the log has the same account" cmp "$tmp/account" "$tmp/account.cut"

# An event that costs nothing: all is recorded.
POSIXTRACE_BUDGET_COST='0.000001 0.000001 0'
run 0 record --force --budget 1% -o "$log" -- dd if=/dev/zero of=/dev/null bs=1 count=20000
run 0 stat "$log"
check "nothing is left out" lacks out '^sample'
check "the log has all reads" has out ' 2000[0-9]  .*  io.read$'

# Types that explain other events are never skipped.
POSIXTRACE_BUDGET_COST='1000000 1000000 0'
run 0 record --force --budget 1% -o "$log" -- sh -c 'i=0; while test $i -lt 1500; do (:); i=$((i + 1)); done'
run 0 stat "$log"
check "forks are all recorded" lacks out '^sample  *process'
check "the log has many forks" has out ' 1[5-9][0-9][0-9]  .*  process.fork$'

# Skipped calls that alone exceed the budget do not keep a type away for ever.
POSIXTRACE_BUDGET_COST='1000 1000 200'
rm -f "$log"
start "$posixtrace" record --budget 10% -o "$log" -- dd if=/dev/zero of=/dev/null bs=1 >"$tmp/out" 2>"$tmp/err"
recorder=$pid
mark() { "$posixtrace" dump -e posixtrace_budget --where "recorded == $1" "$log" 2>/dev/null | grep -q .; }
until_true mark 1
check "types return in spite of the cost of skipped calls" mark 1
kill -KILL $(cat "/proc/$recorder/task/$recorder/children")
wait "$recorder"

# Types return when there is room. The program has some time, so it is stopped when that is seen.
POSIXTRACE_BUDGET_COST='2000 2000 0'
rm -f "$log"
start "$posixtrace" record --budget 1% -o "$log" -- dd if=/dev/zero of=/dev/null bs=1 >"$tmp/out" 2>"$tmp/err"
recorder=$pid
until_true mark 0
check "types are turned off" mark 0
until_true mark 1
check "types are turned on again" mark 1
# The recorder is killed: the guardian has the counts.
child=$(cat "/proc/$recorder/task/$recorder/children")
kill -KILL "$recorder"
wait "$recorder"
kill -KILL $child
until_true is_sound "$log"
check "after kill -9 of the recorder the log is even" even
run 0 stat "$log"
check "the log of the killed recorder has the skipped calls" has out '^sample  *io.read: '

# The program is killed while it runs.
POSIXTRACE_BUDGET_COST='1000000 1000000 0'
rm -f "$log"
run 137 record --budget 1% -o "$log" -- sh -c 'dd if=/dev/zero of=/dev/null bs=1 count=300000; kill -9 $$'
check "after kill -9 of the program the log is even" even
run 0 stat "$log"
check "the log of the killed program has each call" has out '^sample  *io.read: [0-9]* of 30000[0-9] calls'

# Starts of programs cost, too: the library is loaded by each of them. The recorder looks at the
# stream several times meanwhile.
POSIXTRACE_BUDGET_COST='1 1 0 100000000'
run 0 record --force --budget 1% -o "$log" -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do env true; sleep 0.2; done'
check "the cost of starts is in the estimate" has err ' [1-9][0-9.]*% by starts of programs (.* a start 100000 us)$'
check "the way out is said" has err '^posixtrace: starts of programs alone cost more than the budget: --no-follow leaves out children$'
run 0 stat "$log"
check "starts are never skipped" lacks out '^sample  *process'
POSIXTRACE_BUDGET_COST='1000000 1000000 0'

# Patterns and the budget: the marks are recorded with --event, too.
run 0 record --force --budget 0.1% -e io.read -o "$log" -- dd if=/dev/zero of=/dev/null bs=1 count=1000000
run 0 stat "$log"
check "with --event, too" has out '^sample  *io.read: [0-9]* of 100000[0-9] calls'
check "other types are filtered" lacks out '  io.write$'
check "a mark is there" mark 0

# A running process, in a LOOP stream.
start dd if=/dev/zero of=/dev/null bs=1 2>"$tmp/dd"
target=$pid
# On a loaded machine the program may make few calls in two seconds.
for duration in 2 20 100; do
	run 0 attach -p "$target" --force --budget 1% --policy loop -d ${duration}s -o "$log"
	check "attach: the log is even" even
	run 0 stat "$log"
	! has out '^sample  *io.read: ' || break
done
check "attach skips, too" has out '^sample  *io.read: [0-9]* of [0-9]* calls'
kill -KILL "$target"

# The two types of a span are never skipped: pairs of events with other partners would be wrong.
run 0 record --force --trace none --budget 1% -o "$log" -- "$victim" spans 2
check "the log of spans is even" even
run 0 stat "$log"
check "other types are skipped" has out '^sample  *tick: [0-9]* of [0-9]* calls'
check "the types of spans are not" lacks out '^sample  *\(job\|step\)'

# The agent: the budget of [agent] is that of all sections.
cp "$(command -v dd)" "$tmp/copier"
printf '%s\n' '[agent]' "folder = $tmp/store" 'budget = 1%' '[record copier]' \
	"executable = $tmp/copier" 'inject = yes' >"$tmp/conf"
start "$tmp/copier" if=/dev/zero of=/dev/null bs=1 2>"$tmp/dd"
target=$pid
start "$posixtrace" agent -c "$tmp/conf" >"$tmp/out" 2>"$tmp/err"
agent=$pid
until_true grep -q 'is recorded$' "$tmp/err"
# A signal makes the agent write a log.
has_sample() {
	kill -USR1 "$agent"
	for written in "$tmp/store/logs"/*; do
		test -e "$written" && "$posixtrace" stat "$written" 2>/dev/null |
			grep '^sample  *io.read: [0-9]* of [0-9]* calls' && return 0
	done
	return 1
}
until_true has_sample
check "the agent skips what is too expensive" has_sample
kill -TERM "$agent"
wait "$agent"
kill -KILL "$target"
for log in "$tmp/store/logs"/*; do
	check "a log of the agent is even" even
done
finish
