#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The memory of an argument is unmapped between the real call and the end of the wrapper.
. "${0%/*}/lib.sh"

probe_gone=$(program probe_gone)
LD_LIBRARY_PATH=$LD_LIBRARY_PATH:${probe_gone%/*}:$build/tests/preload/.libs
export LD_LIBRARY_PATH

# gone CALL HOW: the call works as without the shim. Returns 1 if the call is not possible here.
gone() {
	"$probe_gone" "$@" "$tmp" >"$tmp/out" 2>&1
	status=$?
	if test $status -eq 2; then
		echo "$1 is not possible here: $(cat "$tmp/out")"
		return 1
	fi
	check "$1 $2: the call works without the shim: $(cat "$tmp/out")" test $status -eq 0
	shim net,io,ipc,process,time "$probe_gone" "$@" "$tmp"
	check "$1 $2: the result is the same as without the shim" exits 0
}

# recorded CALL PATTERN: the event has the argument that is unmapped when the call returns. The
# argument of a call that fails with EFAULT is not in the event.
works() { gone "$1" ok && check "$1: the event has the argument" shows "$2" 1; }
recorded() {
	works "$@"
	gone "$1" fault && check "$1: no event has an argument that cannot be read" shows "$2" 0
	gone "$1" other-fault && check "$1: the same on an alternate stack" shows "$2" 0
	gone "$1" heap-fault && check "$1: the same in the heap" shows "$2" 0
	gone "$1" data-fault && check "$1: the same in the data of the program" shows "$2" 0
}

# unrecorded CALL PATTERN: in a process with a filter, the event lacks the argument, because only a
# system call could show that the memory is readable.
unrecorded() {
	recorded "$1" "$2"
	gone "$1" quiet && check "$1, quiet: the event lacks the argument" shows "$2" 0
	gone "$1" quiet-fault && check "$1, quiet: the argument is not read" shows "$2" 0
}

# finished CALL PATTERN: in a process with a filter, the shim reads the argument only after a call that
# succeeded.
finished() {
	recorded "$1" "$2"
	gone "$1" quiet-fault && check "$1, quiet: a wrong argument is not read" shows "$2" 0
}

unrecorded sendto 'net.sendto .* error=0 size=1 result=1 flags=0x[0-9a-f]+ address=127.0.0.1:[0-9]+$'
unrecorded sendmsg 'net.sendmsg .* error=0 messages=1 result=1 flags=0x[0-9a-f]+ address=127.0.0.1:[0-9]+$'
unrecorded sendmmsg 'net.sendmsg .* error=0 messages=1 result=1 flags=0x[0-9a-f]+ address=127.0.0.1:[0-9]+$'
unrecorded setsockopt 'net.setsockopt .* value=1$'
unrecorded epoll_ctl 'net.epoll_ctl .* events=0x80000001$'
unrecorded semop 'ipc.semop .* semaphore=1 change=1 '
unrecorded semtimedop 'ipc.semop .* semaphore=1 change=1 '
unrecorded msgsnd 'ipc.msgsnd .* error=0 .* type=7$'
unrecorded fcntl 'io.fcntl .* command=37 .* lock=2 '
finished connect 'net.connect .* error=0 address=127.0.0.1:[0-9]+$'
finished bind 'net.bind .* address=127.0.0.1:0$'
finished open 'io.open .* path=gone.fifo$'
finished openat 'io.open .* path=gone.fifo$'
finished openat2 'io.open .* error=0 .* flags=0x90000 .* path=/$'
finished fopen 'io.fopen .* mode=r\+ path=gone.fifo$'
finished freopen 'io.freopen .* mode=r\+ path=gone.fifo$'
# The C library reads the arguments itself, so these calls do not fail with EFAULT.
works posix_spawn 'process.spawn .* path=/bin/true arguments=gone gone$'
works popen 'process.popen .* command=: gone$'
# Another thread may end a ring before the call that submitted the last request has returned.
for how in ok quiet; do
	gone io_uring_submit $how || continue
	check "io_uring_submit $how: the request is recorded" \
		shows 'io.uring_submit ring=99 .* user_data=0x5$' 1
	check "io_uring_submit $how: an answer from before the call is recorded" \
		shows 'io.uring_complete ring=99 result=3 ' 1
	check "io_uring_submit $how: the event of the call does not count answers that are gone" \
		shows 'io.uring .* error=0 ring=99 result=1 submitted=1 completed=1 unseen=0 by=io_uring_submit$' 1
done
# Other memory may already be at the address of a ring that has ended.
if gone io_uring_reused ok; then
	check "the end of a ring records its answers" shows 'io.uring_complete ring=98 result=7 ' 1
	check "memory that was a ring has no answers" shows 'io.uring_complete ring=98 result=9 ' 0
fi
recorded setitimer 'time.timer .* asked=1000000000000 '
recorded timer_settime 'time.timer .* asked=1000000000000 '
finish
