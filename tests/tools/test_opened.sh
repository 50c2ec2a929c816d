#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Descriptors that a process had open before posixtrace attached to it have their names.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"
needs_shim
opened=$PWD/${top_builddir:-..}/tests/tools/opened
case ${top_builddir:-..} in /*) opened=${top_builddir}/tests/tools/opened ;; esac
work_in_tmp
log=$tmp/a.log

: >file
start_reading "$opened" file "$tmp/local"
"$posixtrace" attach -p "$target" -o "$log" >out 2>err 5>&- &
tracer=$!
# The recorder notes them when the trace has begun.
noted() {
	"$posixtrace" dump -e posixtrace_descriptor "$log" 2>/dev/null | grep -q 'kind="accepted" name="unix'
}
until_true noted
printf x >&5
exchanged() { "$posixtrace" dump "$log" 2>/dev/null | grep -q 'net.recv.*unix:'; }
until_true exchanged
# A descriptor with the same number, which the program opens later, has its own name.
exec 5>&-
wait "$tracer"
check "the program is well" test "$?" -eq 0
run 0 dump "$log"
check "a file" has out "io.write .*fd=[0-9]* <$tmp/file> "
check "a pipe" has out 'io.write .*fd=[0-9]* <pipe:\[[0-9]*\]> '
check "the same pipe" has out 'io.read .*fd=[0-9]* <pipe:\[[0-9]*\]> .* result=1$'
check "a connection that the program made" has out 'net.send .*<tcp 127.0.0.1:[0-9]* -> 127.0.0.1:[0-9]*> '
check "a connection that it accepted" has out 'net.recv .*<tcp 127.0.0.1:[0-9]* <- 127.0.0.1:[0-9]*> '
check "a local connection" has out "net.send .*<unix -> unix:$tmp/local> "
check "and its other end" has out "net.recv .*<unix unix:$tmp/local> "
check "dump hides how they were found" lacks out posixtrace_descriptor
run 0 dump -e posixtrace_descriptor "$log"
check "an eventfd" has out 'kind="eventfd" name="eventfd"'
check "a socket without an address" has out 'kind="udp" name="udp" '
if grep -q '^0*1 ' /proc/net/if_inet6 2>/dev/null; then
	check "an address of IPv6, as in the events of calls" has out 'name="udp \[0:0:0:0:0:0:0:1\]:[0-9]*"'
fi
check "exec closes the file" has out 'closes_at_exec=1 kind="file" name="'"$tmp/file"
check "exec does not close the pipe" has out 'closes_at_exec=0 kind="pipe"'

# A filter of the user applies to these events, too.
start_reading "$opened" file "$tmp/second"
run 0 attach -p "$target" -d 50ms -o "$log" --force -e 'io.*'
run 0 dump -e 'posixtrace_*' "$log"
check "no event that the patterns exclude" is_empty out

# A process in another namespace of process IDs: its events have the number that it has there.
inner_of() {
	read -r inner rest <"/proc/$target/task/$target/children" && test "$inner" &&
		grep -q opened "/proc/$inner/comm"
}
blocked() { "$posixtrace" dump -e posixtrace_blocked "$log" 2>/dev/null | grep -q 'call="read"'; }
if unshare -pf true 2>/dev/null; then
	start_reading unshare -pf "$opened" file "$tmp/third"
	until_true inner_of
	"$posixtrace" attach -p "$inner" -o "$log" --force >out 2>err 5>&- &
	tracer=$!
	until_true noted
	printf x >&5
	until_true exchanged
	until_true blocked
	exec 5>&-
	wait "$tracer"
	run 0 dump "$log"
	check "a file of a process in another namespace" has out " 1 .*io.write .*fd=[0-9]* <$tmp/file> "
	run 0 dump -e posixtrace_attached "$log"
	check "its program has the same number" has out 'pid=1 '
	run 0 dump -e posixtrace_blocked "$log"
	check "and so has its wait" has out 'pid=1 tid=1 .*call="read"'
	run 0 dump -e posixtrace_ended "$log"
	check "and its end" has out 'pid=1 '

	# Process 1 is the shell, and the others are those that it starts.
	start unshare -pf --kill-child sh -c 'sleep 100 | cat; exit' >/dev/null
	cat_of() {
		read -r inner rest <"/proc/$pid/task/$pid/children" && test "$inner" &&
			for inner in $(cat "/proc/$inner/task/$inner/children"); do
				! grep -qx cat "/proc/$inner/comm" || return 0
			done && return 1
	}
	until_true cat_of
	"$posixtrace" attach -p "$inner" -o "$log" --force >out 2>err &
	tracer=$!
	writes() {
		"$posixtrace" dump -e posixtrace_blocked "$log" 2>/dev/null |
			grep -q 'call="read".* others="[23]:1" doubt=""'
	}
	check "the process that writes has its number there, too" until_true writes
	kill "$tracer"
	wait "$tracer"
fi
finish
