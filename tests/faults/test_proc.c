/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A controller that cannot read /proc: the n-th open or read there fails, for every n, once or from
 * then on. Meanwhile several processes write, begin and end threads, and are killed. The controller
 * requests a ledger each time. No living writer may lose its ring, and the account remains exact.
 *
 * The linker redirects the calls of the library to this file. If pidfd_open() works, the library
 * need not read /proc, so each sweep runs with it and without it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#include "meet/process.h"
#include "point/thread.h"
#include "support/support.h"

#define FAMILY   3  /* processes that write in addition to the target */
#define STEADY   2  /* threads of each process that remain */
#define BRIEF    2  /* threads of each process that end soon */
#define BURST    64 /* events of a brief thread */
#define NTH_MAX  40 /* more calls in /proc than a ledger makes */
#define STEP     1000 /* events between two ledgers */
#define READS    500  /* fewer than events arrive, so that the stream also becomes full */

static struct {
	bool armed, lasts, no_pidfd, everything;
	unsigned nth, calls;
	int err;
	bool struck;
	bool is_proc[1024]; /* descriptors */
} fault;

static bool strikes(void)
{
	fault.calls++;
	if (!fault.armed || (fault.calls != fault.nth && !(fault.lasts && fault.calls > fault.nth)))
		return false;
	fault.struck = true;
	errno = fault.err;
	return true;
}

static bool is_proc(const char *path)
{
	return strncmp(path, "/proc", 5) == 0;
}

static int opened(const char *path, int fd)
{
	if (fd >= 0 && fd < 1024)
		fault.is_proc[fd] = is_proc(path);
	return fd;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	return is_proc(path) && strikes() ? -1 : opened(path, __real_open(path, flags, 0600));
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
	return is_proc(path) && strikes() ? NULL : __real_opendir(path);
}

int __real_stat(const char *path, struct stat *stat);
int __wrap_stat(const char *path, struct stat *stat);
int __wrap_stat(const char *path, struct stat *stat)
{
	return is_proc(path) && strikes() ? -1 : __real_stat(path, stat);
}

