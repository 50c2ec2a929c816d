#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Programs that may make few system calls do the same with record and without. The library makes
# none of the forbidden calls, and lost events are counted.
. "${0%/*}/lib.sh"

log=$tmp/log.ptl
POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD

# confined STATUS PROBE ARGUMENT...
confined() {
	wanted=$1
	shift
	"$probe" "$@" >"$tmp/out.bare" 2>"$tmp/err.bare"
	status=$?
	if test $status -eq 159 || test $status -eq 77; then
		echo "SKIP: $*: not here without the shim either" # a C library that makes other calls
		return 1
	fi
	check "$*: without" exits "$wanted"
	rm -f "$log"*
	"$posixtrace" record -q -o "$log" ${families:+--trace="$families"} -- "$probe" "$@" \
		>"$tmp/out" 2>"$tmp/err"
	status=$?
	check "$*: with" exits "$wanted"
	check "$*: the same output" cmp "$tmp/out.bare" "$tmp/out"
	"$decode" "$log" >"$tmp/events" 2>"$tmp/why"
	check "$*: every event is what its schema says" is_empty why
	run 0 verify "$log"
	check "$*: the ledger is closed" has out ': called [0-9]* = reported '
	"$posixtrace" stat "$log" >"$tmp/stat" 2>/dev/null
}
lost() { sed -n 's/^account .* + lost \([0-9]*\).*/\1/p' "$tmp/stat"; }
writes() { test "$(grep -c '^.*io.write ' "$tmp/events")" -eq "$1" || { grep -c 'io.write ' "$tmp/events"; return 1; }; }

for families in '' all; do
	for how in prctl syscall seccomp; do
		if confined 3 filter $how 20000; then
			check "filter $how: no event is lost" test "$(lost)" -eq 0
			check "filter $how: all are there" writes 20000
			check "filter $how: the filter is reported" shows 'process.seccomp mode=' 1
		fi
		if confined 3 filter-threads $how; then
			check "threads $how: no event is lost" test "$(lost)" -eq 0
			check "threads $how: all are there" writes 5000
		fi
		if confined 3 filter-fork $how; then
			check "children $how: no event is lost" test "$(lost)" -eq 0
			check "children $how: all are there" writes 600
		fi
		# The events of children without fork handlers need memory, so they are lost.
		if confined 3 filter-clone $how; then
			check "children by clone $how: all calls of the parent are there" writes 100
			check "children by clone $how: the calls of the children are counted" \
				test "$(lost)" -ge 200
		fi
		if confined 3 filter-trap $how; then
			check "a handler $how: no event is lost" test "$(lost)" -eq 0
			check "a handler $how: all are there" writes 20250
		fi
		if confined 3 filter-errno $how; then
			check "refused $how: no event is lost" test "$(lost)" -eq 0
			check "refused $how: all are there" writes 20000
		fi
	done
	# A program that is executed under a filter does not load the library if this would end it.
	for how in prctl syscall seccomp; do
		for action in kill trap; do
			if confined 0 filter-few $how $action /bin/echo here; then
				"$posixtrace" dump -e process.untraced "$log" >"$tmp/untraced"
				check "few calls $how $action: the log says why" \
					has untraced '"seccomp filter".*/bin/echo'
			fi
		done
	done
	if confined 0 filter-exec copy /bin/echo here; then
		check "a filter that permits the library: the program is traced" \
			test "$(grep -c 'process.start ' "$tmp/events")" -eq 2
	fi
	# The library makes these calls only in some cases. The program makes none of them.
	for call in wait memory move signal action; do
		confined 0 filter-exec $call /bin/echo here &&
			check "a filter that forbids a call of the library ($call): the log says why" \
				shows 'process.untraced .*seccomp filter' 1
	done
	# A filter of a child of vfork() does not concern the parent. Only on x86-64 does the probe
	# have a child that must not read the counter.
	case $(uname -m) in x86_64) counters=1 ;; *) counters=0 ;; esac
	for how in prctl syscall seccomp; do
		if confined 3 filter-vfork $how /bin/echo here; then
			# The child that must not read the counter calls _exit().
			check "vfork $how: only the child loses an event" test "$(lost)" -eq $counters
			check "vfork $how: the parent is traced on" writes $((350 + 100 * counters))
			check "vfork $how: the program behind the filter is not" \
				shows 'process.untraced .*seccomp filter' 1
			check "vfork $how: the next program is" shows 'process.start ' 2
		fi
	done
	# A filter of a child by a system call instruction concerns all threads of a process that the
	# child forks.
	if confined 3 filter-bare prctl; then
		check "the child of a child by an instruction is traced" writes 50
	fi
	for how in prctl syscall; do
		if confined 3 strict $how; then
			check "strict $how: those before are there" writes 100
			check "strict $how: those after are counted" test "$(lost)" -ge 20000
			check "strict $how: by their cause" grep -q 'io.write (no place for the thread 20000)' "$tmp/stat"
			check "strict $how: strict mode is reported" shows 'process.seccomp mode=1' 1
		fi
	done
	if confined 3 strict-thread; then
		check "other threads are traced on" writes 1000
		check "those of the thread are counted" grep -q 'io.write (no place for the thread 1000)' "$tmp/stat"
	fi
	if confined 3 strict-fails; then
		check "a call that fails ends nothing" writes 1000
		check "a call that fails loses nothing" test "$(lost)" -eq 0
	fi
	if confined 3 asks; then
		check "a question: no mode is reported" shows process.seccomp 0
		check "a question: all are there" writes 100
		# A process with a filter must not find out the id.
		check "a question: the child of vfork() has its id" shows 'process.vchild pid=0 ' 0
	fi
	if confined 3 no-counter; then
		check "a thread that may read the counter again is traced again" writes 500
		check "the calls in between are counted" grep -q 'io.write (no place for the thread 300)' "$tmp/stat"
	fi
	chmod 755 "$tmp"
	mkdir -p "$tmp/root"
	if confined 3 bare "$tmp/root"; then
		check "no descriptors: no event is lost" test "$(lost)" -eq 0
		check "no descriptors: all are there" writes 20150
	fi
done

# The program creates the stream itself.
for how in prctl seccomp; do
	shim io,process "$probe" filter $how 100
	check "with a log of its own, $how" exits 3
	check "with a log of its own, $how: all are there" writes 100
done

finish
