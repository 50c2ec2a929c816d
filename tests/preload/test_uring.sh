#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Requests and answers of io_uring, in a program that uses liburing as a shared library.
. "${0%/*}/lib.sh"
. "$top_srcdir/tests/tools/targets.sh"

cat >"$tmp/ring.c" <<'EOT'
#include <fcntl.h>
#include <liburing.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef MODULE
# define main module
#endif

#define MUST(condition) do { if (!(condition)) { puts(#condition); return 1; } } while (0)

static void prepare(struct io_uring *ring, int fd, void *buffer, unsigned size, unsigned long long data)
{
	struct io_uring_sqe *one = io_uring_get_sqe(ring);

	io_uring_prep_read(one, fd, buffer, size, 3);
	one->user_data = data;
}

static void *wait_for_end(void *unused)
{
	pause();
	return unused;
}

int main(void)
{
	struct __kernel_timespec soon = { 0, 1000 };
	struct io_uring_cqe *answer, *several[8];
	struct io_uring_params params;
	struct io_uring ring;
	const char *folder = getenv("RING_FOLDER");
	int fd = folder && !chdir(folder) ? open("text", O_RDONLY) : -1;
	char buffer[16];

	pthread_t thread;

	memset(&params, 0, sizeof params);
	if (io_uring_queue_init(4, &ring, 0) < 0)
		return 77;
	if (getenv("RING_THREAD"))
		MUST(!pthread_create(&thread, 0, wait_for_end, 0));
	MUST(fd >= 0);
	prepare(&ring, fd, buffer, 7, 0x1111);
	prepare(&ring, -1, buffer, 5, 0x2222);
	MUST(io_uring_submit(&ring) == 2);
	for (int i = 0; i < 2; i++) {
		MUST(io_uring_wait_cqe(&ring, &answer) == 0);
		io_uring_cqe_seen(&ring, answer);
	}
	prepare(&ring, fd, buffer, 4, 0x3333);
	MUST(io_uring_submit_and_wait(&ring, 1) == 1);
	MUST(io_uring_peek_batch_cqe(&ring, several, 8) == 1 && several[0]->res == 4);
	io_uring_cq_advance(&ring, 1);
	MUST(io_uring_wait_cqe_timeout(&ring, &answer, &soon) == -62);
	/* More answers than the ring has room for, each of them taken at once without a call. */
	for (int i = 0; i < 40; i++) {
		prepare(&ring, fd, buffer, 1, 0x4000 + i);
		MUST(io_uring_submit_and_wait(&ring, 1) == 1);
		MUST(io_uring_peek_cqe(&ring, &answer) == 0 && answer->res == 1);
		io_uring_cqe_seen(&ring, answer);
	}
	io_uring_queue_exit(&ring);
	MUST(io_uring_queue_init_params(2, &ring, &params) == 0);
	prepare(&ring, fd, buffer, 2, 0x5555);
	MUST(io_uring_submit_and_wait(&ring, 1) == 1);
	io_uring_queue_exit(&ring);
	/* Many answers of one call, in all places of the ring. */
	MUST(!getenv("RING_THREAD") || io_uring_queue_init(64, &ring, 0) == 0);
	for (int i = 0; i < 4 && getenv("RING_THREAD"); i++) {
		for (int k = 0; k < 50; k++) {
			struct io_uring_sqe *one = io_uring_get_sqe(&ring);

			io_uring_prep_nop(one);
			one->user_data = 0x6000 + 50 * i + k;
		}
		MUST(io_uring_submit_and_wait(&ring, 50) == 50);
		io_uring_cq_advance(&ring, 50);
	}
	return 0;
}
EOT
${CC:-cc} -pthread -o "$tmp/ring" "$tmp/ring.c" -luring 2>/dev/null || skip "no liburing"
echo "some text that is read" >"$tmp/text"
RING_FOLDER=$tmp
export RING_FOLDER
"$tmp/ring"
case $? in
0) ;;
77) skip "the kernel permits no rings" ;;
*) check "the program works without the shim" false ;;
esac

