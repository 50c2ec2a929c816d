#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# posixtrace why: known parts, the chain of threads behind them, selections of times.
. "${0%/*}/lib.sh"

compose=${top_builddir:-..}/tests/tools/compose
# part LABEL: prints the percentage of the first part whose line has the label.
part() { awk -v label="$1" 'index($0, label) && $2 ~ /^[0-9.]+$/ { print $2; exit }' "$tmp/out"; }

# Thread 8 waits 60 ms for a mutex that 9 holds, which sleeps meanwhile for 40 ms and then reads a
# file for 10 ms; then 8 joins 9 for 20 ms; 8 sleeps for 10 ms of its own; 10 ms have no call. Then 8 waits
# 50 ms for process 20, which waits 30 ms for data that 8 does not write but 21 does, which sleeps.
awk 'BEGIN {
	print "type lock.mutex ns time; ptr lock; errno error"
	print "type lock.mutex_held ns time; ptr lock"
	print "type time.sleep ns time; s64 asked; errno error; str by"
	print "type thread.join ns time; ptr thread; errno error"
	print "type io.open ns time; s32 fd; errno error; s32 folder; x32 flags; x32 mode; str path"
	print "type io.read ns time; s32 fd; errno error; u64 size; s64 result"
	print "type io.write ns time; s32 fd; errno error; u64 size; s64 result"
	print "type process.wait ns time; s32 child; errno error; s32 which; x32 options; x32 status; s32 known"
	print "type process.child s32 pid; s32 parent"
	print "type note u32 n"
	print "type request.begin u32 id; @begin request; @key id"
	print "type request.end u32 id; @end request; @key id"
	print "object 7 0x1000 queue"
	ms = 1000000; t = 1000000000000
	print "note 7 7", t, 1
	print "request.begin 7 7", t, 1
	print "note 7 9", t, 1
	print "io.open 7 9", t + 1 * ms, 1000, 5, 0, -100, 0, 0, "/data/table"
	print "time.sleep 7 9", t + 45 * ms, 40 * ms, 0, 0, "usleep"
	print "io.read 7 9", t + 57 * ms, 10 * ms, 5, 0, 4096, 4096
	print "lock.mutex_held 7 9", t + 60 * ms, 60 * ms, "0x1000"
	print "lock.mutex 7 7", t + 60 * ms, 60 * ms, "0x1000", 0
	print "note 7 9", t + 80 * ms, 1
	print "thread.join 7 7", t + 80 * ms, 20 * ms, 9, 0
	print "time.sleep 7 7", t + 90 * ms, 10 * ms, 0, 0, "nanosleep"
	print "process.child 20 20", t + 100 * ms, 20, 7
	print "note 21 21", t + 100 * ms, 1
	print "time.sleep 21 21", t + 130 * ms, 30 * ms, 0, 0, "poll"
	print "io.write 21 21", t + 130 * ms, 1000, 4, 0, 77, 77
	print "io.read 20 20", t + 130 * ms, 30 * ms, 3, 0, 100, 77
	print "note 20 20", t + 150 * ms, 1
	print "process.wait 7 7", t + 150 * ms, 50 * ms, 20, 0, -1, 0, 0, 1
	print "request.end 7 7", t + 150 * ms, 1
	for (i = 2; i < 202; i++) {
		t += 1000 * ms
		print "request.begin 7 7", t, i
		# One of a hundred sleeps.
		if (i % 100 == 0) print "time.sleep 7 7", t + 91 * ms, 90 * ms, 0, 0, "sleep"
		print "lock.mutex 7 7", t + (i % 100 ? 4 : 95) * ms, 4 * ms, "0x1000", 0
		print "request.end 7 7", t + (i % 100 ? 5 : 96) * ms, i
	}
}' >"$tmp/lines"
"$compose" "$tmp/log" <"$tmp/lines" || exit 99

run 0 why --between 1000 1000.15 --utc "$tmp/log"
cp "$tmp/out" "$tmp/page"
check "the first line has the time" has out '^thread 7 of process 7 took 150\.0ms'
check "the second the cause: 40 ms of the holder's sleep" \
	has out '^Cause: 26\.7 % of that time (40\.00ms): sleeping: usleep()'
