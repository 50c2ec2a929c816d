# SPDX-License-Identifier: LGPL-2.1-or-later
# tools/live.sh - transcripts of commands on running processes; sourced after golden.sh.
#
# A command of a transcript starts the processes that it needs and waits until they have ended. Its
# output has masks for everything that differs from run to run: PID, CHILD and TRACER for the
# processes that it started, TIME, SIZE, ADDRESS.
. "${0%/*}/targets.sh"

programs=$(cd "${top_builddir:-..}/tests" && pwd)
puppet_program=$programs/support/puppet
caller=$programs/tools/caller
crashing=$programs/tools/crashing
refuse=$programs/tools/refuse
case $victim in /*) ;; *) victim=$PWD/$victim ;; esac
POSIXTRACE_PRELOAD=$shim
POSIXTRACE_GUARDIAN=${shim%/.libs/*}/posixtrace-guardian
POSIXTRACE_RUNTIME_DIR=$tmp/runtime
export posixtrace POSIXTRACE_PRELOAD POSIXTRACE_GUARDIAN POSIXTRACE_RUNTIME_DIR
mkdir -m 700 "$POSIXTRACE_RUNTIME_DIR" || exit 99

# can_attach: this system lets a process trace another one, also one that runs, and this build has
# the preload library.
can_attach() {
	has_shim || return
	"$posixtrace" record -q --crash --trace=io -o "$tmp/can.ptl" --force true 2>"$tmp/can"
	sleep 1000000 &
	until_true is_at_rest $! sleep
	"$posixtrace" attach -p $! -d 1ms --trace io -o "$tmp/can.ptl" --force >/dev/null 2>>"$tmp/can"
	kill -KILL $!
	test ! -s "$tmp/can"
}

# refused RULE... -- ARGUMENT...: posixtrace while some system calls fail; refuse.c has the rules.
refused() {
	: >"$tmp/rules"
	while test "$1" != --; do
		printf " '%s'" "$1" >>"$tmp/rules"
		shift
	done
	shift
	eval '"$refuse"' "$(cat "$tmp/rules")" -- '"$posixtrace"' '"$@"'
}
# shows FILE TEXT-FILE ARGUMENT...: posixtrace, for which a file of /proc has other text.
shows() {
	unshare -m sh -c 'mount --bind "$1" "$0" && shift && exec "$posixtrace" "$@"' "$@"
}
# findings NAME...: the lines of doctor about these requirements, with their advice.
findings() {
	awk -v names="$(printf '%s,' "$@")" 'BEGIN { n = split(names, name, ",") - 1 }
		/^[a-z]/ { is = 0; for (i = 1; i <= n; i++) is = is || index($0, " " name[i] "  ") }
		is'
}
# may_trace_all: this process has CAP_SYS_PTRACE in the first user namespace.
may_trace_all() {
	test "$(stat -Lc %i /proc/self/ns/user)" = 4026531837 && capabilities=$(sed -n 's/^CapEff:.*\(.....\)$/\1/p' /proc/self/status) &&
		test $((0x$capabilities >> 19 & 1)) -eq 1
}
can_refuse() { "$refuse" 'kcmp EPERM' -- true; }
has_kernel() {
	"$posixtrace" doctor >"$tmp/can"
	test "$(grep -c '^works *\(kernel events\|system calls\|uprobes\) ' "$tmp/can")" -eq 3
}
has_tracefs() { "$posixtrace" doctor | grep -q '^works *tracefs'; }

# name_process NUMBER NAME: NAME is in the output for the number.
name_process() { printf '%s\n' "s/(^|[^0-9a-zA-Z.])$1($|[^0-9])/\\1$2\\2/g" >>"$tmp/names"; }

# Numbers of four and more digits differ: counts of many events, sizes, other processes. Some shells
# report the end of a process that a command kills, when they notice it. The kernel's numbers of
# processes begin at 300 again after the largest one. Counts are masked before the numbers of
# processes, because a count may equal one of them.
mask() {
	sed -E \
		-e '/^[^ ]*golden\.sh: line [0-9]+: .* (Killed|Terminated) /d' \
		-e "s,$programs/([^ ]*/)?,PROGRAMS/,g; s,${shim%/*}/,LIBRARIES/,g; s,$tmp/place/,PLACE/,g" \
		-e "s/posixtrace-test\.[A-Za-z0-9]*/TEST/g" \
		-e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z?/TIME/g; s/0x[0-9a-f]{6,}/ADDRESS/g' \
		-e 's/[0-9]+ events?, /N events, /; s/[1-9][0-9]* lost \(([a-z ]+) [0-9]+/N lost (\1 N/' \
		-e 's/"(events|lost|bytes|called|reported|recorded|chunks|created_ns)":"?[1-9][0-9]*"?/"\1":N/g' \
		-e 's/(called|reported) [1-9][0-9]*/\1 N/g; s/[0-9]+ blocks?/N blocks/; s/[0-9]+%/N%/g; s/[0-9]+\.[0-9]{9} s/TIME/g' \
		-e 's/"fill_percent":[0-9]+/"fill_percent":N/' \
		-e 's/[0-9]+ of [0-9]+ parts/N of N parts/; s/[0-9]+ bytes/SIZE bytes/g' \
		-f "$tmp/names" \
		-e 's/(["pt]id"?[=:]|process |thread |(killed by SIG[A-Z]+|exited with [0-9]+|still running|ended with unknown status) \(([^ ()]+ )?)[3-9][0-9]{2}($|[^0-9])/\1N\4/g' \
		-e 's/(^|[^0-9a-zA-Z.])[1-9][0-9]{3,}($|[^0-9a-z])/\1N\2/g'
}

