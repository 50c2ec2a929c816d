#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Threads that wait for each other for ever: the recorder notes in which calls they are blocked, and
# posixtrace why names the deadlock. Nothing here waits for a time.
. "${0%/*}/lib.sh"
. "${0%/*}/targets.sh"
needs_shim
waits=$PWD/${top_builddir:-..}/tests/tools/waits
case ${top_builddir:-..} in /*) waits=${top_builddir}/tests/tools/waits ;; esac
work_in_tmp

# has_events TYPE NUMBER: the log of the recorder, which grows, has an event of a type of so many threads.
# The recorder notes a blocked thread repeatedly. The second event of each thread is later than the first
# one of each other thread: only then are all facts of one time.
has_events() {
	"$posixtrace" dump -e "$1" "$case.ptl" >events
	if test "$1" = posixtrace_blocked; then
		test "$(sed -n 's/.* tid=\([0-9]*\) .*/\1/p' events | sort | uniq -c | grep -vc '^ *1 ')" -eq "$2"
	else
		test "$(wc -l <events)" -eq "$2"
	fi
}

# stuck CASE TYPE EVENTS OPTION...: records a program until it has these events, and kills it.
stuck() {
	case=$1 type=$2 events=$3
	shift 3
	start "$posixtrace" record -q --force -o $case.ptl "$@" "$waits" stuck-$case 2>/dev/null
	recorder=$pid
	check "$case: the events of the wait are recorded" until_true has_events "$type" "$events"
	# A process whose peer ends first would return from its call, so all are stopped before.
	all=$(cat "/proc/$recorder/task/$recorder/children")
	all="$all $(for each in $all; do cat "/proc/$each/task/$each/children"; done)"
	kill -STOP $all
	kill -KILL $all
	wait "$recorder"
}

# With lock-hold, the threads record what they hold before they wait.
stuck crosswise lock.waiting 2 --trace default,lock-hold
run 0 why crosswise.ptl
check "the first line is the deadlock" sh -c "sed -n 1p '$tmp/out' | grep -q '^Deadlock: '"
for text in '(waits) holds mutex [^,]*, acquired in stuck_crosswise' 'waits for mutex [^ ]* in stuck_crosswise' \
	'(maker) holds mutex [^,]*, acquired in lock_right_first' 'waits for mutex [^ ]* in lock_right_first'; do
	check "the deadlock has: $text" has out "^Deadlock: .*$text"
done
check "the wait ends with the process" has out 'until SIGKILL ended the process'
run 0 why --json crosswise.ptl
check "JSON has both threads" has out '"deadlocks":\[{"certain":true,"doubt":"","threads":\[{[^]]*"holds":"mutex [^]]*"holds":"mutex '

stuck twice lock.waiting 1 --trace default,lock-hold
run 0 why twice.ptl
check "a thread that locks twice" has out '^Deadlock: thread [0-9]* (waits) holds mutex .* waits for the same lock'

stuck table lock.waiting 2 --trace default,lock-hold
run 0 why table.ptl
check "a read-write lock" has out '^Deadlock: .*holds rwlock .*waits for rwlock '

# The kernel finds this deadlock, and glibc then lets one of the threads wait for nothing.
stuck inherit lock.waiting 2 --trace default,lock-hold
run 0 why inherit.ptl
check "mutexes with priority inheritance" has out '^Deadlock: .* holds mutex .*, and waits for mutex .* holds mutex '

# Without lock-hold, the recorder looks at threads that are blocked for long.
test -r "/proc/$$/syscall" || { echo "the kernel does not say in which system call a thread is"; finish; }
stuck join posixtrace_blocked 2
run 0 why join.ptl
check "a thread waits for the end of one that wants its lock" \
	has out '^Deadlock: .*(waits) holds mutex .*waits for the end of thread [0-9]* (last event: .* in stuck_join.*; .*(maker) waits for mutex'
stuck pipes posixtrace_blocked 2
run 0 why pipes.ptl
check "two processes wait for data of each other" has out '^Deadlock: .* waits for data in a pipe into which only process'
stuck fed posixtrace_blocked 3
run 0 why fed.ptl
check "no deadlock if another thread can write" lacks out 'eadlock'
check "the answer has the two threads" has out 'waiting for data in read() .*could have written into the pipe'
stuck likeness posixtrace_blocked 2
run 0 why likeness.ptl
check "memory that looks like a mutex proves nothing" \
	has out '^Possible deadlock: .* waits for mutex .*It is not certain: the memory looks like a lock of glibc'
check "a possible deadlock is not named as a deadlock" lacks out '^Deadlock\|[^y] a deadlock'
run 0 why --json likeness.ptl
check "JSON has the doubt" has out '"deadlocks":\[{"certain":false,"doubt":"the memory looks like'
stuck number posixtrace_blocked 2
run 0 why number.ptl
check "a futex with the number of a thread is no join" lacks out 'eadlock'
check "the other one is a join" has out 'waiting for the end of thread'
stuck timed posixtrace_blocked 2 --trace default,lock-hold
run 0 why timed.ptl
check "waits with a time limit" has out '^Possible deadlock: .*It is not certain: a wait has a time limit'
stuck robust posixtrace_blocked 2
run 0 why robust.ptl
check "robust mutexes" has out '^Deadlock: .* holds mutex .*, and waits for mutex .* holds mutex '
stuck pipe posixtrace_blocked 1
run 0 why pipe.ptl
check "a read that only its own process could end" \
	has out '^Cause: .*waiting for data in read() on descriptor 3 (pipe.*until SIGKILL ended the process; only this process itself'
stuck accept posixtrace_blocked 1
run 0 why accept.ptl
check "an accept without a client" has out '^Cause: .*waiting for a client in accept() on descriptor 3 (socket at 127\.0\.0\.1:'
stuck receive posixtrace_blocked 1
run 0 why receive.ptl
check "a peer that sends nothing" has out '^Cause: .*waiting for data in recvfrom() on descriptor 3 (127\.0\.0\.1:'
stuck semaphore posixtrace_blocked 1
run 0 why semaphore.ptl
check "a semaphore without a post" has out '^Cause: .*waiting for a wake-up of the futex '
stuck taken posixtrace_blocked 2
run 0 why --thread waits taken.ptl
check "the thread that took a semaphore last" has out \
	'waiting for the semaphore [^ ]*, which thread [0-9]* (maker) took last in take_semaphore[^,]* and has not posted, until'
check "no deadlock, because the thread may post later" lacks out 'eadlock'
stuck ended posixtrace_blocked 1
run 0 why ended.ptl
check "a thread that took a semaphore and ended" has out \
	'waiting for the semaphore [^ ]*, which a thread that has ended took last in take_semaphore[^,]* and has not posted, until'
stuck own posixtrace_blocked 1
run 0 why own.ptl
check "a thread that takes a semaphore twice" has out \
	'waiting for the semaphore [^ ]*, which this thread itself took last in stuck_own[^,]* and has not posted, until'
stuck stall posixtrace_blocked 2
run 0 why stall.ptl
check "all threads of a process wait, and none holds what another one wants" \
	has out '^All threads wait: .*waits for a wake-up of the futex .*waits for a wake-up of the futex .*the process is idle'
check "that is no deadlock" lacks out 'eadlock'
check "the last event of a thread has the place" has out '^Cause: .*(last event: .* in stuck_stall'
finish
