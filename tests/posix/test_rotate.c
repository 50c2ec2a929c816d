/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_rotate_log_np(): the events of a stream in several logs, one after the other. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/ledger.h"
#include "support/log.h"
#include "support/numbers.h"

#define FILES 6

/* The counts of one log after the other. */
struct sum {
	uint64_t called, reported, lost;
};

/* Fails unless the log is whole and its equation closes. Adds its counts. */
static void add_log(struct sum *sum, int fd)
{
	struct posix_trace_ledger_np ledger;
	trace_id_t trid;

	assert_log_whole(fd);
	trid = log_open(fd);
	assert_ledger_closes(__FILE__, __LINE__, trid);
	ledger = ledger_total(trid);
	sum->called += ledger.called;
	sum->reported += ledger.reported;
	sum->lost += ledger_lost(&ledger);
	log_close(trid);
}

/* Returns how many events of the type the log has; they must have the numbers from `first` on. */
static int count_from(int fd, trace_event_id_t id, int first)
{
	struct history *history = log_history(fd);
	int count = (int)history_count(history, id);

	assert_numbers_from(history, id, first, (size_t)count);
	history_free(history);
	return count;
}

static bool is_empty(int fd)
{
	return log_stat(fd).st_size == 0;
}

/* Records events between rotations, and checks all logs and the stream's own ledger. */
static void rotate_with(int policy, int log_policy, int level)
{
	trace_event_id_t id = type_of("n");
	struct posix_trace_ledger_np whole;
	struct sum sum = { 0 };
	trace_attr_t attr;
	trace_id_t trid;
	int fd[FILES], n = 0, seen = 0;

	log_wish_attr(&attr, &(struct log_wish){ .policy = policy, .log_policy = log_policy,
						 .size = 1 << 20, .log_size = 4 << 20 });
	OK(posix_trace_attr_setlogcompression_np(&attr, level));
	fd[0] = log_file();
	OK(posix_trace_create_withlog(getpid(), &attr, fd[0], &trid));
	start(trid);
	for (int i = 1; i <= FILES; i++) {
		/* One log has no event of the program. */
		for (int j = 0; j < 1000 * (i - 3) * (i - 3); j++)
			trace_number(id, n++);
		if (i == FILES)
			break;
		fd[i] = log_file();
		OK(posix_trace_rotate_log_np(trid, fd[i]));
	}
	stop(trid);
	OK(posix_trace_flush(trid));
	whole = ledger_total(trid);
	assert_ledger_closes(__FILE__, __LINE__, trid);
	shut(trid);
	for (int i = 0; i < FILES; i++) {
		add_log(&sum, fd[i]);
		seen += count_from(fd[i], id, seen);
		close(fd[i]);
	}
	ck_assert_int_eq(seen, n);
	ck_assert_uint_eq(sum.called, sum.reported + sum.lost);
	/* After the flush the log gets the FLUSH_STOP and the events of the shutdown. */
	ck_assert_uint_ge(sum.reported, whole.reported + whole.unread);
	ck_assert_uint_le(sum.reported, whole.reported + whole.unread + 4);
	ck_assert_uint_eq(sum.lost, ledger_lost(&whole));
}

START_TEST(each_event_is_in_one_log_with_any_policies)
{
	static const int policy[] = { POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };
	static const int log_policy[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
					  POSIX_TRACE_LOOP };

	for (int i = 0; i < 9; i++)
		rotate_with(policy[i / 3], log_policy[i % 3], 0);
}
END_TEST

START_TEST(compressed_logs_rotate)
{
	trace_attr_t attr;

	OK(posix_trace_attr_init(&attr));
	if (posix_trace_attr_setlogcompression_np(&attr, 1) == ENOTSUP)
		return;
	rotate_with(POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND, 1);
	rotate_with(POSIX_TRACE_FLUSH, POSIX_TRACE_UNTIL_FULL, 3);
}
END_TEST

