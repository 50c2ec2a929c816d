/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Streams that children inherit, on a system that refuses a resource: each event of a child is
 * recorded or counted as lost, or the stream is not created.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/memory_file.h"
#include "support/stream.h"

#define INHERITED .inheritance = POSIX_TRACE_INHERITED
#define EVENTS    100

static uint64_t lost_of(const struct posix_trace_ledger_np *ledger)
{
	uint64_t sum = 0;

	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		sum += ledger->lost[i];
	return sum;
}

/* Limits the memory of this process to its present size plus `bytes`. */
static void limit(int resource, rlim_t bytes)
{
	struct rlimit all = { bytes, bytes };

	if (setrlimit(resource, &all) != 0)
		_exit(3);
}

static rlim_t in_use(int resource)
{
	unsigned long pages[7] = { 0 };
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file || fscanf(file, "%lu %lu %lu %lu %lu %lu %lu", &pages[0], &pages[1], &pages[2],
			    &pages[3], &pages[4], &pages[5], &pages[6]) != 7)
		_exit(4);
	fclose(file);
	return pages[resource == RLIMIT_AS ? 0 : 5] * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void trace_some(trace_event_id_t id)
{
	for (int i = 0; i < EVENTS; i++)
		posix_trace_event(id, &i, sizeof(i));
}

/* CREATE-15, FORK-01 */
START_TEST(a_child_records_where_the_parent_had_room_to)
{
	struct posix_trace_ledger_np ledger;
	trace_event_id_t id = type_of("u");
	trace_id_t trid;
	pid_t child;

	limit(RLIMIT_DATA, in_use(RLIMIT_DATA) + (16 << 20));
	trid = STARTED(INHERITED);
	child = fork();
	if (child == 0) {
		trace_some(id);
		_exit(0);
	}
	wait_well(child);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_eq(ledger.called, 1 + EVENTS);
	ck_assert_uint_eq(lost_of(&ledger), 0);
	shut(trid);
}
END_TEST

/* Makes a target that traces one event for each byte in the pipe. */
static pid_t a_target_without_room(int resource, int *go, int *done)
{
	int from[2], to[2];
	pid_t pid;
	char c = 0;

	ck_assert_int_eq(pipe(from), 0);
	ck_assert_int_eq(pipe(to), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		trace_event_id_t u, other;

		close(from[1]);
		if (posix_trace_eventid_open("u", &u) || posix_trace_eventid_open("other", &other))
			_exit(1);
		limit(resource, in_use(resource));
		do {
			if (write(to[1], &c, 1) != 1)
				_exit(2);
			if (read(from[0], &c, 1) != 1)
				_exit(0);
			trace_some(u);
			trace_some(other);
		} while (1);
	}
	close(from[0]);
	close(to[1]);
	*go = from[1];
	*done = to[0];
	ck_assert_int_eq(read(*done, &c, 1), 1);
	return pid;
}

static void go_on(int go, int done)
{
	char c = 0;

	ck_assert_int_eq(write(go, &c, 1), 1);
	ck_assert_int_eq(read(done, &c, 1), 1);
}

/* The target has no memory for its writers, so events are counted and not recorded. */
START_TEST(events_that_a_target_has_no_memory_for_are_counted)
{
	struct posix_trace_ledger_np ledger;
	trace_event_id_t other;
	trace_event_set_t set;
	trace_id_t trid;
	pid_t target;
	int go, done;

	NEEDS("limit");
	target = a_target_without_room(RLIMIT_AS, &go, &done);
	trid = stream_attach(target, &(struct wish){ 0 });
	OK(posix_trace_trid_eventid_open(trid, "other", &other));
	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(other, &set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	go_on(go, done); /* suspended */
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_eq(ledger.called, 0);
	start(trid);
	go_on(go, done);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	ck_assert_uint_eq(ledger.called, 1 + EVENTS);
	ck_assert_uint_eq(ledger.lost[POSIX_TRACE_LOST_NO_MEMORY_NP], EVENTS);
	ck_assert_uint_eq(lost_of(&ledger), EVENTS);
	ck_assert_uint_eq(ledger.reported + ledger.unread, 1);
	/* The type of these events is not known, so the ledger has them under type 0. */
	OK(posix_trace_get_ledger_type_np(trid, 0, &ledger));
	ck_assert_uint_eq(lost_of(&ledger), EVENTS);
	ck_assert_int_eq(status_of(trid).posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	shut(trid);
	close(go);
	close(done);
	wait_well(target);
}
END_TEST

/*
 * A program that runs with a seccomp filter that refuses one call, from its start or from a later
 * point on.
 */
struct refusal {
	int call, error;
	int later; /* the filter is installed after the library's constructor */
};

static const struct refusal refusals[] = {
	{ SYS_memfd_create, EPERM, 0 }, { SYS_memfd_create, ENOSYS, 0 },
	{ SYS_fcntl, EPERM, 0 },	{ SYS_fcntl, ENOSYS, 1 },
	{ SYS_fcntl, EACCES, 1 },	{ SYS_fallocate, EPERM, 0 },
	{ SYS_fallocate, ENOSYS, 1 },	{ SYS_fallocate, ENOSPC, 1 },
	{ SYS_ftruncate, EPERM, 0 },	{ SYS_pidfd_open, ENOSYS, 0 },
	{ SYS_pidfd_open, EPERM, 1 },	{ SYS_kill, EPERM, 1 },
	{ SYS_openat, EACCES, 1 },	{ SYS_getpid, EPERM, 0 },
	{ SYS_getpid, EPERM, 1 },	{ SYS_getpid, ENOSYS, 1 },
};

static void refuse(int call, int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(77);
}

/*
 * Acts as a kernel for memory files: one with the sysctl vm.memfd_noexec at 2, which requires the
 * flag MFD_NOEXEC_SEAL, or one that does not know this flag.
 */
static void act_as_kernel(bool knows_flag)
{
	const unsigned error = knows_flag ? EACCES : EINVAL;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MFD_NOEXEC_SEAL, knows_flag, !knows_flag),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(77);
}

#define IS_SHARED 's' /* the text that selects share_stream() */

/* Creates a stream, whose memory a child shares. */
static void share_stream(void)
{
	struct posix_trace_ledger_np ledger;
	trace_event_id_t id;
	trace_attr_t attr;
	trace_id_t trid;
	pid_t child;

	if (posix_trace_eventid_open("u", &id) || posix_trace_attr_init(&attr) ||
	    posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) ||
	    posix_trace_create(0, &attr, &trid) || posix_trace_start(trid))
		_exit(32);
	child = fork();
	if (child == 0) {
		trace_some(id);
		_exit(0);
	}
	if (waitpid(child, NULL, 0) != child || posix_trace_get_ledger_np(trid, &ledger) ||
	    posix_trace_shutdown(trid))
		_exit(33);
	_exit(ledger.called == 1 + EVENTS && !lost_of(&ledger) ? 0 : 34);
}

