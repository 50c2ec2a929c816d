/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_open() and signals. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

#include "support/log.h"

static atomic_int ticks;

static void tick(int number)
{
	(void)number;
	atomic_fetch_add(&ticks, 1);
}

/*
 * OPEN-04: many signals arrive, without SA_RESTART. The call opens the log, or fails without an
 * effect.
 */
START_TEST(signals_do_not_break_opening)
{
	struct sigaction action = { .sa_handler = tick };
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
	int fd = log_file(), descriptors;
	trace_event_id_t id = type_of("n");
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL, .size = 1 << 20);

	for (int i = 0; i < 10000; i++)
		trace_number(id, i);
	shut(trid);
	descriptors = support_descriptors();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	/* The loop continues until enough signals have interrupted the call. */
	for (int round = 0; round < 100 || atomic_load(&ticks) < 200; round++) {
		int err = posix_trace_open(fd, &trid);

		ck_assert(err == 0 || err == EINTR);
		if (!err)
			log_close(trid);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	ck_assert_int_eq(support_descriptors(), descriptors);
	close(fd);
}
END_TEST

SUITE_MAIN("posix_trace_open and signals", signals_do_not_break_opening)