shim io "$tmp/ring"
check "the program works" exits 0
check "a ring" shows 'io.uring_init .* error=0 fd=[0-9]+ entries=4 flags=0x0$' 1
check "another one" shows 'io.uring_init .* error=0 fd=[0-9]+ entries=2 flags=0x[0-9a-f]+$' 1
check "a request" \
	shows 'io.uring_submit .*opcode=22 fd=[0-9]+ flags=0x0 offset=3 size=7 priority=0 user_data=0x1111$' 1
check "its answer" shows 'io.uring_complete .*result=7 error=0 flags=0x0 user_data=0x1111$' 1
check "an answer that is an error" \
	shows 'io.uring_complete .*result=-9 error=9 flags=0x0 user_data=0x2222$' 1
check "the call" shows 'io.uring .* error=0 ring=[0-9]+ result=2 submitted=2 .* by=io_uring_submit$' 1
check "a call that waits" shows 'io.uring .* result=1 submitted=1 .* by=io_uring_submit_and_wait$' 42
check "a call that fails" shows 'io.uring .* error=62 .* by=io_uring_wait_cqe_timeout$' 1
check "each request" shows 'io.uring_submit ' 44
check "each answer" shows 'io.uring_complete ' 44
check "none is unseen" shows 'io.uring .* unseen=[1-9]' 0
check "the answers of one ring" shows 'io.uring_complete .*result=1 error=0 flags=0x0 user_data=0x40' 40
check "the second ring begins again" shows 'io.uring_complete .*result=2 .*user_data=0x5555$' 1
check "rings end" shows 'io.uring_exit .* error=0 fd=[0-9]+$' 2

# In a process with several threads, the shim copies the answers by a system call. If a filter of a
# sandbox may forbid that, later calls record the answers.
RING_THREAD=1
export RING_THREAD
shim io "$tmp/ring"
unset RING_THREAD
check "with threads: the program works" exits 0
check "with threads: each request" shows 'io.uring_submit ' 244
check "with threads: each answer" shows 'io.uring_complete ' 244
check "with threads: once" test \
	"$(grep -o 'io.uring_complete .*user_data=0x6.*' "$tmp/events" | sort -u | wc -l)" -eq 200
check "with threads: none is unseen" shows 'io.uring .* unseen=[1-9]' 0
check "with threads: the answers of one ring" \
	shows 'io.uring_complete .*result=1 error=0 flags=0x0 user_data=0x40' 40

# A kernel before Linux 6.10 does not copy from the memory of a ring. The program defines syscall(), by
# which the shim copies, and lets each copy fail. The shim tries one copy for each ring; later calls
# record the answers of the ring.
cat - "$tmp/ring.c" >"$tmp/refused.c" <<'EOT'
#define _GNU_SOURCE
#include "own_syscall.h"
#include <stdio.h>
static int copies;
static int refuse(long number, const long args[6])
{
	if (number != SYS_process_vm_readv)
		return 0;
	copies++;
	return EFAULT;
}
__attribute__((destructor)) static void print_copies(void) { printf("%d copies\n", copies); }
EOT
if ${CC:-cc} -pthread -rdynamic -I "$here" -o "$tmp/refused" "$tmp/refused.c" -luring -ldl; then
	RING_THREAD=1
	export RING_THREAD
	shim io "$tmp/refused"
	unset RING_THREAD
	check "refused copies: the program works" exits 0
	check "refused copies: one for each ring" has out '^[1-3] copies$'
	check "refused copies: each answer but those of the last call" shows 'io.uring_complete ' 194
	check "refused copies: none is unseen" shows 'io.uring .* unseen=[1-9]' 0
fi

