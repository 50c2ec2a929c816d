#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A program that traces is killed at any moment. Its log can be read up to the last complete block,
# every event in it is complete and at its place, and the only fault is the missing end. LOG-16,
# LOG-17, EXIT-01
#
# PTX_KILLS and PTX_SEED change how often, and when.
. "${0%/*}/lib.sh"

# No guardian completes the logs here.
POSIXTRACE_GUARDIAN=no
export POSIXTRACE_GUARDIAN

victim=${top_builddir:-..}/tests/tools/victim
test -x "${victim%/*}/.libs/victim" && victim=${victim%/*}/.libs/victim
kills=${PTX_KILLS-20}
seed=${PTX_SEED-4711}

# random_between LOW HIGH: in $random; the same numbers on every run.
random_between() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	random=$(($1 + seed / 65536 % ($2 - $1 + 1)))
}

bytes() { wc -c 2>/dev/null <"$1" || echo 0; }

# Waits until a part of the log is written, and a random time longer.
trace_and_kill() {
	"$victim" trace "$1" "$log" 2>"$tmp/said" &
	pid=$!
	random_between 4096 30000
	until test "$(bytes "$log")" -ge $random; do
		kill -0 $pid 2>/dev/null || break
		sleep 0.01
	done
	random_between 1000 1060
	sleep 0.0${random#10}
	kill -KILL $pid
	wait $pid
	died=$?
} 2>/dev/null

# The program prints nothing and does not end by itself.
was_killed() {
	cat "$tmp/said"
	test $died -eq 137
}

is_never_closed() {
	cat "$tmp/out" "$tmp/err"
	grep -q -x -F "$log: never closed: $blocks blocks, $events events, $(bytes "$log") bytes, 0 faults" "$tmp/out" &&
		has_lines out 1 && has_lines err 1 &&
		grep -q -x "posixtrace: $log: its writer has not closed it.*" "$tmp/err"
}

all=0
for policy in append until-full loop; do
	n=0
	while test $n -lt "$kills"; do
		n=$((n + 1))
		log=$tmp/$policy-$n.log
		trace_and_kill $policy
		check "$policy $n: the program traced until it was killed" was_killed
		"$victim" read $policy "$log" >"$tmp/events" 2>"$tmp/why"
		check "$policy $n: the events are whole and in order" is_empty why
		events=$(cat "$tmp/events")
		all=$((all + ${events:-0}))
		run 3 verify "$log"
		blocks=$(sed -n 's/.* \([0-9]*\) blocks, .*/\1/p' "$tmp/out")
		check "$policy $n: the only fault is that the log was not closed" is_never_closed
		run 3 dump --system "$log"
		check "$policy $n: the dump has every event" has_lines out "${events:-none}"
		check "$policy $n: the message has the reason" has err "its writer has not closed it"
		check "$policy $n: no damage is reported" lacks err "$log:[0-9]"
		rm -f "$log"
	done
done
check "there was something to read" test $all -ge "$kills"
finish