ssize_t __real_readlink(const char *path, char *to, size_t size);
ssize_t __wrap_readlink(const char *path, char *to, size_t size);
ssize_t __wrap_readlink(const char *path, char *to, size_t size)
{
	return is_proc(path) && strikes() ? -1 : __real_readlink(path, to, size);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
__attribute__((no_sanitize("address"))) long __wrap_syscall(long number, ...)
{
	va_list list;
	long a[6];

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_openat) {
		const char *path = (const char *)a[1];

		if (is_proc(path) && strikes())
			return -1;
		return opened(path, (int)__real_syscall(number, a[0], a[1], a[2], a[3]));
	}
	if ((number == SYS_pread64 || number == SYS_getdents64) && a[0] >= 0 && a[0] < 1024 &&
	    fault.is_proc[a[0]] && strikes())
		return -1;
	if (number == SYS_pidfd_open && fault.armed && fault.no_pidfd) {
		errno = fault.err == EMFILE ? EMFILE : ENOSYS;
		return -1;
	}
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

struct payload {
	uint64_t pid, tid, number, sum;
};

/* Shared memory of the processes. */
static struct shared {
	_Atomic int is_ready;
	_Atomic int go; /* 1: write, 2: end */
	_Atomic pid_t family[FAMILY];
	_Atomic uint64_t called; /* events whose call has returned */
	_Atomic uint64_t begun;  /* events that were begun */
} *shared;

static trace_event_id_t type;

static void emit(uint64_t number)
{
	struct payload payload = { (uint64_t)getpid(), (uint64_t)gettid(), number, 0 };

	payload.sum = payload.pid * 31 + payload.tid * 17 + number;
	atomic_fetch_add(&shared->begun, 1);
	posix_trace_event(type, &payload, sizeof payload);
	atomic_fetch_add(&shared->called, 1);
}

static void *write_steadily(void *arg)
{
	(void)arg;
	for (uint64_t i = 1; atomic_load(&shared->go) < 2; i++) {
		emit(i);
		if (i % 16 == 0)
			usleep(200);
	}
	return NULL;
}

static void *write_briefly(void *arg)
{
	(void)arg;
	for (uint64_t i = 1; i <= BURST; i++)
		emit(i);
	return NULL;
}

static void __attribute__((noreturn)) be_writer(void)
{
	pthread_t steady[STEADY], brief[BRIEF];

	while (atomic_load(&shared->go) == 0)
		usleep(100);
	for (int i = 0; i < STEADY; i++)
		pthread_create(&steady[i], NULL, write_steadily, NULL);
	while (atomic_load(&shared->go) < 2) {
		for (int i = 0; i < BRIEF; i++)
			pthread_create(&brief[i], NULL, write_briefly, NULL);
		for (int i = 0; i < BRIEF; i++)
			pthread_join(brief[i], NULL);
		usleep(500);
	}
	for (int i = 0; i < STEADY; i++)
		pthread_join(steady[i], NULL);
	_exit(0);
}

/* The target keeps its children, the family, whose members the controller kills. */
static void __attribute__((noreturn)) be_target(void)
{
	pid_t ended;

	/*
	 * The suite has no constructor of the library, and so no fork handler. Without it, members
	 * of the family are recognized only where MADV_WIPEONFORK has an effect.
	 */
	if (pthread_atfork(ptx_thread_before_fork, NULL, ptx_process_forked))
		_exit(1);
	/* The arena exists before the controller looks for it. */
	if (posix_trace_eventid_open("proc", &type))
		_exit(1);
	atomic_store(&shared->is_ready, 1);
	while (atomic_load(&shared->go) == 0)
		usleep(100);
	for (int i = 0; i < FAMILY; i++) {
		pid_t pid = fork();

		if (pid == 0)
			be_writer();
		atomic_store(&shared->family[i], pid);
	}
	while ((ended = wait(NULL)) > 0)
		for (int i = 0; i < FAMILY; i++) {
			pid_t pid;

			if (atomic_load(&shared->family[i]) != ended ||
			    atomic_load(&shared->go) == 2)
				continue;
			pid = fork();
			if (pid == 0)
				be_writer();
			atomic_store(&shared->family[i], pid);
		}
	_exit(0);
}

static struct {
	trace_id_t trid;
	bool loop;
	uint64_t read, asked, kills, called;
	unsigned dice;
} run;

/* Reads some of the events. Each is complete and belongs to its thread. */
static void read_some(unsigned most)
{
	while (most--) {
		struct posix_trace_event_info info;
		struct payload payload;
		size_t len;
		int none;

		OK(posix_trace_trygetnext_event(run.trid, &info, &payload, sizeof payload, &len,
						&none));
		if (none)
			return;
		run.read++;
		if (info.posix_event_id != type)
			continue;
		ck_assert_uint_eq(len, sizeof payload);
		ck_assert_uint_eq(payload.sum,
				  payload.pid * 31 + payload.tid * 17 + payload.number);
		ck_assert_uint_eq((uint64_t)info.posix_pid, payload.pid);
	}
}

/* An event that a LOOP stream loses during the ledger's walk may be missing in both columns. */
static void look_at_account(const struct posix_trace_ledger_np *ledger, bool rests)
{
	uint64_t lost = 0;

	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		lost += ledger->lost[i];
	ck_assert_uint_eq(ledger->lost[POSIX_TRACE_LOST_DAMAGED_NP], 0);
	if (rests || !run.loop)
		ck_assert_uint_eq(ledger->called, ledger->reported + ledger->unread + lost);
	ck_assert_uint_ge(ledger->called, run.called);
	run.called = ledger->called;
}

/* Waits until the writers have recorded so many more events, which also begins and ends threads. */
static void let_write(uint64_t events)
{
	const uint64_t until = atomic_load(&shared->called) + events;

	while (atomic_load(&shared->called) < until)
		usleep(100);
}

/* Computes a ledger while the nth call fails. Returns false if it makes fewer than nth calls. */
static bool ask(unsigned nth, int err, bool lasts, bool no_pidfd)
{
	struct posix_trace_ledger_np ledger;
	int said;

	let_write(STEP);
	fault.nth = nth;
	fault.err = err;
	fault.lasts = lasts;
	fault.no_pidfd = no_pidfd;
	fault.calls = 0;
	fault.struck = false;
	fault.armed = true;
	said = posix_trace_get_ledger_np(run.trid, &ledger);
	fault.armed = false;
	ck_assert_int_eq(said, 0);
	run.asked++;
	look_at_account(&ledger, false);
	read_some(READS);
	return fault.struck;
}

/* Kills a member of the family while it writes. */
static void kill_one(void)
{
	pid_t pid;

	run.dice = run.dice * 1103515245 + 12345;
	pid = atomic_load(&shared->family[(run.dice >> 16) % FAMILY]);
	if (pid > 0 && kill(pid, SIGKILL) == 0)
		run.kills++;
}

static pid_t begin(bool loop)
{
	trace_attr_t attr;
	pid_t target;

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	memset(&run, 0, sizeof run);
	run.loop = loop;
	target = fork();
	ck_assert_int_ge(target, 0);
	if (target == 0)
		be_target();
	while (!atomic_load(&shared->is_ready))
		usleep(100);
	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED));
	OK(posix_trace_attr_setstreamfullpolicy(&attr,
						loop ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL));
	OK(posix_trace_attr_setstreamsize(&attr, 1 << 20));
	OK(posix_trace_create(target, &attr, &run.trid));
	OK(posix_trace_trid_eventid_open(run.trid, "proc", &type));
	OK(posix_trace_attr_destroy(&attr));
	OK(posix_trace_start(run.trid));
	atomic_store(&shared->go, 1);
	while (!atomic_load(&shared->family[FAMILY - 1]) || atomic_load(&shared->called) < 1000)
		usleep(100);
	return target;
}