check "the third the way to it" \
	has out '^Chain: thread 7 -> waiting for mutex "queue" -> held by thread 9 -> sleeping: usleep()\.$'
check "the lock" test "$(part 'waiting for mutex "queue"')" = 40.0
check "its holder has all of it" test "$(part 'held by thread 9')" = 40.0
check "a file with its path" test "$(part 'read of /data/table')" = 6.7
check "a file has the number of bytes" has out 'read of /data/table.*4096 bytes'
check "a thread that was joined" test "$(part 'waiting for the end of a thread')" = 13.3
check "the own sleep" test "$(part 'sleeping: nanosleep()')" = 6.7
check "a child" test "$(part 'waiting for the end of process 20')" = 33.3
check "the child read a pipe" test "$(part 'read on descriptor 3')" = 20.0
check "that another process wrote" test "$(part 'probably written by thread 21 of process 21')" = 20.0
check "the writer of the pipe slept" test "$(part 'sleeping: poll()')" = 20.0
check "the rest is no call" test "$(part 'running, or ready to run')" = 6.7
check "the parts of the thread add up to 100 %" awk '
	/parts of the time/ { on = 1; next }
	/^$/ { on = 0 }
	on && /%  [^ ]/ { sum += $2 }
	END { exit !(sum > 99.7 && sum < 100.3) }' "$tmp/out"
check "the report names the missing data" has out 'does not say when threads had a CPU'
check "the report has the number of lost events" has out '; 0 events lost\.$'

run 0 why --thread 9 --between 1000 1000.06 "$tmp/log"
check "a thread can be chosen" has out '^thread 9 of process 7 took 60\.00ms'
check "its cause" has out '^Cause: 66\.7 % .*sleeping: usleep()'
run 0 why --span request "$tmp/log"
check "the slowest span" has out '^The span request of thread 7 .* took 150\.0ms'
run 0 why --span request --slowest 3 "$tmp/log"
check "as many as asked for" test "$(grep -c '^The span request' "$tmp/out")" = 3
run 0 why --slowest 2 "$tmp/log"
check "spans of any name are explained" test "$(grep -c '^The span ' "$tmp/out")" = 2
run 0 why --span request --aggregate "$tmp/log"
check "the slowest have a cause of their own" has out '^Cause: the slowest have .* more of: sleeping: '
check "the others the lock" has out '4\.000ms  waiting for mutex "queue"$'

if command -v python3 >/dev/null; then
	run 0 why --json --between 1000 1000.15 "$tmp/log"
	check "JSON has the same" python3 -c '
import json, sys
a = json.load(open(sys.argv[1]))["answers"][0]
assert a["ns"] == 150000000 and a["causes"][0]["kind"] == "sleep"
assert sum(p["ns"] for p in a["parts"]) == a["ns"]
assert sum(c["ns"] for c in a["causes"]) == a["ns"]' "$tmp/out"
	run 0 why --json --aggregate --span request "$tmp/log"
	check "also of all spans" python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$tmp/out"
fi

