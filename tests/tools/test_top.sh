#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace top: the activity of a process, without removing events from a stream.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"

log=$tmp/a.log
top() {
	wanted=$1
	shift
	run "$wanted" top "$@"
}

# A process.
shares='\( *[0-9]*\.[0-9]%\)\{3\}'
start_busy 3
top 0 -p "$target" --once -d 300ms
check "the title has the process" has out "^process $target (victim), [0-9]*\.[0-9] s$"
check "how many events, how fast" has out '^[0-9][0-9]* events, [0-9][0-9]*/s, [0-9]* lost'
check "its event type with a rate" has out '^ *[1-9][0-9]* *[1-9][0-9]* *[0-9]*  payload$'
# A busy machine may give a thread no processor during one look.
has_threads() {
	"$posixtrace" top -p "$target" --once -d 300ms >"$tmp/out" 2>/dev/null
	test "$(grep -c "^ *[1-9][0-9]* *[1-9][0-9]*$shares *$target *[0-9]*  victim" "$tmp/out")" -ge 3
}
check "each of its threads" until_true has_threads
check "not those of the tool" test "$(grep -c '  posixtrace$' "$tmp/out")" -eq 0
check "its stream" has out '%.*  posixtrace top (running)$'
check "nothing is wrong" is_empty err
top 0 -p "$target" -b -n 3 -d 100ms --rows 1
check "as many pages as wanted" test "$(grep -c '^process ' "$tmp/out")" -eq 3
check "as many lines as wanted" test "$(grep -c '  victim' "$tmp/out")" -eq 3
check "counts grow" test "$(sed -n 's/ events, .*//p' "$tmp/out" | sort -n -u | wc -l)" -eq 3
check "the process has no stream afterwards" test "$("$posixtrace" list | grep -c "^ *$target ")" -eq 0

# No other trace changes. Sanitizers slow the tool down more than its target: then no stream is
# large enough.
attach --size 64M
"$posixtrace" top -p "$target" -b -n 3 -d 100ms >"$tmp/top"
check "other streams are shown" grep -q '  a\.log (running)$' "$tmp/top"
finish_attach 0 TERM
check "the log of another is sound" is_sound "$log"
"$victim" check "$log" >"$tmp/events" 2>"$tmp/why"
check "whole and in order" is_empty why
check "nothing was taken from it" has out ', 0 lost, \|[0-9] lost (stream full [0-9]*), '
attached=$(sed -n 's/.*: \([0-9]*\) events, \([0-9]*\) lost.*/\1 + \2/p' "$tmp/out")

# A log.
top 0 "$log"
check "a log is named" has out "^$log, [0-9]*\.[0-9]* s$"
check "all its events" has out "^$(($attached)) events, "
check "its threads" test "$(grep -c "^ *[0-9]* *[0-9]* *$target *[0-9]*$" "$tmp/out")" -eq 3
cp "$log" "$tmp/cut.log"
truncate -s -5000 "$tmp/cut.log" 2>/dev/null && top 3 "$tmp/cut.log"
top 1 "$tmp/missing"
: >"$tmp/empty"
top 1 "$tmp/empty"

# Its end.
"$posixtrace" top -p "$target" -b -d 100ms >"$tmp/out" 2>"$tmp/err" &
tracer=$!
until_true grep -q events "$tmp/out"
kill_target
wait $tracer
check "the end of the process is the end" test $? -eq 0
check "the title says so" has out ', it has ended$'
top 1 -p "$target"
start_busy 1
"$posixtrace" top -p "$target" -b -d 100ms >"$tmp/out" 2>"$tmp/err" &
tracer=$!
until_true grep -q events "$tmp/out"
kill -TERM $tracer
wait $tracer
check "a signal ends it well" test $? -eq 0
("$posixtrace" top -p "$target" -b -d 50ms; echo $? >"$tmp/status") | head -n 1 >"$tmp/out"
check "top fails if its reader goes away" test "$(cat "$tmp/status")" -ne 0