# While the shim copies the answers of a ring, another ring gets the same address. The program
# defines syscall(), by which the shim copies. This function ends the ring, as another thread could,
# and makes the other ring.
cat >"$tmp/replaced.c" <<'EOT'
#define _GNU_SOURCE
#include "own_syscall.h"
#include <liburing.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static struct io_uring one, two;
static int is_due;
static void replace(void)
{
	struct __kernel_timespec soon = { 0, 1000000 };
	volatile unsigned *tail = one.cq.ktail;
	struct io_uring_sqe *entry;
	io_uring_queue_exit(&one);
	dup(0); /* the second ring has another number */
	if (io_uring_queue_init(4, &two, 0) || two.cq.ktail != tail)
		exit(77);
	entry = io_uring_get_sqe(&two);
	io_uring_prep_timeout(entry, &soon, 0, 0);
	entry->user_data = 0xbbb;
	io_uring_submit(&two);
	while (!*tail)
		usleep(1000);
}
static int refuse(long number, const long args[6])
{
	if (number == SYS_process_vm_readv && is_due) {
		is_due = 0;
		replace();
	}
	return 0;
}
static void *rest(void *unused) { pause(); return unused; }
int main(void)
{
	pthread_t thread;
	struct io_uring_sqe *entry;
	if (pthread_create(&thread, 0, rest, 0) || io_uring_queue_init(4, &one, 0))
		return 1;
	entry = io_uring_get_sqe(&one);
	io_uring_prep_nop(entry);
	entry->user_data = 0xaaa;
	is_due = 1;
	if (io_uring_submit(&one) != 1 || is_due)
		return 77;
	printf("%d\n", two.ring_fd);
	io_uring_queue_exit(&two);
	return 0;
}
EOT
if ${CC:-cc} -w -pthread -rdynamic -I "$here" -o "$tmp/replaced" "$tmp/replaced.c" -luring -ldl; then
	shim io "$tmp/replaced"
	if test "$status" -ne 77; then
		check "a ring at the address of another one: the program works" exits 0
		check "a ring at the address of another one has its own answers" \
			shows "io.uring_complete ring=$(cat "$tmp/out") .*user_data=0xbbb" 1
		check "the answer of the former ring has the number of that ring" \
			shows "io.uring_complete ring=$(cat "$tmp/out") .*user_data=0xaaa" 0
		check "both answers are recorded once" shows 'io.uring_complete ' 2
	fi
fi

# A ring ends, and another ring has answers that the program has not taken. The events of these
# answers are not repeated.
cat >"$tmp/two.c" <<'EOT'
#include <liburing.h>
static int submit(struct io_uring *ring, unsigned long long data)
{
	struct io_uring_sqe *entry = io_uring_get_sqe(ring);
	io_uring_prep_nop(entry);
	entry->user_data = data;
	return io_uring_submit(ring) != 1;
}
int main(void)
{
	struct io_uring one, two;
	if (io_uring_queue_init(4, &one, 0) || io_uring_queue_init(4, &two, 0) ||
	    submit(&one, 0xa) || submit(&two, 0xb1) || submit(&two, 0xb2))
		return 1;
	io_uring_queue_exit(&one);
	if (submit(&two, 0xb3))
		return 1;
	io_uring_queue_exit(&two);
	return 0;
}
EOT
if ${CC:-cc} -o "$tmp/two" "$tmp/two.c" -luring; then
	shim io "$tmp/two"
	check "the program with two rings works" exits 0
	check "the answer of the ring that ended" shows 'io.uring_complete .*user_data=0xa$' 1
	check "each answer of the other ring, once" shows 'io.uring_complete .*user_data=0xb[1-3]$' 3
fi