# Times at which threads had a CPU: 8 runs 10 ms, is preempted by 9 for 60 ms, sleeps for 20 of 30 ms and is
# ready for 10, and is blocked for 20 ms without a call.
awk 'BEGIN {
	print "type sched.in u32 cpu; @begin running"
	print "type sched.out u32 cpu; u8 reason{0=blocked,1=preempted}; @end running"
	print "type sched.wake s32 pid; s32 tid"
	print "type time.sleep ns time; s64 asked; errno error; str by"
	print "type note u32 n"
	ms = 1000000; t = 1000000000000
	print "sched.in 7 8", t, 2
	print "sched.out 7 8", t + 10 * ms, 2, 1
	print "sched.in 7 9", t + 10 * ms, 2
	print "sched.out 7 9", t + 70 * ms, 2, 0
	print "sched.in 7 8", t + 70 * ms, 2
	print "sched.out 7 8", t + 70 * ms, 2, 0
	print "sched.wake 7 8", t + 90 * ms, 7, 9
	print "sched.in 7 8", t + 100 * ms, 2
	print "time.sleep 7 8", t + 100 * ms, 30 * ms, 0, 0, "usleep"
	print "sched.out 7 8", t + 100 * ms, 2, 0
	print "sched.in 7 8", t + 120 * ms, 2
	print "note 7 8", t + 120 * ms, 1
}' | "$compose" "$tmp/states" || exit 99
run 0 why --thread 8 "$tmp/states"
check "without a CPU" test "$(part 'ready to run, but without a CPU')" = 58.3
check "another thread had the CPU" test "$(part ' %    the CPU ran thread 9')" = 50.0
check "asleep until it was woken" test "$(part 'sleeping: usleep()')" = 16.7
check "blocked without a call" test "$(part 'blocked, and no event says why')" = 16.7
check "on a CPU" test "$(part ' running')" = 8.3
check "the cause is the lack of a CPU" has out '^Cause: 58\.3 % .*ready to run, but without a CPU, in thread 8'
check "nothing is missing" lacks out 'does not say when threads had a CPU'

# The thread that woke another thread, and page faults. Thread 8 runs for 40 ms, in which 30 of 40
# samples are missing and 500 page faults happen. A thread of another process ends its read of 50 ms.
# Thread 8 is then ready for 10 ms, while thread 9 has the CPU that thread 8 gets afterwards. It sleeps
# twice for 19 ms, with other paths between, and waits 10 ms for a signal of thread 9. The only known fact
# about the last wait of 12 ms is that a device ended it.
awk 'BEGIN {
	print "type sched.in u32 cpu; @begin running"
	print "type sched.out u32 cpu; u8 reason{0=blocked,1=preempted}; u8 state; s32 next_pid; s32 next_tid; str next; @end running"
	print "type sched.wake u32 cpu; u8 context; s32 by_pid; s32 by_tid; str by"
	print "type sched.clock u64 error_ns; u32 anchors; u32 hz; str way"
	print "type cpu.sample u32 cpu; u32 stack"
	print "type cpu.fault u32 cpu; x64 address; u64 faults"
	print "type time.sleep ns time; s64 asked; errno error; str by"
	print "type io.open ns time; fd fd; errno error; s32 folder; x32 flags; x32 mode; str path"
	print "type io.read ns time; fd fd; errno error; u64 size; s64 result"
	print "type lock.cond ns time; ptr lock; ptr mutex; errno error"
	print "type note u32 n"
	ms = 1000000; t = 1000000000000
	print "sched.clock 7 7", t, 40, 20, 1000, "tracefs"
	print "sched.in 7 8", t, 2
	for (i = 0; i < 10; i++) print "cpu.sample 7 8", t + i * ms + 1, 2, 0
	for (i = 0; i < 5; i++) print "cpu.fault 7 8", t + (20 + i) * ms + 1, 2, 4096, 100
	print "sched.out 7 8", t + 40 * ms, 2, 0, 1, 0, 0, "idle"
	print "sched.in 7 9", t + 50 * ms, 2
	print "sched.wake 7 8", t + 90 * ms, 3, 0, 50, 55, "writer"
	print "sched.out 7 9", t + 100 * ms, 2, 0, 1, 7, 8, "x"
	print "sched.in 7 8", t + 100 * ms, 2
	print "io.read 7 8", t + 100 * ms, 60 * ms, 3, 0, 1, 1
	for (i = 0; i < 2; i++) {
		print "io.open 7 8", t + (100 + 20 * i) * ms, 10, 4, 0, 0, 0, 0, "/a/" i
		print "sched.out 7 8", t + (100 + 20 * i) * ms, 2, 0, 1, 0, 0, "idle"
		print "sched.wake 7 8", t + (119 + 20 * i) * ms, 2, 2, 0, 0, "interrupt"
		print "sched.in 7 8", t + (119 + 20 * i) * ms, 2
		print "time.sleep 7 8", t + (120 + 20 * i) * ms, 20 * ms, 0, 0, "usleep"
	}
	print "sched.out 7 8", t + 140 * ms, 2, 0, 1, 7, 9, "x"
	print "sched.in 7 9", t + 140 * ms, 2
	print "sched.wake 7 8", t + 150 * ms, 2, 0, 7, 9, "nine"
	print "sched.out 7 9", t + 150 * ms, 2, 0, 1, 7, 8, "x"
	print "sched.in 7 8", t + 150 * ms, 2
	print "lock.cond 7 8", t + 150 * ms, 10 * ms, "0x10", "0x20", 0
	print "sched.out 7 8", t + 150 * ms, 2, 0, 2, 0, 0, "idle"
	print "sched.wake 7 8", t + 162 * ms, 2, 1, 60, 66, "other"
	print "sched.in 7 8", t + 162 * ms, 2
	print "note 7 8", t + 200 * ms, 1
}' | "$compose" "$tmp/woken" || exit 99
run 0 why --thread 8 "$tmp/woken"
check "page faults" test "$(part ' page faults ')" = 15.0
check "their number" has out ' page faults  \[500x\]'
check "the waker of another process" \
	test "$(part 'woken by thread 55 of process 50 (writer), which was not recorded')" = 25.0