# The number of a child that has ended belongs to another process later.
cat >"$tmp/reuse.sh" <<'END'
cd "$2" || exit
until_true() {
	tries=1200
	until "$@" >/dev/null 2>&1; do
		test $((tries -= 1)) -gt 0 || exit
		sleep 0.05
	done
}
mkfifo gate answer
sh -c 'exec 3<>gate; read line <&3; (exit 0) & echo $! >child; wait; read line <&3
	(while sleep 0.1; do :; done) & echo $! >second; echo >answer; read line <&3' &
target=$!
"$1" top -p $target -b -d 100ms --trace=process >pages 2>said &
tracer=$!
until_true grep '^process ' pages
echo >gate
until_true test -s child
read -r child <child
until_true grep " $child  *$child\( \|\$\)" pages
echo $((child - 1)) >/proc/sys/kernel/ns_last_pid
sleep 1000000 &
echo $! >later
pages=$(grep -c '^process ' pages)
until_true sh -c "test \$(grep -c '^process ' pages) -gt $((pages + 2))"
cp pages pages.later
kill -KILL $!
wait $! 2>/dev/null
lines=$(wc -l <pages)
echo $((child - 1)) >/proc/sys/kernel/ns_last_pid
echo >gate
# No process may take the number before the second child. A loop would fork, so the shell reads.
read -r line <answer
until_true sh -c "tail -n +$lines pages | grep '% *$child  *$child\( \|\$\)'"
echo yes >has_states
kill -TERM $tracer
wait $tracer
END
if has_shim && unshare -pf --mount-proc sh -c 'echo 100 >/proc/sys/kernel/ns_last_pid' 2>/dev/null; then
	tool=$posixtrace
	case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
	(LD_LIBRARY_PATH=$(cd "${top_builddir:-..}/lib/.libs" && pwd) unshare -pf --mount-proc sh "$tmp/reuse.sh" "$tool" "$tmp")
	check "a process has the number of the child" cmp "$tmp/child" "$tmp/later"
	check "it is not shown as the child" lacks pages.later '  sleep'
	check "the child is shown" has pages.later " $(cat "$tmp/child")  *$(cat "$tmp/child")"
	check "a later child has the number" cmp "$tmp/child" "$tmp/second"
	check "it has states" test -s "$tmp/has_states"
fi

# States of threads: a thread that never runs, and threads that run as often as they can.
"${top_builddir:-..}/tests/tools/states" &
states=$!
until_true test "$(cat /proc/$states/task/*/comm 2>/dev/null | grep -c -e spinner -e sleeper)" -eq 3
top 0 -p $states --once -d 2s
name_of_call=
cat /proc/$states/syscall >"$tmp/why" 2>&1 && name_of_call='  in clock_nanosleep'
kill -KILL $states
wait $states 2>/dev/null
# is_state NAME LEAST_RUNNING MOST_RUNNING: each thread with the name; its shares add up to 100 %.
is_state() {
	awk -v name="$1" -v least="$2" -v most="$3" '
		$8 == name { found = 1; sum = $3 + $4 + $5
			if ($3 + $4 < least || $3 + $4 > most || sum < 99.8 || sum > 100.2) exit wrong = 1 }
		END { exit !found || wrong }' "$tmp/out"
}
check "a thread that sleeps is blocked" is_state sleeper 0 2
check "its system call follows its name" has out "  sleeper$name_of_call\$"
check "threads that compete for a processor run or are ready" is_state spinner 50 100

# Durations and locks.
"${top_builddir:-..}/tests/tools/make_times" "$tmp/times.log"
top 0 "$tmp/times.log"
# within TYPE COLUMN LEAST MOST: a time, in any unit, is within these microseconds
within() {
	awk -v type="$1" -v column="$2" -v least="$3" -v most="$4" '
		BEGIN { unit["ns"] = 0.001; unit["us"] = 1; unit["ms"] = 1000; unit["s"] = 1000000 }
		/DURATION OF/ { on = 1 } /CONTENDED LOCK/ { on = 0 }
		on && $NF == type { value = $(2 * column) * unit[$(2 * column + 1)]; found = 1 }
		END { exit !(found && value >= least && value <= most) }' "$tmp/out"
}
check "50 percentile" within call 1 50 57
check "90 percentile" within call 2 90 100
check "99 percentile" within call 3 99 100
check "maximum" within call 4 100 100
check "total" within call 5 5050 5050
check "spans are paired by their key" has out '^ *4 .*  job$'
check "the spans have their durations" within job 1 5000 1000000
check "the lock that is waited for longest comes first" test "$(grep -A 1 'CONTENDED LOCK$' "$tmp/out" |
	grep -c '^ *3 *6000.0 us *2000.0 us *[0-9]*  lock 0x[0-9a-f]* "pool"$')" -eq 1
