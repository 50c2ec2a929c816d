/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_set_linger_np(): a stream outlives its creator for a while. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"
#include "support/puppet.h"

#define LONG_MS 600000

/*
 * Kills a controller of the puppet that has created and started a LOOP stream with this linger
 * time.
 */
static void lose_controller(const struct puppet *puppet, int fd, int milliseconds)
{
	int ready[2];
	pid_t child;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		trace_attr_t attr;
		trace_id_t trid;

		log_wish_attr(&attr, &(struct log_wish){ .policy = POSIX_TRACE_LOOP });
		posix_trace_attr_setname(&attr, "lingers");
		if (posix_trace_create_withlog(puppet->pid, &attr, fd, &trid) ||
		    posix_trace_set_linger_np(trid, milliseconds) || posix_trace_start(trid) ||
		    write(ready[1], "r", 1) != 1)
			_exit(1);
		pause();
	}
	ck_assert_int_eq(close(ready[1]), 0);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(close(ready[0]), 0);
	puppet_tell(puppet, PUPPET_ONE);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

/* Stores the process that is the stream's creator now, if it runs. */
static void see_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	if (!strcmp(stream->name, "lingers") && stream->stream_status == POSIX_TRACE_RUNNING)
		*(pid_t *)arg = stream->creator;
}

/* Waits until the kernel has given the guardian the lock of the creator. */
static pid_t guardian_of(const struct puppet *puppet)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	pid_t guardian = 0;

	while (guardian <= 0) {
		OK(posix_trace_observe_np(puppet->pid, see_stream, &guardian));
		nanosleep(&pause, NULL);
	}
	return guardian;
}

static unsigned events_in(int fd)
{
	struct history *history = log_history(fd);
	unsigned count = history_count(history, 64);

	history_free(history);
	return count;
}

START_TEST(a_stream_records_after_its_creators_death)
{
	struct puppet puppet = puppet_start();
	int fd = log_file(), next = log_file();
	trace_id_t trid;
	trace_attr_t attr;
	pid_t guardian;

	lose_controller(&puppet, fd, LONG_MS);
	guardian = guardian_of(&puppet);
	puppet_tell(&puppet, PUPPET_MANY);
	/*
	 * Another controller creates its stream, and then ends the linger time of the old stream.
	 */
	log_wish_attr(&attr, &(struct log_wish){ .policy = POSIX_TRACE_LOOP });
	OK(posix_trace_create_withlog(puppet.pid, &attr, next, &trid));
	OK(posix_trace_start(trid));
	puppet_tell(&puppet, PUPPET_ONE);
	ck_assert_int_eq(kill(guardian, SIGTERM), 0);
	log_wait_for_end(fd);
	puppet_tell(&puppet, PUPPET_ONE);
	OK(posix_trace_shutdown(trid));
	ck_assert_uint_eq(events_in(fd), PUPPET_MANY_EVENTS + 2);
	ck_assert_uint_eq(events_in(next), 2);
	assert_log_whole(fd);
	puppet_end(&puppet);
	close(fd);
	close(next);
}
END_TEST

START_TEST(the_time_passes)
{
	struct puppet puppet = puppet_start();
	int fd = log_file();

	lose_controller(&puppet, fd, 1);
	log_wait_for_end(fd);
	ck_assert_uint_eq(events_in(fd), 1);
	puppet_end(&puppet);
	close(fd);
}
END_TEST

START_TEST(the_end_of_the_process_ends_the_time)
{
	struct puppet puppet = puppet_start();
	int fd = log_file();

	lose_controller(&puppet, fd, LONG_MS);
	guardian_of(&puppet);
	puppet_tell(&puppet, PUPPET_MANY);
	puppet_end(&puppet);
	log_wait_for_end(fd);
	ck_assert_uint_eq(events_in(fd), PUPPET_MANY_EVENTS + 1);
	close(fd);
}
END_TEST

START_TEST(bad_arguments_are_refused)
{
	int fd = log_file();
	trace_id_t trid, plain;

	trid = LOGGED_STARTED(fd, 0);
	FAILS(EINVAL, posix_trace_set_linger_np(trid, -1));
	FAILS(EINVAL, posix_trace_set_linger_np(trid, 3600001));
	OK(posix_trace_set_linger_np(trid, 3600000));
	OK(posix_trace_set_linger_np(trid, 0));
	OK(posix_trace_create(0, NULL, &plain));
	FAILS(EINVAL, posix_trace_set_linger_np(plain, 1)); /* the stream has no log */
	OK(posix_trace_shutdown(plain));
	OK(posix_trace_shutdown(trid));
	FAILS(EINVAL, posix_trace_set_linger_np(trid, 1));
	close(fd);
}
END_TEST

SUITE_NEEDS("exec stat pidfd guardian");

SUITE_MAIN("posix_trace_set_linger_np", a_stream_records_after_its_creators_death, the_time_passes,
	   the_end_of_the_process_ends_the_time, bad_arguments_are_refused)