check "not by times alone" lacks out 'probably'
check "the CPU that it gets was another one's" test "$(part ' %    the CPU ran thread 9')" = 5.0
check "two sleeps of one place are one part" has out ' 19\.0 %  sleeping: usleep().*2x'
check "a recorded waker" test "$(part 'woken by thread 9')" = 5.0
check "a disk is no thread" test "$(part 'woken by an interrupt: a timer or a device')" = 6.0

# 30 of 40 samples are missing. Eight of the others are at the instruction that causes the page
# faults, half of these while it does. In the last 10 ms it is executed without page faults.
awk 'BEGIN {
	print "type sched.in u32 cpu; @begin running"
	print "type sched.clock u64 error_ns; u32 anchors; u32 hz; str way"
	print "type cpu.sample u32 cpu; u32 stack"
	print "type cpu.fault u32 cpu; x64 address; u64 faults"
	print "type note u32 n"
	ms = 1000000; t = 1000000000000
	print "sched.clock 7 7", t, 40, 20, 1000, "perf"
	print "sched.in 7 8", t, 2
	for (i = 0; i <= 30; i++) {
		print "cpu.fault 7 8", t + i * ms, "@0x1000", 2, 4096, 500
		if (i > 0 && i <= 4) print "cpu.sample 7 8", t + i * ms + ms / 2, "@0x1000", 2, 0
		if (i == 5 || i == 6) print "cpu.sample 7 8", t + i * ms + ms / 2, "@0x1003", 2, 0
	}
	for (i = 0; i < 4; i++) print "cpu.sample 7 8", t + (32 + i) * ms, "@0x1000", 2, 0
	print "note 7 8", t + 40 * ms, 1
}' | "$compose" "$tmp/returned" || exit 99
run 0 why --thread 8 "$tmp/returned"
check "samples at the end of page faults" test "$(part ' page faults ')" = 85.0
check "samples of the program" test "$(part ' running ')" = 15.0

