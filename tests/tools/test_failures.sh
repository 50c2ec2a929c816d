#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# why says first how a program failed: the calls that failed before it gave up, the child because of which
# it failed, the place of a crash, and the sender of a signal.
: "${CC:=cc}"
. "${0%/*}/lib.sh"

if nm "$posixtrace" 2>/dev/null | grep -q '__[at]san_init'; then
	skip "programs are linked here without the sanitizer"
fi
POSIXTRACE_PRELOAD=$shim
export POSIXTRACE_PRELOAD
ulimit -c 0

cat >"$tmp/fails.c" <<'END'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program looks for a file, and gives up. Reading its messages and an empty pipe are no failures. */
static int look(void)
{
	int pipes[2];
	char byte;
	struct stat status;

	stat("/nonexistent/first", &status);
	open("/nonexistent/config", O_RDONLY);
	open("/nonexistent/locale/de.mo", O_RDONLY);
	if (pipe2(pipes, O_NONBLOCK) || read(pipes[0], &byte, 1) != -1 || errno != EAGAIN)
		return 99;
	return 7;
}

/* A connection without waiting: the error is the result of getsockopt(). */
static int refused(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), error = 0;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct pollfd wait = { .fd = fd, .events = POLLOUT };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) ||
	    getsockname(listener, (struct sockaddr *)&address, &bytes))
		return 99;
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return 99;
	bytes = sizeof(error);
	poll(&wait, 1, 10000);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
	return error || errno == ECONNREFUSED ? 4 : 99;
}

static void *nothing(void *arg)
{
	return arg;
}

/* Memory for the stacks of threads is limited. */
static int many_threads(void)
{
	const struct rlimit limit = { 256 << 20, 256 << 20 };
	pthread_attr_t large;
	pthread_t thread;

	pthread_attr_init(&large);
	pthread_attr_setstacksize(&large, 1 << 30);
	return !setrlimit(RLIMIT_AS, &limit) &&
	       pthread_create(&thread, &large, nothing, NULL) == EAGAIN ? 5 : 99;
}

__attribute__((noinline)) static int follow(int **pointer)
{
	return *pointer[2];
}

__attribute__((noinline)) static void check_value(int value)
{
	if (value > 1)
		abort();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "look"))
		return look();
	if (!strcmp(mode, "refused"))
		return refused();
	if (!strcmp(mode, "hang")) {
		int pipes[2];
		char byte;

		return pipe(pipes) || read(pipes[0], &byte, 1);
	}
	if (!strcmp(mode, "again"))
		return many_threads();
	if (!strcmp(mode, "null"))
		return follow(NULL);
	if (!strcmp(mode, "abort"))
		check_value(argc);
	if (!strcmp(mode, "good")) {
		struct stat status;

		return stat("/nonexistent/first", &status) ? 0 : 1;
	}
	if (!strcmp(mode, "killer")) {
		pid_t child = fork();

		if (!child)
			for (;;)
				pause();
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		return 3;
	}
	return 0;
}
END
$CC -g -O1 -Wl,--build-id=sha1 -o "$tmp/fails" "$tmp/fails.c" -pthread || skip "no compiler for programs"
fails=$tmp/fails

# explains STATUS OPTION... -- PROGRAM: record it, and let why explain the log.
explains() {
	status=$1
	shift
	"$posixtrace" record -q --force -o "$tmp/log.ptl" "$@" >"$tmp/log.out" 2>&1
	check "it ends with $status: $*" test $? = "$status"
	run 0 why --utc "$tmp/log.ptl"
}

# A line of the output with this number.
line() {
	sed -n "$1p" "$tmp/out"
}

explains 7 -- "$fails" look
check "the exit status is first" has out '^Failure: process [0-9]* (fails) exited with 7; its last calls that failed:$'
check "the last failed call comes first" sh -c "sed -n 2p '$tmp/out' | grep -q ' before: io.open \"/nonexistent/config\": ENOENT (No such file or directory) in look (fails.c:[0-9]*)$'"
check "then the one before" sh -c "sed -n 3p '$tmp/out' | grep -q ' before: file.stat \"/nonexistent/first\": ENOENT'"
check "then the answer about the time" sh -c "sed -n 4p '$tmp/out' | grep -q '^thread '"
# The answer about the time follows, and may name such a file.
check "catalogs and empty pipes are no failures" sh -c "! sed '/^thread /,\$d' '$tmp/out' | grep -q 'locale\|EAGAIN'"
run 0 why --json "$tmp/log.ptl"
check "JSON" has out '"failures":\[{"pid":[0-9]*,"name":"fails","code":7,"signal":0,"at":"[0-9]*","at_ns":"[0-9]*","at_end":"","failed_calls":\[{"event":"io.open","path":"/nonexistent/config","error":2,"error_name":"ENOENT","function":"look (fails.c:[0-9]*)"'

# A question about a part of the log has no failures in its answer.
run 0 why --thread fails "$tmp/log.ptl"
check "--thread has no failures" lacks out '^Failure'
run 0 why --json --begin +0s "$tmp/log.ptl"
check "--begin has none in JSON" has out '"failures":\[\]'

