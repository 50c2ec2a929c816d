#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Descriptors that a process had open before posixtrace attached to it, or that a program got at its
# start under record, have their names.
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
check "the other end of a local connection has a name" has out "net.recv .*<unix unix:$tmp/local> "
check "dump hides how they were found" lacks out posixtrace_descriptor
run 0 dump -e posixtrace_descriptor "$log"
check "an eventfd" has out 'kind="eventfd" name="eventfd"'
check "a socket without an address" has out 'kind="udp" name="udp" '
if grep -q '^0*1 ' /proc/net/if_inet6 2>/dev/null; then
	check "an address of IPv6, as in the events of calls" has out 'name="udp \[0:0:0:0:0:0:0:1\]:[0-9]*"'
fi
check "exec closes the file" has out 'closes_at_exec=1 kind="file" name="'"$tmp/file"
check "exec does not close the pipe" has out 'closes_at_exec=0 kind="pipe"'
check "the library's own memory is none of the program's" lacks out posix-trace

# A process that record finds running.
start_reading "$opened" file "$tmp/running"
rm "$log"
"$posixtrace" record -q -p "$target" -o "$log" --force >out 2>err 5>&- &
tracer=$!
until_true noted
printf x >&5
until_true exchanged
exec 5>&-
wait "$tracer"
run 0 dump "$log"
check "record -p: a file" has out "io.write .*fd=[0-9]* <$tmp/file> "

# A program that record starts: its first descriptors, one more, and their copies in children.
echo text >given
recorded() { "$posixtrace" record -q -o "$log" --force "$@"; }
printf 'line\n' | recorded sh -c 'read line; read text <&5; echo "$line" >&5; echo own; (echo "$text"); exec cat' \
	5<>given >copied 2>err
check "the program has its descriptors" grep -q text copied
run 0 dump "$log"
check "record: its input is a pipe" has out 'io.read .*fd=0 <pipe:\[[0-9]*\]> '
check "record: its output is a file" has out "io.write .*fd=1 <$tmp/copied> "
check "record: another descriptor" has out "io.[a-z]* .*fd=5 <$tmp/given> "
check "record: the output of a child" test \
	"$(grep "io.write .*fd=1 <$tmp/copied> " out | awk '{ print $3 }' | sort -u | wc -l)" -eq 2
run 0 dump -e posixtrace_descriptor "$log"
check "record: neither the recorder's files nor the library's memory" lacks out 'posix-trace\|a\.log\|pidfd'
check "record: exec closes none of them" lacks out 'closes_at_exec=1'
check "record: each descriptor once" test "$(lines out)" -eq "$(sed 's/.* fd=\([0-9]*\) .*/\1/' out | sort -u | wc -l)"
if command -v python3 >/dev/null; then
	cat >sockets.py <<'END'
import socket, subprocess, sys
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server = listener.accept()[0]
client.sendall(b"x\n")
subprocess.run(sys.argv[1:], stdin=server, stdout=client, check=True)
END
	python3 sockets.py "$posixtrace" record -q -o "$log" --force sh -c 'read line; echo x' 2>err
	run 0 dump "$log"
	check "record: a connection that its parent accepted" has out \
		'fd=0 <tcp 127.0.0.1:[0-9]* <- 127.0.0.1:[0-9]*> '
	check "record: a connection that its parent made" has out \
		'fd=1 <tcp 127.0.0.1:[0-9]* -> 127.0.0.1:[0-9]*> '
fi

# --duration begins with the trace, and not after the look at the descriptors. On a busy machine each
# try may last longer.
start_reading sh -c 'ulimit -n "$(ulimit -Hn)"; exec "$@"' - "$opened" file "$tmp/many" 3000
is_short() {
	rm -f "$log"
	"$posixtrace" attach -p "$target" -d 100ms -o "$log" >out 2>err || return
	"$posixtrace" dump -e posixtrace_descriptor "$log" >found
	look=$(sed 's/.* looked_ns=\([0-9]*\) .*/\1/' found | sort -n | tail -n 1)
	lasted=$("$posixtrace" dump -e posix_trace_start -e posix_trace_stop "$log" |
		awk 'END { printf "%d", $2 * 1000000000 }')
	test "${look:-0}" -gt 0 && test "$lasted" -lt $((look + 100000000))
}
tries=20
until is_short || test $((tries -= 1)) -eq 0; do :; done
check "--duration contains the look at $(lines found) descriptors" test $tries -gt 0
exec 5>&-

# A filter of the user applies to these events, too.
start_reading "$opened" file "$tmp/second"
run 0 attach -p "$target" -d 50ms -o "$log" --force -e 'io.*'
run 0 dump -e 'posixtrace_*' "$log"
check "no event that the patterns exclude" is_empty out

# A process in another namespace of process IDs: its events have the number that it has there.
# child_of PID: the number of its first child. The list has no end of line, so read fails.
child_of() {
	inner=
	read -r inner rest <"/proc/$1/task/$1/children"
	test "$inner"
}
inner_of() { child_of "$target" && grep -q opened "/proc/$inner/comm"; }
blocked() { "$posixtrace" dump -e posixtrace_blocked "$log" 2>/dev/null | grep -q 'call="read"'; }
if unshare -pf true 2>/dev/null; then
	start_reading unshare -pf "$opened" file "$tmp/third"
	until_true inner_of
	rm -f "$log"
	"$posixtrace" attach -p "$inner" -o "$log" >out 2>err 5>&- &
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
	check "its wait has the same number" has out 'pid=1 tid=1 .*call="read"'
	run 0 dump -e posixtrace_ended "$log"
	check "its end has the same number" has out 'pid=1 '

	# Process 1 is the shell, and the others are those that it starts.
	start unshare -pf --kill-child sh -c 'sleep 1000000 | cat; exit' >/dev/null
	cat_of() {
		child_of "$pid" &&
			for inner in $(cat "/proc/$inner/task/$inner/children"); do
				! grep -qx cat "/proc/$inner/comm" || return 0
			done && return 1
	}
	until_true cat_of
	rm "$log"
	"$posixtrace" attach -p "$inner" -o "$log" >out 2>err &
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