# A puppet whose number is PID in the output; it ends with the command.
puppet() {
	: >"$tmp/names"
	start_puppet
	name_process "$target" PID
}

# A program that runs in the background until its input ends: runs COMMAND...; then "go" for a line.
runs() {
	: >"$tmp/names"
	rm -f "$tmp/input"
	mkfifo "$tmp/input" || exit 99
	start sh -c 'exec "$@" <"$0"' "$tmp/input" "$@"
	target=$pid
	exec 5>"$tmp/input"
	until_true has_executed "$target" "${1##*/}"
	until_true is_at_rest "$target"
	name_process "$target" PID
}
# has_executed PID PROGRAM: the shell of runs has executed its program.
has_executed() { test "$2" = sh || ! grep -q -x sh "/proc/$1/comm"; }
# recorded NUMBER TYPES: returns when a.ptl, which did not exist before the trace, has so many events of
# these types. A count of all events would include those of the recorder itself.
recorded() { until_true has_recorded "$1" "$2"; }
has_recorded() { test "$("$posixtrace" dump -e "$2" a.ptl | wc -l)" -ge "$1"; }
# own_streams: the lines of list about the target. Other processes of this machine may have streams.
own_streams() { "$posixtrace" list | grep "^ *$target " | sed 's/  */ /g; s/^ //'; }
# stop_target: returns when every thread of it has stopped.
stop_target() {
	kill -STOP "$target"
	until_true grep -q '^State:.T' "/proc/$target/status"
}
# has_child: the target has one, whose number is in $child.
has_child() {
	child=$(cat "/proc/$target/task/$target/children")
	test -n "$child"
}
go() { echo >&5; }

# attached ARGUMENT...: posixtrace attach, into a.ptl unless -o is among the arguments; returns when
# it traces. It inherits no pipe of a puppet.
attached() {
	attached=$((${attached-0} + 1))
	start "$posixtrace" attach -p "$target" -o a.ptl "$@" >"$attached.out" 2>"$attached.err" 5>&- 6<&-
	tracer=$pid
	mv "$attached.out" "$tracer.out" && mv "$attached.err" "$tracer.err"
	name_process "$tracer" TRACER
	until_true is_traced || cat "$tracer.err"
}

# ended [SIGNAL]: the tracer ends; what it printed, and its status. Not in a pipeline, because a
# subshell cannot wait for it.
ended() {
	test -z "$1" || kill -"$1" "$tracer"
	wait "$tracer"
	status_of_tracer=$?
	cat "$tracer.out"
	cat "$tracer.err" >&2
	return $status_of_tracer
}
: >"$tmp/names"