# Two sleeps at two places of the program for which the log has no symbols, and reads from two pipes whose
# descriptors have one number, have equal labels: they are one part. So are the parts below it.
awk 'BEGIN {
	print "type time.sleep ns time; s64 asked; errno error; str by"
	print "type io.pipe ns time; errno error; x32 flags; fd fd; fd write"
	print "type io.read ns time; fd fd; errno error; u64 size; s64 result"
	print "type io.write ns time; fd fd; errno error; u64 size; s64 result"
	print "type io.close ns time; fd fd; errno error"
	print "type note u32 n"
	ms = 1000000; t = 1000000000000
	print "note 7 8", t, 1
	print "note 7 9", t, 1
	print "time.sleep 7 8", t + 10 * ms, "@0x1000", 10 * ms, 0, 0, "usleep"
	print "time.sleep 7 8", t + 30 * ms, "@0x2000", 20 * ms, 0, 0, "usleep"
	for (i = 0; i < 2; i++) {
		print "io.pipe 7 8", t + (31 + i * 30) * ms, 10, 0, 0, 3, 4
		print "time.sleep 7 9", t + (49 + i * 30) * ms, "@0x3000", 9 * ms, 0, 0, "usleep"
		print "io.write 7 9", t + (50 + i * 30) * ms, 1000, 4, 0, 1, 1
		print "io.read 7 8", t + (50 + i * 30) * ms, 10 * ms, 3, 0, 1, 1
		print "io.close 7 8", t + (51 + i * 30) * ms, 10, 3, 0
		print "io.close 7 8", t + (51 + i * 30) * ms + 100, 10, 4, 0
	}
	print "note 7 8", t + 100 * ms, 1
}' | "$compose" "$tmp/equal" || exit 99
run 0 why --thread 8 "$tmp/equal"
check "equal labels are one part" test "$(part ' sleeping: usleep()')" = 30.0
check "each label has one row below a part" test "$(grep -c ' sleeping: usleep()  \[' "$tmp/out")" = 2
check "one pipe after the other is one part" test "$(part 'read on descriptor 3 (pipe)')" = 20.0
check "the thread that wrote is one part, too" test "$(part 'written by thread 9')" = 20.0

# A wait for the page of a file follows a page fault, and no signal ends it.
awk 'BEGIN {
	print "type sched.in u32 cpu; @begin running"
	print "type sched.out u32 cpu; u8 reason{0=blocked,1=preempted}; u8 state; @end running"
	print "type exceptions:page_fault_user u32 cpu; x64 address; x64 ip"
	print "type note u32 n"
	ms = 1000000; t = 1000000000000
	print "sched.in 7 8", t, 2
	print "exceptions:page_fault_user 7 8", t + 10 * ms - 1000, 2, 4096, 0
	print "sched.out 7 8", t + 10 * ms, 2, 0, 2
	print "sched.in 7 8", t + 40 * ms, 2
	print "sched.out 7 8", t + 50 * ms, 2, 0, 2
	print "sched.in 7 8", t + 60 * ms, 2
	print "exceptions:page_fault_user 7 8", t + 70 * ms - 1000, 2, 4096, 0
	print "sched.out 7 8", t + 70 * ms, 2, 0, 1
	print "sched.in 7 8", t + 80 * ms, 2
	print "note 7 8", t + 100 * ms, 1
}' | "$compose" "$tmp/paged" || exit 99
run 0 why --thread 8 "$tmp/paged"
check "a page fault from a disk" test "$(part 'waiting for the data of a page fault')" = 30.0
check "other waits are none" test "$(part 'blocked, and no event says why')" = 20.0

# Thread 8 waits 40 ms for the initialiser that thread 9 executes. The log has the locks that threads held,
# but an initialiser is none of them.
awk 'BEGIN {
	print "type lock.once ns time; ptr lock; errno error; s32 owner"
	print "type lock.mutex_held ns time; ptr lock"
	print "type time.sleep ns time; s64 asked; errno error; str by"
	print "type note u32 n"
	print "object 7 0x1000 ready"
	ms = 1000000; t = 1000000000000
	print "note 7 8", t, 1
	print "note 7 9", t, 1
	print "lock.mutex_held 7 9", t + 5 * ms, 2 * ms, "0x2000"
	print "time.sleep 7 9", t + 40 * ms, 30 * ms, 0, 0, "usleep"
	print "lock.once 7 8", t + 45 * ms, 40 * ms, "0x1000", 0, 9
	print "lock.once 7 8", t + 75 * ms, 20 * ms, "0x3000", 0, 0
	print "note 7 8", t + 100 * ms, 1
}' | "$compose" "$tmp/once" || exit 99
run 0 why --thread 8 "$tmp/once"
check "a wait for an initialiser" test "$(part 'waiting for once "ready"')" = 40.0
check "the thread that executes it" test "$(part 'probably held by thread 9')" = 40.0
check "this thread slept" test "$(part 'sleeping: usleep()')" = 30.0
check "an initialiser of an unknown thread" test "$(part 'waiting for once 0x3000')" = 20.0

