/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * POSIXTRACE_MEMBARRIER=0: a program that traces does not call membarrier(2) from its first
 * instruction to its exit. A seccomp filter ends a program that calls it.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/stream.h"

#define PROBE "PTX_TEST_MEMBARRIER"

static void *trace_five(void *type)
{
	for (int i = 0; i < 5; i++)
		trace_number(*(trace_event_id_t *)type, i);
	return NULL;
}

/* The most frequent calls of a controller. A second thread makes barriers necessary. */
static bool is_traced(void)
{
	struct posix_trace_event_info info;
	trace_event_id_t u;
	pthread_t thread;
	trace_id_t trid;
	char data[64];
	size_t len;
	int none = 0, found = 0;

	if (posix_trace_eventid_open("u", &u) || posix_trace_create(0, NULL, &trid) ||
	    posix_trace_start(trid) || pthread_create(&thread, NULL, trace_five, &u))
		return false;
	trace_five(&u);
	pthread_join(thread, NULL);
	while (!posix_trace_trygetnext_event(trid, &info, data, sizeof data, &len, &none) && !none)
		found += info.posix_event_id == u;
	return found == 10 && !posix_trace_stop(trid) && !posix_trace_shutdown(trid);
}

/* Runs instead of the suite in the program that the test executes. */
static void __attribute__((constructor)) be_the_probe(void)
{
	if (getenv(PROBE))
		exit(is_traced() ? EXIT_SUCCESS : EXIT_FAILURE);
}

/*
 * Installs a filter with this action for membarrier(2). If the kernel has no filters, the test
 * checks nothing.
 */
static void filter_membarrier(unsigned action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = sizeof code / sizeof code[0], .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		_exit(EXIT_SUCCESS);
}

/* GEN-02: calls of the library do not end the program. */
START_TEST(it_is_not_called_if_the_environment_forbids_it)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		filter_membarrier(SECCOMP_RET_KILL_PROCESS);
		setenv("POSIXTRACE_MEMBARRIER", "0", 1);
		setenv(PROBE, "1", 1);
		execl("/proc/self/exe", "probe", (char *)NULL);
		_exit(EXIT_FAILURE);
	}
	wait_well(child);
}
END_TEST

/* TRY-01: an event whose call has returned is available. */
START_TEST(a_reader_that_does_not_wait_finds_each_event_without_it)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		trace_event_id_t u = type_of("u");
		struct posix_trace_event_info info;
		trace_id_t trid;
		size_t len;
		int none;

		filter_membarrier(SECCOMP_RET_ERRNO | ENOSYS);
		trid = STARTED(.inheritance = POSIX_TRACE_INHERITED);
		for (int i = 0; i < 100; i++) {
			trace_number(u, i);
			OK(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &none));
			ck_assert_int_eq(none, 0);
		}
		shut(trid);
		_exit(EXIT_SUCCESS);
	}
	wait_well(child);
}
END_TEST

SUITE_NEEDS("exec");

SUITE_MAIN("membarrier", it_is_not_called_if_the_environment_forbids_it,
	   a_reader_that_does_not_wait_finds_each_event_without_it)