/*
 * The account equals the counts of the writers, except that a killed writer may have been inside
 * one event in each thread.
 */
static void finish(pid_t target)
{
	struct posix_trace_ledger_np ledger;
	uint64_t called, begun;

	atomic_store(&shared->go, 2);
	wait_well(target);
	called = atomic_load(&shared->called);
	begun = atomic_load(&shared->begun);
	OK(posix_trace_get_ledger_type_np(run.trid, type, &ledger));
	ck_assert_uint_ge(ledger.called, called);
	ck_assert_uint_le(ledger.called, begun);
	OK(posix_trace_get_ledger_np(run.trid, &ledger));
	look_at_account(&ledger, true);
	read_some(UINT32_MAX);
	OK(posix_trace_get_ledger_np(run.trid, &ledger));
	look_at_account(&ledger, true);
	ck_assert_uint_eq(ledger.unread, 0);
	ck_assert_uint_eq(ledger.reported, run.read);
	OK(posix_trace_shutdown(run.trid));
	munmap(shared, sizeof *shared);
}

static const int errors[] = { EMFILE, EACCES, ENOENT, EIO };

START_TEST(a_ledger_takes_nothing_from_the_living_whatever_call_fails)
{
	pid_t target = begin(false);
	uint64_t struck = 0;

	/* The rings and slots of the killed processes can be acquired again. */
	for (int ways = 0; ways < 4; ways++)
		for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
			unsigned nth = 1;

			kill_one();
			while (nth < NTH_MAX && ask(nth, errors[i], ways & 1, ways & 2))
				nth++;
			if (ways & 2)
				struck += nth - 1;
		}
	finish(target);
	ck_assert_uint_gt(struck, 0);
	ck_assert_uint_gt(run.kills, 0);
	printf("%lu ledgers, %lu kills, %lu events\n", (unsigned long)run.asked,
	       (unsigned long)run.kills, (unsigned long)run.called);
}
END_TEST

/* The controller has no free descriptor and no folder that it could open. */
START_TEST(under_kills_the_account_is_exact_though_proc_cannot_be_read)
{
	pid_t target = begin(_i);

	for (int i = 0; i < 150; i++) {
		if (i % 3 == 0)
			kill_one();
		ask(1, errors[i % 4], true, i % 8 < 4);
	}
	finish(target);
	ck_assert_uint_gt(run.kills, 0);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("faults: /proc cannot be read", &tc);

	tcase_set_timeout(tc, 1800);
	tcase_add_test(tc, a_ledger_takes_nothing_from_the_living_whatever_call_fails);
	tcase_add_loop_test(tc, under_kills_the_account_is_exact_though_proc_cannot_be_read, 0, 2);
	return suite;
}

SUITE_MAIN_OF(build)