# Functions of the Java virtual machine: a wait with a time limit is a sleep of the Java program. A wait that
# was ended, and a vain wait of another function, are none.
awk 'BEGIN {
	print "type lock.cond ns time; ptr lock; ptr mutex; errno error"
	print "type note u32 n"
	print "mapping 7 0x1000 0x2000 0 0 0 end - \"[jit] os::PlatformEvent::park\""
	print "mapping 7 0x2000 0x3000 0 0 0 end - \"[jit] Parker::park\""
	print "mapping 7 0x3000 0x4000 0 0 0 end - \"[jit] Timer::parked\""
	ms = 1000000; t = 1000000000000; late = 110
	print "note 7 8", t, 1
	print "lock.cond 7 8", t + 40 * ms, "@0x1010", 40 * ms, "0x10", "0x20", late
	print "lock.cond 7 8", t + 70 * ms, "@0x2010", 30 * ms, "0x30", "0x20", late
	print "lock.cond 7 8", t + 90 * ms, "@0x1010", 20 * ms, "0x10", "0x20", 0
	print "lock.cond 7 8", t + 100 * ms, "@0x3010", 10 * ms, "0x40", "0x20", late
	print "note 7 8", t + 100 * ms, 1
}' | "$compose" "$tmp/java" || exit 99
run 0 why --thread 8 "$tmp/java"
check "a sleep of Java" test "$(part 'of Java with a time limit does, in os::PlatformEvent::park ')" = 40.0
check "a wait of java.util.concurrent" test "$(part 'of Java with a time limit does, in Parker::park ')" = 30.0
check "a wait of Java that was ended" test "$(part 'waiting for a signal of cond 0x10 in os::')" = 20.0
check "a wait of another function" test "$(part 'waiting in vain for a signal of an unnamed cond')" = 10.0

# The log lacks a close() of each of these descriptors. accept() and pipe() make one without a path, dup2()
# gives one the path of another.
awk 'BEGIN {
	print "type io.open ns time; fd fd; errno error; s32 folder; x32 flags; x32 mode; str path"
	print "type io.read ns time; fd fd; errno error; u64 size; s64 result"
	print "type io.dup ns time; errno error; fd fd; fd copy; x32 flags"
	print "type io.pipe ns time; errno error; fd fd; fd write; x32 flags"
	print "type net.accept ns time; fd fd; errno error; fd accepted; str address"
	ms = 1000000; t = 1000000000000
	for (fd = 5; fd <= 8; fd++)
		print "io.open 7 7", t + fd, 1, fd, 0, -100, 0, 0, "/data/" fd
	print "net.accept 7 7", t + 1000, 100, 3, 0, 5, "local"
	print "io.dup 7 7", t + 2000, 100, 0, 8, 6, 0
	print "io.pipe 7 7", t + 3000, 100, 0, 7, 9, 0
	for (fd = 5; fd <= 8; fd++)
		print "io.read 7 7", t + fd * 20 * ms, fd * ms, fd, 0, 100, 100
}' | "$compose" "$tmp/reused" || exit 99
run 0 why --thread 7 "$tmp/reused"
check "a connection has no path" has out 'waiting for data from the client local in read()'
check "a copy has the path of the other" has out 'read of /data/8'
check "it hides the path before" lacks out 'read of /data/[567]'
check "a pipe has no path" has out 'read on descriptor 7'