/* A small stream without a flusher loses events; each loss counts in one log. */
START_TEST(losses_count_in_the_log_of_their_time)
{
	trace_event_id_t id = type_of("n");
	struct sum sum = { 0 }, one[3] = { { 0 } };
	int fd[3] = { log_file(), log_file(), log_file() };
	trace_id_t trid = LOGGED_STARTED(fd[0], .policy = POSIX_TRACE_LOOP, .size = 1 << 14,
					 .log_policy = POSIX_TRACE_APPEND);
	struct posix_trace_ledger_np whole;

	for (int n = 0; n < 20000; n++)
		trace_number(id, n);
	OK(posix_trace_rotate_log_np(trid, fd[1]));
	trace_number(id, 0);
	OK(posix_trace_rotate_log_np(trid, fd[2]));
	for (int n = 0; n < 5000; n++)
		trace_number(id, n);
	whole = ledger_total(trid);
	shut(trid);
	for (int i = 0; i < 3; i++) {
		add_log(&one[i], fd[i]);
		sum.called += one[i].called;
		sum.lost += one[i].lost;
		close(fd[i]);
	}
	ck_assert_uint_gt(one[0].lost, 10000);
	ck_assert_uint_eq(one[1].lost, 0);
	ck_assert_uint_gt(one[2].lost, 1000);
	ck_assert_uint_eq(sum.lost, ledger_lost(&whole));
	ck_assert_uint_ge(sum.called, whole.called);
}
END_TEST

