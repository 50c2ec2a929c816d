/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process that executes programs again and again gives back the rings of its former programs, as
 * long as no other process can still use them. The events of all programs stay readable.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "point/thread.h"
#include "support/stream.h"

/* The variable has the number of programs that follow. */
#define TO_GO    "TEST_FORMER"
#define PROGRAMS 20

/* The program is no test, so it asserts nothing. Its parent counts its events. */
static void *trace_one(void *arg)
{
	trace_event_id_t id;

	if (!posix_trace_eventid_open("u", &id))
		posix_trace_event(id, arg, sizeof(int));
	return NULL;
}

/* Records two events by two threads and executes the next program. */
static void run_program(int to_go)
{
	char text[16];
	pthread_t thread;

	trace_one(&to_go);
	if (pthread_create(&thread, NULL, trace_one, &to_go) || pthread_join(thread, NULL))
		_exit(EXIT_FAILURE);
	if (to_go == 0)
		_exit(EXIT_SUCCESS);
	snprintf(text, sizeof text, "%d", to_go - 1);
	setenv(TO_GO, text, 1);
	execl("/proc/self/exe", "former", (char *)NULL);
	_exit(EXIT_FAILURE);
}

static struct ptx_rings *rings_of_stream(void)
{
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++)
		if (ptx_private.view[bit])
			return &ptx_private.view[bit]->rings;
	ck_abort_msg("no view");
}

/*
 * Runs the programs in one process, and returns how many rings they have added to the stream. If
 * `has_child` is true, that process has a child meanwhile.
 */
static uint32_t rings_for_programs(trace_id_t trid, bool has_child)
{
	struct history *history;
	uint32_t before;
	int status, hold[2];
	size_t seen = 0;
	pid_t pid;

	before = ptx_ring_count(rings_of_stream());
	ck_assert_int_eq(pipe(hold), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		char byte;

		close(hold[1]);
		if (has_child && fork() == 0)
			_exit(read(hold[0], &byte, 1) != 0); /* until the test ends */
		run_program(PROGRAMS);
	}
	close(hold[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(hold[1]);
	history = read_all(trid);
	for (size_t i = 0; i < history->n; i++)
		seen += history->event[i].info.posix_pid == pid &&
			history->event[i].len == sizeof(int);
	history_free(history);
	ck_assert_uint_eq(seen, 2 * (PROGRAMS + 1));
	return ptx_ring_count(rings_of_stream()) - before;
}

START_TEST(a_new_program_continues_in_the_rings_of_its_predecessor)
{
	trace_id_t trid = STARTED(.inheritance = POSIX_TRACE_INHERITED);

	trace_number(type_of("u"), -1);
	ck_assert_uint_le(rings_for_programs(trid, false), 2);
	shut(trid);
}
END_TEST

/* The child could have been made by vfork(): it would then still use a ring of its parent. */
START_TEST(a_process_with_a_child_keeps_the_rings_of_its_former_programs)
{
	trace_id_t trid = STARTED(.inheritance = POSIX_TRACE_INHERITED);

	trace_number(type_of("u"), -1);
	ck_assert_uint_ge(rings_for_programs(trid, true), PROGRAMS);
	shut(trid);
}
END_TEST

SUITE_NEEDS("exec");

static Suite *former_suite(void)
{
	TCase *tc;
	Suite *suite = support_suite("the rings of a former program", &tc);

	tcase_add_test(tc, a_new_program_continues_in_the_rings_of_its_predecessor);
	tcase_add_test(tc, a_process_with_a_child_keeps_the_rings_of_its_former_programs);
	return suite;
}

int main(void)
{
	const char *to_go = getenv(TO_GO);

	if (to_go)
		run_program(atoi(to_go));
	return support_run(former_suite());
}