explains 4 -- "$fails" refused
check "a connection that was refused later" has out 'net.connect "127.0.0.1:[0-9]*": ECONNREFUSED (Connection refused) in refused'

explains 0 -- "$fails" good
check "a program that exits with 0 has not failed" lacks out '^Failure'

# A program that fails by itself after a child did: its own calls after the child's end are there.
explains 3 -- sh -c "'$fails' look; cd /nonexistent-folder || exit 3"
check "the failed call of the shell" sh -c "sed -n 2p '$tmp/out' | grep -q ' before: file.chdir \"/nonexistent-folder\": ENOENT'"
check "the child that failed before" has out '^Failure before: process [0-9]* (fails) exited with 7'

# The same error is ordinary for one call and a failure of another one.
explains 5 -- "$fails" again
check "EAGAIN of a call that makes a thread" has out ' before: thread.create: EAGAIN'

# The calls before exec are not those of the program.
explains 7 -- sh -c "cd /nonexistent-folder; exec '$fails' look"
# The call may be slow enough for a line of the times.
check "calls of the program before exec are left out" lacks out ' before: file.chdir'

# A program that hangs until a user kills it: the question is where it hangs.
"$posixtrace" record -q --force -o "$tmp/log.ptl" "$fails" hang >/dev/null 2>&1 &
recorder=$!
until "$posixtrace" dump -e posixtrace_blocked "$tmp/log.ptl" 2>/dev/null | grep -q posixtrace_blocked; do
	kill -0 $recorder 2>/dev/null || break
	sleep 0.1
done
kill -KILL "$("$posixtrace" dump -e posixtrace_blocked "$tmp/log.ptl" 2>/dev/null |
	sed -n 's/.* posixtrace_blocked pid=\([0-9]*\) .*/\1/p' | head -n 1)"
wait $recorder
run 0 why "$tmp/log.ptl"
check "a program that hung has not failed" lacks out '^Failure'
check "the answer is where it hung" has out '^Cause: .*waiting for data in read() .*until SIGKILL ended the process'

# A program that is missing.
explains 127 -- sh -c 'exec /nonexistent/program'
check "the program that could not be executed" has out ' before: process.exec_failed "/nonexistent/program": ENOENT'

# A shell fails because of its last child.
explains 7 -- sh -c "'$fails' good; '$fails' null; '$fails' look; exit \$?"
check "the shell" has out '^Failure: process [0-9]* (sh) exited with 7\.$'
check "its child" has out '^Failure before: process [0-9]* (fails) exited with 7; its last calls that failed:$'
check "the crash of an earlier child is named, too" has out "^Crash: process [0-9]* (fails) was killed by SIGSEGV, .* after its last event, .*; 'posixtrace record --crash' records the place\.$"

# The child may record its begin before the signal ends it.
explains 3 -- "$fails" killer
check "the sender of a signal" has out '^Failure before: process [0-9]*\( (fails)\)* was killed by SIGKILL, sent by process [0-9]* (fails); \(the log has none of its calls\|none of its recorded calls failed\)\.$'
explains 137 -- sh -c 'kill -9 $$'
check "a process that ends itself" has out '^Failure: process [0-9]* ([a-z]*) was killed by SIGKILL, sent by itself; none'
check "it has no line about its end" lacks out '^  at the end: '
# Without the family process, the log does not have the sender.
explains 137 --trace file -- sh -c 'kill -9 $$'
check "an unknown sender" has out '^Failure: process [0-9]* ([a-z]*) was killed by SIGKILL, and the log does not say by which process; none'

# The place of a crash.
if "$posixtrace" record -q --crash --force -o "$tmp/log.ptl" "$fails" null >/dev/null 2>&1
"$posixtrace" dump -e crash.frame "$tmp/log.ptl" 2>/dev/null | grep -q .; then
	run 0 why "$tmp/log.ptl"
	check "a null pointer" has out '^Crash: process [0-9]* (fails) got SIGSEGV: address not mapped, 0x10 (a null pointer), in follow (fails.c:[0-9]*)'
	check "a crash is no second failure" lacks out '^Failure'
	run 0 why --json "$tmp/log.ptl"
	check "JSON: crashes" has out '"crashes":\[{"pid":[0-9]*,"tid":[0-9]*,"name":"fails","signal":"SIGSEGV","reason":"address not mapped","message":"","fault":"0x10","at":"[0-9]*","at_ns":"[0-9]*","frames":\["follow (fails.c:'
	"$posixtrace" record -q --crash --force -o "$tmp/log.ptl" "$fails" abort >/dev/null 2>&1
	run 0 why "$tmp/log.ptl"
	"$posixtrace" record -q --crash --force -o "$tmp/log.ptl" sh -c 'kill -QUIT $$' >/dev/null 2>&1
	run 0 why "$tmp/log.ptl"
	check "a signal from the terminal is one crash" sh -c "! grep -q '^Failure' '$tmp/out'"
	"$posixtrace" record -q --crash --force -o "$tmp/log.ptl" "$fails" abort >/dev/null 2>&1
	run 0 why "$tmp/log.ptl"
	check "abort() is the reason, and its frames are left out" has out '^Crash: process [0-9]* (fails) got SIGABRT: abort() was called, in \(check_value\|main\) (fails.c:[0-9]*)'
fi
finish