/* Returns the type of this name in an opened log, or 0. */
static trace_event_id_t type_in(trace_id_t log, const char *name)
{
	char found[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;
	int unavailable;

	OK(posix_trace_eventtypelist_rewind(log));
	for (;;) {
		OK(posix_trace_eventtypelist_getnext_id(log, &id, &unavailable));
		if (unavailable)
			return 0;
		OK(posix_trace_eventid_get_name(log, id, found));
		if (!strcmp(found, name))
			return id;
	}
}

/* Each log is complete in itself: types, schemas, objects, and its own identity. */
START_TEST(each_log_has_types_schemas_objects_and_mappings)
{
	trace_event_id_t id = type_of("described");
	int fd[2] = { log_file(), log_file() };
	trace_id_t trid = LOGGED_STARTED(fd[0], .policy = POSIX_TRACE_FLUSH,
					 .log_policy = POSIX_TRACE_APPEND);
	char schema[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	size_t mappings[2] = { 0, 0 };

	type_of("unused");
	OK(posix_trace_eventid_describe_np(id, "s32 n"));
	OK(posix_trace_object_np(POSIX_TRACE_OBJECT_THREAD_NP, &trid, "an object"));
	trace_number(id, 1);
	OK(posix_trace_rotate_log_np(trid, fd[1]));
	trace_number(id, 2);
	shut(trid);
	for (int i = 0; i < 2; i++) {
		struct posix_trace_mapping_np mapping;
		struct posix_trace_object_np object;
		trace_id_t log = log_open(fd[i]);
		int unavailable;

		ck_assert_uint_ne(type_in(log, "unused"), 0);
		OK(posix_trace_eventid_get_schema_np(log, type_in(log, "described"), schema,
						     sizeof(schema)));
		ck_assert_str_eq(schema, "s32 n");
		OK(posix_trace_object_getnext_np(log, &object, &unavailable));
		ck_assert_int_eq(unavailable, 0);
		ck_assert_str_eq(object.name, "an object");
		while (!posix_trace_mapping_getnext_np(log, &mapping, &unavailable) && !unavailable)
			mappings[i]++;
		log_close(log);
	}
	ck_assert_uint_gt(mappings[0], 0);
	ck_assert_uint_eq(mappings[1], mappings[0]);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(wrong_arguments_change_nothing)
{
	trace_event_id_t id = type_of("n");
	int fd = log_file(), same = log_file_again(fd, O_RDWR), used = log_of(3), reads, full;
	int appends = log_file_again(used, O_WRONLY | O_APPEND), pipe_fd[2];
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH,
					 .log_policy = POSIX_TRACE_APPEND), unlogged = STARTED(0);

	reads = log_file_again(used, O_RDONLY);
	trace_number(id, 0);
	FAILS(EINVAL, posix_trace_rotate_log_np(trid + 1000000, used));
	FAILS(EINVAL, posix_trace_rotate_log_np(unlogged, used));
	FAILS(EINVAL, posix_trace_rotate_log_np(trid, fd));
	FAILS(EINVAL, posix_trace_rotate_log_np(trid, same));
	FAILS(EINVAL, posix_trace_rotate_log_np(trid, appends));
	FAILS(EBADF, posix_trace_rotate_log_np(trid, -1));
	FAILS(EBADF, posix_trace_rotate_log_np(trid, reads));
	full = open("/dev/full", O_WRONLY);
	if (full >= 0)
		FAILS(ENOSPC, posix_trace_rotate_log_np(trid, full));
	assert_log_whole(used);
	trace_number(id, 1);
	shut(trid);
	FAILS(EINVAL, posix_trace_rotate_log_np(trid, used));
	assert_log_numbers(fd, id, 0, 2);
	assert_log_whole(fd);
	trid = log_open(fd);
	FAILS(EINVAL, posix_trace_rotate_log_np(trid, used));
	log_close(trid);
	shut(unlogged);

	/* A log that overwrites its oldest events needs a file. */
	ck_assert_int_eq(pipe(pipe_fd), 0);
	trid = LOGGED_STARTED(fd, .log_policy = POSIX_TRACE_LOOP, .log_size = 1 << 20);
	FAILS(EINVAL, posix_trace_rotate_log_np(trid, pipe_fd[1]));
	shut(trid);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	close(fd);
	close(same);
	close(used);
	close(appends);
	close(reads);
	if (full >= 0)
		close(full);
}
END_TEST

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* If the old log cannot get its events, the stream keeps them, and the new file stays empty. */
START_TEST(a_log_that_cannot_be_completed_continues)
{
	trace_event_id_t id = type_of("n");
	int fd = log_file(), next = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL, .size = 4 << 20);
	struct sum sum = { 0 };

	for (int n = 0; n < 20000; n++)
		trace_number(id, n);
	limit_files(64 << 10);
	FAILS(EFBIG, posix_trace_rotate_log_np(trid, next));
	ck_assert(is_empty(next));
	limit_files(RLIM_INFINITY);
	OK(posix_trace_rotate_log_np(trid, next));
	for (int n = 20000; n < 21000; n++)
		trace_number(id, n);
	shut(trid);
	assert_log_numbers(fd, id, 0, 20000);
	assert_log_numbers(next, id, 20000, 1000);
	add_log(&sum, fd);
	add_log(&sum, next);
	ck_assert_uint_eq(sum.lost, 0);
	close(fd);
	close(next);
}
END_TEST

/* LOG-04: a full log of policy UNTIL_FULL stops the stream; the next log has room again. */
START_TEST(a_stream_can_start_again_when_its_full_log_was_replaced)
{
	trace_event_id_t id = type_of("n");
	int fd = log_file(), next = log_file(), n = 0;
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH, .size = 1 << 20,
					 .log_policy = POSIX_TRACE_UNTIL_FULL,
					 .log_size = 1 << 16);
	struct sum sum = { 0 };

	while (status_of(trid).posix_stream_status == POSIX_TRACE_RUNNING) {
		trace_number(id, n++);
		if (n % 1000 == 0)
			OK(posix_trace_flush(trid));
	}
	ck_assert_int_eq(status_of(trid).posix_log_full_status, POSIX_TRACE_FULL);
	OK(posix_trace_rotate_log_np(trid, next));
	ck_assert_int_eq(status_of(trid).posix_log_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(status_of(trid).posix_stream_status, POSIX_TRACE_SUSPENDED);
	start(trid);
	for (int i = 0; i < 100; i++)
		trace_number(id, i);
	shut(trid);
	ck_assert_int_eq(log_status(fd).posix_log_full_status, POSIX_TRACE_FULL);
	ck_assert_int_eq(log_status(next).posix_log_full_status, POSIX_TRACE_NOT_FULL);
	assert_log_numbers(next, id, 0, 100);
	add_log(&sum, fd);
	add_log(&sum, next);
	close(fd);
	close(next);
}
END_TEST

/* CLEAR-07: a clear empties the log that gets the events. The logs before stay as they are. */
START_TEST(a_clear_concerns_the_present_log_only)
{
	trace_event_id_t id = type_of("n");
	int fd = log_file(), next = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL);
	struct posix_trace_ledger_np line;
	struct sum sum = { 0 };

	for (int n = 0; n < 10; n++)
		trace_number(id, n);
	OK(posix_trace_rotate_log_np(trid, next));
	for (int n = 0; n < 5; n++)
		trace_number(id, n);
	OK(posix_trace_flush(trid));
	OK(posix_trace_clear(trid));
	line = ledger_of_type(trid, id);
	ck_assert_uint_eq(line.reported, 10);
	ck_assert_uint_eq(line.lost[POSIX_TRACE_LOST_CLEARED_NP], 5);
	trace_number(id, 0);
	shut(trid);
	assert_log_numbers(fd, id, 0, 10);
	assert_log_numbers(next, id, 0, 1);
	add_log(&sum, fd);
	add_log(&sum, next);
	ck_assert_uint_ge(sum.lost, 5);
	close(fd);
	close(next);
}
END_TEST