check "then others" has out '^ *1 *1000.0 us *1000.0 us *[0-9]*  lock 0x[0-9a-f]*$'
check "to hold one is not to wait" test "$(grep -c '^ *10 .*0x' "$tmp/out")" -eq 0

# A terminal.
if script -qec true /dev/null >/dev/null 2>&1; then
	# An interrupt from the terminal reaches this shell, too.
	cat >"$tmp/session" <<-END
		trap : INT
		stty rows 24 cols 80
		stty -g >"$tmp/before"
		TERM=xterm "$posixtrace" top -p $target -d 100ms
		echo \$? >"$tmp/status"
		stty -g >"$tmp/after"
	END
	rm -f "$tmp/out"
	(until_true has out "process $target"; printf '\t\ta'; sleep 0.3; printf 's '; sleep 0.3; printf 'pr'; sleep 0.3; printf q) |
		script -qec "sh $tmp/session" /dev/null >"$tmp/out" 2>&1
	check "q ends it" test "$(cat "$tmp/status")" = 0
	check "the terminal is as it was" cmp "$tmp/before" "$tmp/after"
	check "the process was shown" has out "process $target (victim)"
	rm -f "$tmp/out" "$tmp/status" "$tmp/after"
	(until_true has out "process $target"; printf '\003'; until_true test -s "$tmp/status") | script -qec "sh $tmp/session" /dev/null >"$tmp/out" 2>&1
	check "an interrupt ends top with status 0" test "$(cat "$tmp/status")" = 0
	check "the terminal is as it was again" cmp "$tmp/before" "$tmp/after"
	# ncurses does not free some memory of a terminal that it does not know.
	sed -i.bak 's/TERM=xterm/ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" TERM=no-such-terminal/; s/ top / top -n 1 /' "$tmp/session"
	script -qec "sh $tmp/session" /dev/null </dev/null >"$tmp/out" 2>&1
	check "an unknown terminal is refused" test "$(cat "$tmp/status")" -le 1
	check "an unknown terminal is not changed" cmp "$tmp/before" "$tmp/after"
	mkfifo "$tmp/no-keys"
	for shown in "-p $target" "$log"; do
		sed "s| top .*| top -n 2 -d 10ms $shown|; s/TERM=no-such-terminal/TERM=xterm/" "$tmp/session" >"$tmp/count"
		rm -f "$tmp/status"
		timeout 60 script -qec "sh $tmp/count" /dev/null <>"$tmp/no-keys" >"$tmp/out" 2>&1
		check "--count ends it on a terminal, before the time limit of the test: $shown" test $? -eq 0
		check "its status is 0: $shown" test "$(cat "$tmp/status")" = 0
	done
	# With some limit of descriptors, the first that cannot be opened is the one for the signals.
	if has out '^TERM=no-such-terminal\|: TERM=no-such-terminal'; then
		limit=4 named=yes
		until has out 'top cannot wait for signals' || [ $limit -gt 40 ]; do
			rm -f "$tmp/out"
			(until_true test -s "$tmp/out"; printf q) | timeout 20 script -qec "sh -c 'ulimit -n $limit
				TERM=xterm exec \"$posixtrace\" top \"$log\"'" /dev/null >"$tmp/out" 2>&1
			limit=$((limit + 1))
			lacks out 'process 0' || named=no
		done
		check "errors that concern a log name the log" test $named = yes
		check "a missing descriptor is no fault of the terminal" has out 'top cannot wait for signals: Too many open files'
	fi
fi
kill_target

for wrong in '' '-p x' '-p 1 -p 2' "-p 1 $log" "$log $log" "-d 0 $log" "--rows x $log" "-s 1T $log" "-n x $log"; do
	top 2 $wrong
	check "top $wrong: nothing is on standard output" is_empty out
done
finish