#define PLAIN_END 0
#define SILENT    40 /* exit status: events are in no column */

/* Creates a stream, forks, executes a program, and checks the account. */
static void play(const char *text)
{
	const struct refusal *refusal = &refusals[atoi(text)];
	struct posix_trace_ledger_np ledger;
	trace_event_id_t id;
	trace_attr_t attr;
	trace_id_t trid;
	int err, status;

	if (strchr(text, '!')) { /* the program that the child executes */
		if (posix_trace_eventid_open("u", &id))
			_exit(31);
		trace_some(id);
		_exit(0);
	}
	if (refusal->later)
		refuse(refusal->call, refusal->error);
	if (posix_trace_eventid_open("u", &id) || posix_trace_attr_init(&attr) ||
	    posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED))
		_exit(32);
	err = posix_trace_create(0, &attr, &trid);
	if (err)
		_exit(err == ENOTSUP || err == ENOMEM ? PLAIN_END : 33);
	if (posix_trace_start(trid))
		_exit(34);
	for (int way = 0; way < 2; way++) {
		pid_t child = fork();

		if (child == 0 && way == 0) {
			trace_some(id);
			_exit(0);
		}
		if (child == 0) {
			char again[16];

			snprintf(again, sizeof(again), "%d!", atoi(text));
			setenv("PTX_REFUSED", again, 1);
			execl("/proc/self/exe", "refused", NULL);
			_exit(0); /* the call is refused, so no event was called */
		}
		if (waitpid(child, &status, 0) != child || (status && refusal->call != SYS_openat))
			_exit(35);
		if (posix_trace_get_ledger_np(trid, &ledger))
			_exit(36);
		/* A program that cannot be executed, or that cannot call open(), calls no event. */
		if (way == 0 && ledger.called != 1 + EVENTS)
			_exit(SILENT);
		if (way == 1 && refusal->call != SYS_openat && ledger.called != 1 + 2 * EVENTS)
			_exit(SILENT + 1);
		if (ledger.called != ledger.reported + ledger.unread + lost_of(&ledger))
			_exit(37);
	}
	_exit(posix_trace_shutdown(trid) ? 38 : PLAIN_END);
}

/* Runs instead of the suite in a program that a test executes. */
static void __attribute__((constructor)) be_another_program(void)
{
	const char *text = getenv("PTX_REFUSED");

	if (text && *text == IS_SHARED)
		share_stream();
	else if (text)
		play(text);
}

/* CREATE-15 */
START_TEST(where_a_call_is_refused_events_are_recorded_or_counted_or_there_is_no_stream)
{
	char text[16];
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		snprintf(text, sizeof(text), "%d", _i);
		setenv("PTX_REFUSED", text, 1);
		if (!refusals[_i].later)
			refuse(refusals[_i].call, refusals[_i].error);
		execl("/proc/self/exe", "refused", NULL);
		_exit(39);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) != 77) /* this kernel has no filters */
		ck_assert_int_eq(WEXITSTATUS(status), PLAIN_END);
}
END_TEST

START_TEST(memory_is_shared_where_the_kernel_requires_or_does_not_know_files_without_exec)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		setenv("PTX_REFUSED", (char[]){ IS_SHARED, '\0' }, 1);
		act_as_kernel(_i);
		execl("/proc/self/exe", "refused", NULL);
		_exit(39);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) != 77) /* this kernel has no filters */
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

SUITE_NEEDS("exec");

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("inherited, and refused", &tc);

	tcase_add_test(tc, a_child_records_where_the_parent_had_room_to);
	tcase_add_test(tc, events_that_a_target_has_no_memory_for_are_counted);
	tcase_add_loop_test(
		tc, where_a_call_is_refused_events_are_recorded_or_counted_or_there_is_no_stream, 0,
		(int)(sizeof(refusals) / sizeof(refusals[0])));
	tcase_add_loop_test(
		tc, memory_is_shared_where_the_kernel_requires_or_does_not_know_files_without_exec,
		0, 2);
	return suite;
}

SUITE_MAIN_OF(build)