START_TEST(a_log_in_a_pipe_can_follow_and_precede)
{
	trace_event_id_t id = type_of("n");
	struct siphon *siphon = siphon_start();
	int fd = log_file(), next = log_file(), copy;
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH,
					 .log_policy = POSIX_TRACE_APPEND);

	siphon_release(siphon);
	trace_number(id, 0);
	OK(posix_trace_rotate_log_np(trid, siphon_fd(siphon)));
	close(siphon_fd(siphon));
	trace_number(id, 1);
	OK(posix_trace_rotate_log_np(trid, next));
	trace_number(id, 2);
	copy = siphon_finish(siphon);
	shut(trid);
	assert_log_numbers(fd, id, 0, 1);
	assert_log_numbers(copy, id, 1, 1);
	assert_log_numbers(next, id, 2, 1);
	assert_log_whole(fd);
	assert_log_whole(copy);
	assert_log_whole(next);
	close(fd);
	close(next);
	close(copy);
}
END_TEST

/* ------------------------------------------------------------------ threads */

#define WRITERS  3
#define ROTATORS 2
#define TURNS    6

static _Atomic bool quit;

static void *trace_until_quit(void *argument)
{
	trace_event_id_t id = type_of("n");
	int *traced = argument;

	while (!atomic_load(&quit))
		trace_number(id, (*traced)++);
	return NULL;
}

struct rotator {
	trace_id_t trid;
	int fd[TURNS];
};

static void *rotate_often(void *argument)
{
	struct rotator *rotator = argument;

	for (int i = 0; i < TURNS; i++) {
		rotator->fd[i] = log_file();
		OK(posix_trace_rotate_log_np(rotator->trid, rotator->fd[i]));
		usleep(1000);
	}
	return NULL;
}

/* Adds the number of the log's events of the type n, and the sum of their numbers. */
static void add_events(int fd, uint64_t *count, uint64_t *total)
{
	trace_id_t trid = log_open(fd);
	struct posix_trace_event_info info;
	int unavailable, number;
	size_t len;

	for (;;) {
		OK(posix_trace_getnext_event(trid, &info, &number, sizeof(number), &len,
					     &unavailable));
		if (unavailable)
			break;
		if (info.posix_event_id < 64)
			continue;
		++*count;
		*total += (uint64_t)number;
	}
	log_close(trid);
}

/* Returns the lost events of the type in the log. */
static uint64_t lost_in(int fd, const char *type)
{
	trace_id_t trid = log_open(fd);
	struct posix_trace_ledger_np ledger = ledger_of_type(trid, type_in(trid, type));

	log_close(trid);
	return ledger_lost(&ledger);
}