# Answers that a program has consumed before a trace have no event: before the first trace, and
# between two traces. The program reads lines "NUMBER DATA", and makes so many requests.
cat >"$tmp/before.c" <<'EOT'
#include <liburing.h>
#include <stdio.h>
static int submit(struct io_uring *ring, unsigned long long data)
{
	struct io_uring_sqe *entry = io_uring_get_sqe(ring);
	struct io_uring_cqe *answer;
	io_uring_prep_nop(entry);
	entry->user_data = data;
	if (io_uring_submit(ring) != 1 || io_uring_wait_cqe(ring, &answer))
		return 1;
	io_uring_cqe_seen(ring, answer);
	return 0;
}
int main(void)
{
	struct io_uring ring;
	unsigned number, data;
	if (io_uring_queue_init(4, &ring, 0))
		return 1;
	while (scanf("%u %x", &number, &data) == 2) {
		while (number--)
			if (submit(&ring, data++))
				return 1;
		puts("done");
		fflush(stdout);
	}
	io_uring_queue_exit(&ring);
	return 0;
}
EOT
# answers_to LINE: the program has made these requests.
answers_to() {
	said=$((said + 1))
	echo "$1" >&5
	until_true has_lines said $said
}
if ${CC:-cc} -o "$tmp/before" "$tmp/before.c" -luring; then
	mkfifo "$tmp/gate"
	start sh -c 'exec env LD_PRELOAD="$0" "$1" <"$2"' "$shim" "$tmp/before" "$tmp/gate" >"$tmp/said"
	target=$pid
	exec 5>"$tmp/gate"
	said=0
	for data in beef cafe; do
		answers_to "100 1000"
		attach --trace io
		answers_to "1 $data"
		finish_attach 0 TERM
		run 0 dump -e io.uring_complete "$log"
		check "$data: only the answer in the trace has an event" has_lines out 1
		check "$data: it is that answer" has out "user_data=0x$data"
		run 0 dump -e io.uring "$log"
		check "$data: no answer is unseen" lacks out 'unseen=[1-9]'
	done
	exec 5>&-
	wait "$target"
	check "the program that is traced twice ends with 0" test $? -eq 0
fi

# A ring has the name of its kind, and operations have names.
run 0 record -q -o "$log.2" -e 'io.*' -- "$tmp/ring"
run 0 dump "$log.2"
check "names" has out 'io.uring_submit ring=[0-9]* <uring> opcode=READ fd=[0-9]* <text>'

# liburing that only a module has. The module is loaded twice. The program has a message for
# dlerror() meanwhile, which it must get.
cat >"$tmp/host.c" <<'EOT'
#include <dlfcn.h>
#include <string.h>
static int use(const char *path, int keeps_message)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*module)(void) = handle ? (int (*)(void))dlsym(handle, "module") : 0;
	const char *message;
	int result;

	if (!module || dlopen("/nonexistent/library.so", RTLD_NOW))
		return 9;
	result = module();
	message = dlerror();
	if (!result && keeps_message && (!message || !strstr(message, "/nonexistent/library.so")))
		return 8;
	dlclose(handle);
	return result;
}
int main(int argc, char **argv)
{
	int result;

	if (argc < 2 || (argc > 2 && !dlopen(argv[2], RTLD_NOW | RTLD_LOCAL)))
		return 9;
	result = use(argv[1], argc == 2);
	return result ? result : use(argv[1], argc == 2);
}
EOT
# Another library that defines such a function, which no call must reach.
cat >"$tmp/other.c" <<'EOT'
int io_uring_submit(void *ring)
{
	(void)ring;
	return -5;
}
int io_uring_submit_and_wait(void *ring, unsigned answers)
{
	(void)answers;
	return io_uring_submit(ring);
}
EOT
if ${CC:-cc} -DMODULE -shared -fPIC -o "$tmp/ring.so" "$tmp/ring.c" -luring &&
	${CC:-cc} -shared -fPIC -o "$tmp/other.so" "$tmp/other.c" &&
	${CC:-cc} -o "$tmp/host" "$tmp/host.c" -ldl; then
	"$tmp/host" "$tmp/ring.so"
	check "the host works without the shim" test $? -eq 0
	shim io "$tmp/host" "$tmp/ring.so"
	check "a module that has liburing for itself works, and a message for dlerror() stays" exits 0
	check "the answers of that ring are recorded" shows 'io.uring_complete ' 88
	shim io "$tmp/host" "$tmp/ring.so" "$tmp/other.so"
	check "another library with the same functions is not called" exits 0
	check "the answers of the ring are recorded" shows 'io.uring_complete ' 88
fi
finish
