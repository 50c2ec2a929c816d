/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix_trace_snapshot_np() of streams in use: threads write or are stopped, and other processes
 * read.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/numbers.h"

#define SNAPSHOTS 20

static void *number_for_ever(void *arg)
{
	trace_event_id_t id = type_of("n");

	for (uint64_t i = 0;; i++)
		numbers_write(id, (uint64_t)(uintptr_t)arg, i, i);
	return NULL;
}

/* A child with four threads that do not end and a LOOP stream of its own. */
static pid_t start_busy(size_t bytes)
{
	int ready[2];
	pid_t child;
	char c = 0;

	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		STARTED(.policy = POSIX_TRACE_LOOP, .size = bytes);
		for (uintptr_t i = 0; i < 4; i++)
			spawn(number_for_ever, (void *)i);
		if (write(ready[1], &c, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(a_busy_stream_of_another_process_has_no_hole)
{
	pid_t child = start_busy(1 << 20);
	uint64_t called = 0;

	for (int i = 0; i < SNAPSHOTS; i++) {
		int fd = snapshot_of(child);
		struct numbered numbered;

		kill(child, SIGSTOP); /* the checks need more time than the copy */
		numbered = numbers_read(fd);
		ck_assert_uint_ge(numbered.ledger.called, called); /* it may not have run since */
		called = numbered.ledger.called;
		close(fd);
		kill(child, SIGCONT);
	}
	end(child);
}
END_TEST

/* The threads may have been stopped anywhere, also where other threads wait for them. */
START_TEST(a_stopped_process_is_copied_too)
{
	pid_t child = start_busy(1 << 18);

	for (int i = 0; i < 5; i++) {
		struct numbered numbered;
		int fd, status;

		usleep(20000);
		kill(child, SIGSTOP);
		ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
		fd = snapshot_of(child);
		numbered = numbers_read(fd);
		ck_assert_uint_gt(numbered.events, 0);
		close(fd);
		kill(child, SIGCONT);
	}
	end(child);
}
END_TEST

static _Atomic uint64_t taken;
static _Atomic bool enough;
static trace_event_id_t number_id;

/*
 * Records as fast as the reader reads. So no event is lost for lack of space, even if the reader is
 * slow.
 */
static void *number_with_reader(void *arg)
{
	uint64_t i = 0;

	while (!atomic_load(&enough)) {
		numbers_write(number_id, (uint64_t)(uintptr_t)arg, i, i + 99);
		i += 100;
		while (4 * i > atomic_load(&taken) + 4000 && !atomic_load(&enough))
			usleep(100);
	}
	return (void *)(uintptr_t)i;
}

/* In a child, because the assertions of a child and of its parent must not mix. */
static pid_t take_snapshots_in_child(void)
{
	pid_t parent = getpid(), child = fork();

	if (child)
		return child;
	for (int i = 0; i < SNAPSHOTS; i++) {
		int fd = snapshot_of(parent);

		numbers_read(fd);
		close(fd);
	}
	_exit(0);
}

/* Checks that no number of a thread is missing. Returns false if there are no more events. */
static bool read_some(trace_id_t trid, uint64_t *next)
{
	struct seen seen;

	for (int i = 0; i < 1000; i++) {
		if (!read_one(trid, &seen))
			return false;
		struct number data;

		if (seen.len == sizeof(data)) {
			memcpy(&data, seen.data, sizeof(data));
			ck_assert_uint_eq(data.number, next[data.thread]);
			next[data.thread]++;
			atomic_fetch_add(&taken, 1);
		}
		free(seen.data);
	}
	return true;
}

START_TEST(the_reader_of_the_stream_misses_no_event)
{
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 1 << 20);
	pid_t child = take_snapshots_in_child();
	uint64_t next[4] = { 0 }, written = 0;
	pthread_t writer[4];
	int status;

	number_id = type_of("n");
	for (uintptr_t i = 0; i < 4; i++)
		writer[i] = spawn(number_with_reader, (void *)i);
	while (waitpid(child, &status, WNOHANG) == 0)
		read_some(trid, next);
	ck_assert_int_eq(status, 0);
	atomic_store(&enough, true);
	for (int i = 0; i < 4; i++)
		written += (uint64_t)(uintptr_t)join(writer[i]);
	while (read_some(trid, next))
		;
	ck_assert_uint_eq(atomic_load(&taken), written);
	shut(trid);
}
END_TEST

SUITE_MAIN("posix_trace_snapshot_np: busy streams",
	   a_busy_stream_of_another_process_has_no_hole,
	   a_stopped_process_is_copied_too,
	   the_reader_of_the_stream_misses_no_event)