/* Without losses, the logs together have each number of each thread once. */
static void rotate_while_threads_trace(int policy, size_t size)
{
	struct rotator rotator[ROTATORS];
	pthread_t writer[WRITERS], thread[ROTATORS];
	int fd = log_file(), traced[WRITERS] = { 0 };
	trace_id_t trid = LOGGED_STARTED(fd, .policy = policy, .size = size,
					 .log_policy = POSIX_TRACE_APPEND);
	uint64_t expected = 0, count = 0, total = 0, numbers = 0, lost;
	struct sum sum = { 0 };
	struct posix_trace_ledger_np whole;

	atomic_store(&quit, false);
	for (int i = 0; i < WRITERS; i++)
		pthread_create(&writer[i], NULL, trace_until_quit, &traced[i]);
	for (int i = 0; i < ROTATORS; i++) {
		rotator[i].trid = trid;
		pthread_create(&thread[i], NULL, rotate_often, &rotator[i]);
	}
	for (int i = 0; i < ROTATORS; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&quit, true);
	for (int i = 0; i < WRITERS; i++) {
		pthread_join(writer[i], NULL);
		numbers += (uint64_t)traced[i];
		expected += (uint64_t)traced[i] * (uint64_t)(traced[i] - 1) / 2;
	}
	stop(trid);
	whole = ledger_total(trid);
	assert_ledger_closes(__FILE__, __LINE__, trid);
	shut(trid);
	add_log(&sum, fd);
	add_events(fd, &count, &total);
	lost = lost_in(fd, "n");
	close(fd);
	for (int i = 0; i < ROTATORS; i++)
		for (int j = 0; j < TURNS; j++) {
			lost += lost_in(rotator[i].fd[j], "n");
			add_log(&sum, rotator[i].fd[j]);
			add_events(rotator[i].fd[j], &count, &total);
			close(rotator[i].fd[j]);
		}
	ck_assert_uint_eq(count + lost, numbers);
	/* The last flush of a LOOP stream may find that further events are overwritten. */
	if (policy == POSIX_TRACE_LOOP)
		ck_assert_uint_ge(sum.lost, ledger_lost(&whole));
	else
		ck_assert_uint_eq(sum.lost, ledger_lost(&whole));
	if (!sum.lost)
		ck_assert_uint_eq(total, expected);
}

START_TEST(several_threads_rotate_while_others_trace)
{
	rotate_while_threads_trace(POSIX_TRACE_FLUSH, 4 << 20);
	/* These streams lose events at all times. */
	rotate_while_threads_trace(POSIX_TRACE_FLUSH, 1 << 15);
	rotate_while_threads_trace(POSIX_TRACE_LOOP, 1 << 15);
}
END_TEST

/* SHUT-08: the shutdown waits for the rotation, or the rotation fails. */
static void *rotate_to_the_end(void *argument)
{
	const trace_id_t trid = *(trace_id_t *)argument;
	int err;

	do {
		int fd = log_file();

		err = posix_trace_rotate_log_np(trid, fd);
		if (err) {
			ck_assert_int_eq(err, EINVAL);
			ck_assert(is_empty(fd));
		}
		close(fd);
	} while (!err);
	return NULL;
}

START_TEST(a_shutdown_may_come_at_any_moment)
{
	for (int i = 0; i < 10; i++) {
		int fd = log_file();
		trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH,
					 .log_policy = POSIX_TRACE_APPEND);
		pthread_t thread;

		pthread_create(&thread, NULL, rotate_to_the_end, &trid);
		usleep(500u * (unsigned)i);
		stop(trid);
		shut(trid);
		pthread_join(thread, NULL);
		assert_log_whole(fd);
		close(fd);
	}
}
END_TEST

START_TEST(no_descriptor_and_no_child_remains)
{
	int fd = log_file(), next = log_file(), before = support_descriptors();
	trace_id_t trid = LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH,
					 .log_policy = POSIX_TRACE_APPEND);
	int during = support_descriptors();

	for (int i = 0; i < 4; i++)
		OK(posix_trace_rotate_log_np(trid, i % 2 ? fd : next));
	ck_assert_int_eq(support_descriptors(), during);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	shut(trid);
	ck_assert_int_eq(support_descriptors(), before);
	close(fd);
	close(next);
}
END_TEST

SUITE_MAIN("posix_trace_rotate_log_np()",
	   each_event_is_in_one_log_with_any_policies,
	   compressed_logs_rotate,
	   losses_count_in_the_log_of_their_time,
	   each_log_has_types_schemas_objects_and_mappings,
	   wrong_arguments_change_nothing,
	   a_log_that_cannot_be_completed_continues,
	   a_stream_can_start_again_when_its_full_log_was_replaced,
	   a_clear_concerns_the_present_log_only,
	   a_log_in_a_pipe_can_follow_and_precede,
	   several_threads_rotate_while_others_trace,
	   a_shutdown_may_come_at_any_moment,
	   no_descriptor_and_no_child_remains)