# Two threads that wait for each other do not make an endless chain. Impossible times do no harm.
awk 'BEGIN {
	print "type io.read ns time; s32 fd; errno error; u64 size; s64 result"
	print "type io.write ns time; s32 fd; errno error; u64 size; s64 result"
	print "type lock.mutex ns time; ptr lock; errno error"
	print "type lock.mutex_held ns time; ptr lock"
	print "type sched.in u32 cpu; @begin running"
	t = 1000000000000
	for (i = 0; i < 100; i++) for (n = 1; n < 5; n++) {
		t += 1000
		print "io.read 7", n, t, 500000, 3, 0, 10, 5
		print "io.write 7", n, t, 400000, 4, 0, 10, 5
		print "lock.mutex 7", n, t, 300000, "0x1000", 0
		print "lock.mutex_held 7", n, t, 900000, "0x1000"
	}
	print "io.read 7 1", t, "18446744073709551615", 3, 0, 10, 5
	print "io.read 7 1", t, "9223372036854775807", 3, 0, 10, 5
	print "sched.in 7 1", 5, 1
	print "sched.in 7 1", 4, 99999
}' | "$compose" "$tmp/circle" || exit 99
run 0 why --thread 2 "$tmp/circle"
check "a circle ends" has out '^Evidence: '
run 0 why "$tmp/circle"

"$make_log" plain "$tmp/plain.log" 100 >/dev/null || exit 99
run 0 why "$tmp/plain.log"
check "a log without durations has an answer, too" has out '^Cause: '
run 1 why --thread 12345 "$tmp/log"
check "an unknown thread" has err '--thread 12345: .* has no events of such a thread'
run 1 why --span nothing "$tmp/log"
check "an unknown span" has err "no complete span nothing; 'posixtrace latency LOG' lists the spans$"
run 2 why --aggregate "$tmp/log"
check "--aggregate needs a name" has err '--aggregate needs --span'
run 2 why --slowest 0 "$tmp/log"
run 2 why --slowest 1001 "$tmp/log"
check "the limit" has err 'not a number from 1 to 1000'
run 2 why --between 1 "$tmp/log"
run 2 why --between yesterday today "$tmp/log"
check "no times" has err '--between yesterday: not a time such as'
run 2 why --between 1
check "one time only" has err 'the second time is missing'
run 2 why --span x --thread 3 "$tmp/log"
run 2 why
check "no log" has err 'why: the name of a log is missing'
run 1 why "$tmp/none"
head -c 3000 "$tmp/log" >"$tmp/short"
run 1 why "$tmp/short"
size=$(wc -c <"$tmp/log")
head -c $((size * 9 / 10)) "$tmp/log" >"$tmp/cut"
run 3 why --thread 7 "$tmp/cut"
check "a damaged log is explained, with a message" has out '^Cause: '

# A program without symbols: the tables for unwinders have the begins of its functions. nm prints the
# same addresses before the symbols are removed. Two calls of one function have the same name.
cat >"$tmp/stripped.c" <<'END'
#include <unistd.h>
static volatile int n;
__attribute__((noinline)) static void first_one(void) { n++; usleep(1000); n += 2; usleep(2000); n++; }
__attribute__((noinline)) static void second_one(void) { n--; usleep(3000); n -= 3; }
int main(void) { first_one(); second_one(); return n > 100; }
END
# begin FUNCTION: its address, as posixtrace writes it.
begin() { sed -n "s/^0*\([0-9a-f]*\) t $1\$/function 0x\1 of stripped\$/p" "$tmp/symbols"; }
if has_shim && ${CC:-cc} -O1 -Wl,--build-id=sha1 -o "$tmp/stripped" "$tmp/stripped.c" 2>"$tmp/err" &&
	nm "$tmp/stripped" >"$tmp/symbols" && strip "$tmp/stripped"; then
	POSIXTRACE_PRELOAD=$shim run 0 record -q -o "$tmp/stripped.ptl" -- "$tmp/stripped"
	run 0 why --json "$tmp/stripped.ptl"
	if "$posixtrace" symbols "$tmp/stripped.ptl" 2>&1 | grep -q 'built without'; then
		echo "functions are not known: built without elfutils"
	else
		tr ',' '\n' <"$tmp/out" | sed -n 's/^"what":"\(sleeping[^"]*\)"/\1/p' >"$tmp/names"
		check "two calls of the first function" has names "$(begin first_one)"
		check "one of the second" has names "$(begin second_one)"
		check "no other address" lacks names '+0x'
	fi
fi
finish
