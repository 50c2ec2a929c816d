#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# attach and record -p with --function and --probe: a process whose threads run all the time is
# patched and restored, again and again. It checks its own results.
. "${0%/*}/lib.sh"

POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD
test "$(uname -m)" = x86_64 || skip "functions are patched on x86-64 only"
"$posixtrace" list --probes "$probe" 2>&1 | grep -q 'built without' && skip "no Zydis or libelf"
# shellcheck disable=SC2086 # $CC is a command with arguments
${CC:-cc} -O1 -w -pthread -o "$tmp/running" "$here/probe_running.c" || exit 99

mkfifo "$tmp/end"
# start PROGRAM...: starts it in the background as $pid; finish_program lets it end
start() {
	: >"$tmp/running.out" # "runs" of the program before
	"$@" <"$tmp/end" >"$tmp/running.out" 2>&1 &
	pid=$!
	exec 9>"$tmp/end"
	until grep -q runs "$tmp/running.out"; do sleep 0.02; done
}
finish_program() {
	exec 9>&-
	wait $pid
}
# code [THREAD]: the program's code in memory, by a thread that has not ended
code() {
	line=$(grep -m 1 'r-xp.*/running$' /proc/${1:-$pid}/maps)
	last=${line%% *}
	first=$((0x${line%%-*} / 4096))
	dd if=/proc/${1:-$pid}/mem bs=4096 skip=$first count=$((0x${last#*-} / 4096 - first)) \
		2>/dev/null | cksum
}
# The program's semaphore in memory. The file is linked without a fixed address.
semaphore() {
	base=$(grep -m 1 '/running$' /proc/$pid/maps)
	offset=$(nm "$tmp/running" | sed -n 's/ . shop_counted_semaphore$//p')
	dd if=/proc/$pid/mem bs=2 skip=$(((0x${base%%-*} + 0x$offset) / 2)) count=1 2>/dev/null |
		od -A n -t u2 | tr -d ' '
}
# patched TRACER: waits until this tracer has changed the code; false: it has ended before
patched() {
	until test "$before" != "$(code)"; do
		kill -0 "$1" 2>/dev/null || return 1
		sleep 0.02
	done
}
# ended_stream: waits until the guardian has completed the log of a killed tracer. The next tracer
# removes its jumps when it begins only if no stream of the process is active.
ended_stream() {
	tries=3000
	while "$posixtrace" list 2>/dev/null | grep -q "^ *$pid " && test $tries -gt 0; do
		tries=$((tries - 1))
		sleep 0.02
	done
	test $tries -gt 0
}
count() { "$posixtrace" dump -e "$1" "$log" 2>/dev/null | wc -l; }
# attached OPTION...: traces for a moment
attached() {
	rm -f "$log"
	run 0 attach -p $pid -o "$log" -d 100ms "$@"
}

start "$tmp/running"
if ! "$posixtrace" attach -p $pid -o "$tmp/first" -d 1ms 2>"$tmp/err"; then
	finish_program
	skip "no process can be attached here: $(cat "$tmp/err")"
fi
before=$(code)

attached --function '*@running' --probe 'shop:[pc]*'
check "functions are traced" test "$(count func.call)" -gt 0
check "a probe is traced" test "$(count shop:probed)" -gt 0
check "its semaphore is set" test "$(count shop:counted)" -gt 0
check "the plan is printed" has err '^posixtrace: --probe: 2 probes are traced at 2 places$'
check "the log is sound" "$posixtrace" verify "$log"
check "the code is as before" test "$before" = "$(code)"
check "the semaphore is as before" test "$(semaphore)" = 0
for i in 1 2 3 4 5 6 7 8; do
	attached --function 'fib*' --trace none
	check "$i: one function is traced" test "$(count func.call)" -gt 0
	attached --probe shop:probed
	check "$i: one probe is traced, no other, and no function" \
		test "$(count shop:probed)" -gt 0 -a "$(count 'shop:c*')$(count func.call)" = 00
done
check "after all that the code is as before" test "$before" = "$(code)"

rm -f "$log"
run 0 record -p $pid -o "$log" -d 100ms --function 'leaves' --probe 'shop:t*(u16)'
check "record does the same" test "$(count func.call)" -gt 0 -a "$(count shop:typed)" -gt 0
check "types can be given" test "$("$posixtrace" stat "$log" | grep -c 'shop:typed: u16 arg1$')" -eq 1
run 1 attach -p $pid -o "$tmp/none" --probe 'shop:typed(s32)'
check "other types in the same process are refused" has err 'an earlier trace has given other types to the values of a probe'

# A tracer that is killed leaves jumps, which the next one removes.
"$posixtrace" attach -p $pid -o "$tmp/killed" --function 'fib*' 2>"$tmp/killed.err" &
tracer=$!
check "a tracer has changed the code" patched $tracer
kill -KILL $tracer
wait $tracer 2>/dev/null
check "the killed tracer has left jumps" test "$before" != "$(code)"
attached --function 'fib*'
check "after a killed tracer functions are traced" test "$(count func.call)" -gt 0
check "after a killed tracer the code is as before" test "$before" = "$(code)"

# The same with another plan, and with a semaphore, which is not counted twice.
"$posixtrace" attach -p $pid -o "$tmp/killed.too" --function 'fib*' --probe shop:counted \
	2>"$tmp/killed.err" &
tracer=$!
check "another tracer has changed the code" patched $tracer
kill -KILL $tracer
wait $tracer 2>/dev/null
check "the semaphore is set" test "$(semaphore)" = 1
check "the stream of the killed tracer ends" ended_stream
attached --probe shop:probed
check "another plan is traced after a killed tracer" test "$(count shop:probed)" -gt 0
check "the killed tracer's plan is traced no more" \
	test "$(count 'shop:c*')$(count func.call)" = 00
check "another plan leaves the code as before" test "$before" = "$(code)"
check "the semaphore of a killed tracer is 0 again" test "$(semaphore)" = 0

# A process that is stopped when the tracer leaves. It remains stopped.
"$posixtrace" attach -p $pid -o "$tmp/stopped" --function 'fib*' --probe 'shop:[pc]*' \
	2>"$tmp/stopped.err" &
tracer=$!
check "a third tracer has changed the code" patched $tracer
until test -s "$tmp/stopped" || ! kill -0 $tracer 2>/dev/null; do sleep 0.02; done
kill -STOP $pid
# kill(1) returns before all threads have stopped.
until test -z "$(sed -n '/^State:.[^T]/p' /proc/$pid/task/*/status)"; do sleep 0.02; done
kill -INT $tracer
wait $tracer
check "a stopped process is restored" test "$before" = "$(code)"
check "the semaphore of a stopped process is 0 again" test "$(semaphore)" = 0
check "the message says that its calls still lead through the library" \
	grep -q 'its calls still pass through the library' "$tmp/stopped.err"
check "the message says why" grep -q 'it is stopped' "$tmp/stopped.err"
check "it is still stopped" grep -q '^State:.T' /proc/$pid/status
kill -CONT $pid
attached --function 'fib*'
check "later it is traced again" test "$(count func.call)" -gt 0

# Two tracers: the first one that leaves does not remove the jumps of the other.
for i in 1 2; do
	"$posixtrace" attach -p $pid -o "$tmp/both.$i" --trace none --function 'fib*' 2>"$tmp/both.err.$i" &
	tracer=$!
	until test -s "$tmp/both.$i" || ! kill -0 $tracer 2>/dev/null; do sleep 0.02; done
	test $i -eq 1 && one=$tracer
done
kill -INT $one
wait $one
check "one of two tracers has left the jumps" test "$before" != "$(code)"
# While all threads call the functions of one plan, others are carried out and end: each changes the
# file into which the threads note their calls.
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	rm -f "$tmp/more"
	run 0 attach -p $pid -o "$tmp/more" -d 1ms --trace none --function "fib*" --function "leav*"
	check "$i: a plan during another one has calls of its functions, or none in its millisecond" \
		"$posixtrace" verify "$tmp/more"
done
check "the threads survive it" kill -0 $pid
kill -INT $tracer
wait $tracer
check "the last of two tracers has removed them" test "$before" = "$(code)"
"$posixtrace" attach -p $pid -o "$tmp/both.3" --trace none --function 'fib*' 2>"$tmp/both.err.3" &
tracer=$!
# Until the log names its guardian: without a guardian, a killed recorder's stream does not end.
guarded() { od -An -tu4 -j 3784 -N 4 "$tmp/both.3" 2>/dev/null | grep -q '[1-9]'; }
until guarded || ! kill -0 $tracer 2>/dev/null; do sleep 0.02; done
kill -KILL $tracer
wait $tracer 2>/dev/null
check "its stream ends" ended_stream
attached --trace none --function 'fib*'
check "a killed one does not hold them" test "$before" = "$(code)"

# Functions that are refused.
run 1 attach -p $pid -o "$tmp/none" --function nothing_of_this_name
check "no match is an error" has err 'no function of process [0-9]* and its libraries matches'
check "it makes no log" test ! -e "$tmp/none"
run 1 attach -p $pid -o "$tmp/none" --function 'malloc@libc.so.6'
check "the C library is refused" has err 'the trace itself uses this library'
run 2 attach -p $pid -o "$tmp/none" --probe wrong
finish_program
check "the program found no wrong result" grep -qx 'ends 0' "$tmp/running.out"

# A main thread that ends before the others, while the process is traced.
start "$tmp/running" main-thread-ends
"$posixtrace" attach -p $pid -o "$tmp/main" --function 'fib*' 2>"$tmp/main.err" &
tracer=$!
check "a process is changed whose main thread will end" patched $tracer
until test -s "$tmp/main" || ! kill -0 $tracer 2>/dev/null; do sleep 0.02; done
echo >&9
until grep -q '^State:.Z' /proc/$pid/status; do sleep 0.02; done
kill -INT $tracer
wait $tracer
tid=$(ls /proc/$pid/task | tail -n 1)
check "it is restored without its main thread" test "$before" = "$(code $tid)"
finish_program

# Probes alone: the library is loaded for them.
start "$tmp/running"
attached --trace none --probe 'shop:p*'
check "a probe needs no family of calls" test "$(count shop:probed)" -gt 0
finish_program
check "that program found no wrong result, too" grep -qx 'ends 0' "$tmp/running.out"

# A program that record has started, and is attached to meanwhile.
start "$posixtrace" record -q -o "$tmp/outer" --trace time "$tmp/running"
outer=$pid
pid=$(pgrep -P $outer running)
attached --function 'fib*'
check "a process with the library is patched, too" test "$(count func.call)" -gt 0
pid=$outer
finish_program
check "it found no wrong result" grep -qx 'ends 0' "$tmp/running.out"

# A thread that waits for a message in recvmmsg(2) does not delay the end of a trace.
cat >"$tmp/messages.c" <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>
static void *receives(void *arg)
{
	static char byte[2];
	struct iovec part[2] = { { &byte[0], 1 }, { &byte[1], 1 } };
	struct mmsghdr message[2] = { { { .msg_iov = &part[0], .msg_iovlen = 1 } },
				      { { .msg_iov = &part[1], .msg_iovlen = 1 } } };
	printf("ends %d\n", recvmmsg(*(int *)arg, message, 2, MSG_WAITFORONE, NULL));
	return NULL;
}
__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); usleep(1000); }
int main(int argc, char **argv)
{
	int ends[2];
	char c;
	pthread_t thread;
	socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
	pthread_create(&thread, NULL, receives, &ends[0]);
	printf("runs\n");
	fflush(stdout);
	while (access(argv[1], F_OK))
		leaf();
	write(ends[1], "", 1);
	pthread_join(thread, NULL);
	return 0;
}
C
mkdir "$tmp/m"
# shellcheck disable=SC2086
${CC:-cc} -O1 -w -pthread -o "$tmp/m/running" "$tmp/messages.c" || exit 99
start "$tmp/m/running" "$tmp/m/end"
before=$(code)
attached --function 'leaf'
check "a process with a thread in recvmmsg() is traced" test "$(count func.call)" -gt 0
check "the code of this process is restored" test "$before" = "$(code)"
: >"$tmp/m/end"
finish_program
check "it gets its message" grep -qx 'ends 1' "$tmp/running.out"

# Stacks of two threads in one mapping, with a guard between them that cannot be read. The C library
# makes such stacks since glibc 2.42, on kernels that have these guards (Linux 6.13). A third stack is
# at the begin of a large mapping.
cat >"$tmp/guard.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#define STACK 0x40000
static volatile int ends, count;
__attribute__((noinline)) void leaf(void) { count = count * 3 + 1; }
static void *calls(void *arg)
{
	while (!ends)
		leaf();
	return arg;
}
int main(void)
{
	char *stacks = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *pool = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_t thread[3];
	if (madvise(stacks + STACK, 4096, 102)) /* MADV_GUARD_INSTALL */
		return 77;
	for (int i = 0; i < 3; i++) {
		pthread_attr_t attr;
		pthread_attr_init(&attr);
		if (i < 2)
			pthread_attr_setstack(&attr, stacks + i * STACK + 4096 * i, STACK - 4096 * i);
		else
			pthread_attr_setstack(&attr, pool, STACK);
		pthread_create(&thread[i], &attr, calls, NULL);
	}
	printf("runs\n");
	fflush(stdout);
	getchar();
	ends = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	puts("ends");
	return 0;
}
C
mkdir "$tmp/g"
# shellcheck disable=SC2086
${CC:-cc} -O1 -w -pthread -o "$tmp/g/running" "$tmp/guard.c" || exit 99
if "$tmp/g/running" </dev/null >"$tmp/out"; then
	start "$tmp/g/running"
	attached --function 'leaf'
	check "a process whose stacks have guards in one mapping is traced" test "$(count func.call)" -gt 0
	finish_program
	check "it goes on" grep -qx ends "$tmp/running.out"
else
	echo "no guards in mappings: not tested"
fi

finish
