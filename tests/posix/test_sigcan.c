/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cancellation points and signals. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <dirent.h>

#include "support/memory_file.h"
#include "support/stream.h"

static volatile int steps; /* progress of the cancelled thread */

static void request_cancellation(void)
{
	pthread_cancel(pthread_self()); /* deferred to the next cancellation point */
}

#define STEP(call)			\
	do {				\
		if (call)		\
			return (void *)(uintptr_t)"failed: " #call; \
		steps++;		\
	} while (0)

/* All calls on attributes and sets. */
static void *use_objects(void *unused)
{
	char name[TRACE_NAME_MAX + 1];
	struct timespec time;
	trace_event_set_t set;
	trace_attr_t attr;
	int value;
	size_t size;

	(void)unused;
	request_cancellation();
	STEP(posix_trace_attr_init(&attr));
	STEP(posix_trace_attr_getclockres(&attr, &time));
	STEP(posix_trace_attr_getcreatetime(&attr, &time) != EINVAL);
	STEP(posix_trace_attr_getgenversion(&attr, name));
	STEP(posix_trace_attr_getname(&attr, name));
	STEP(posix_trace_attr_setname(&attr, "name"));
	STEP(posix_trace_attr_getinherited(&attr, &value));
	STEP(posix_trace_attr_setinherited(&attr, value));
	STEP(posix_trace_attr_getlogfullpolicy(&attr, &value));
	STEP(posix_trace_attr_setlogfullpolicy(&attr, value));
	STEP(posix_trace_attr_getstreamfullpolicy(&attr, &value));
	STEP(posix_trace_attr_setstreamfullpolicy(&attr, value));
	STEP(posix_trace_attr_getlogsize(&attr, &size));
	STEP(posix_trace_attr_setlogsize(&attr, size));
	STEP(posix_trace_attr_getmaxdatasize(&attr, &size));
	STEP(posix_trace_attr_setmaxdatasize(&attr, size));
	STEP(posix_trace_attr_getstreamsize(&attr, &size));
	STEP(posix_trace_attr_setstreamsize(&attr, size));
	STEP(posix_trace_attr_getmaxsystemeventsize(&attr, &size));
	STEP(posix_trace_attr_getmaxusereventsize(&attr, 1, &size));
	STEP(posix_trace_eventset_empty(&set));
	STEP(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS));
	STEP(posix_trace_eventset_del(POSIX_TRACE_START, &set));
	STEP(posix_trace_eventset_add(POSIX_TRACE_START, &set));
	STEP(posix_trace_eventset_ismember(POSIX_TRACE_START, &set, &value));
	STEP(posix_trace_attr_destroy(&attr));
	return NULL;
}

/* The calls that must not be cancellation points, on a stream. */
static void *use_stream(void *arg)
{
	trace_id_t trid = *(trace_id_t *)arg;
	char name[TRACE_EVENT_NAME_MAX + 1], data[300];
	struct posix_trace_event_info info;
	trace_event_id_t id;
	int unavailable;
	size_t len;

	request_cancellation();
	for (int i = 0; i < 1000; i++) {
		STEP(posix_trace_start(trid));
		STEP(posix_trace_eventid_open(i % 2 ? "one" : "two", &id));
		STEP(posix_trace_trid_eventid_open(trid, "three", &id));
		for (int k = 0; k < 50; k++) /* up to and beyond the end of the memory */
			posix_trace_event(id, data, sizeof(data));
		STEP(!posix_trace_eventid_equal(trid, id, id));
		STEP(posix_trace_eventid_get_name(trid, id, name));
		STEP(posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len,
						  &unavailable));
		STEP(posix_trace_stop(trid));
	}
	return NULL;
}

/* The standard permits these calls to be cancellation points. In this library they are none. */
static void *use_the_others(void *unused)
{
	int fd = memory_file("log", MFD_CLOEXEC), unavailable;
	struct posix_trace_status_info status;
	struct posix_trace_event_info info;
	trace_id_t plain, logged, opened;
	trace_event_set_t set;
	trace_event_id_t id;
	trace_attr_t attr;
	size_t len;

	(void)unused;
	request_cancellation();
	STEP(posix_trace_create(0, NULL, &plain));
	STEP(posix_trace_create_withlog(0, NULL, fd, &logged));
	STEP(posix_trace_start(logged));
	STEP(posix_trace_get_attr(plain, &attr));
	STEP(posix_trace_get_status(plain, &status));
	STEP(posix_trace_get_filter(plain, &set));
	STEP(posix_trace_set_filter(plain, &set, POSIX_TRACE_SET_EVENTSET));
	STEP(posix_trace_eventtypelist_getnext_id(plain, &id, &unavailable));
	STEP(posix_trace_eventtypelist_rewind(plain));
	STEP(posix_trace_clear(plain));
	STEP(posix_trace_flush(logged));
	STEP(posix_trace_clear(logged));
	STEP(posix_trace_shutdown(plain));
	STEP(posix_trace_shutdown(logged));
	STEP(posix_trace_open(fd, &opened));
	STEP(posix_trace_getnext_event(opened, &info, NULL, 0, &len, &unavailable));
	STEP(posix_trace_rewind(opened));
	STEP(posix_trace_close(opened));
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); /* close(2) would be a cancellation
							       * point */
	close(fd);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	return NULL;
}

struct part {
	void *(*body)(void *arg);
	void *arg;
};

/* Tests for a cancellation after `body` has returned, in a frame of its own. */
static void *play(void *arg)
{
	const struct part *part = arg;
	void *failure = part->body(part->arg);

	if (failure)
		return failure;
	pthread_testcancel();
	return (void *)(uintptr_t)"was not cancelled";
}

static void assert_cancelled_after(void *(*body)(void *), void *arg, int expected)
{
	struct part part = { body, arg };
	void *result;

	steps = 0;
	result = join(spawn(play, &part));
	ck_assert_msg(result == PTHREAD_CANCELED, "%s after %d steps", (char *)result, steps);
	ck_assert_int_eq(steps, expected);
}

/* SIGCAN-01 */
START_TEST(calls_on_objects_are_no_cancellation_points)
{
	assert_cancelled_after(use_objects, NULL, 26);
}
END_TEST

/* SIGCAN-01, SIGCAN-02, EVENT-16, TRY-04 */
START_TEST(trace_points_and_quick_calls_are_no_cancellation_points)
{
	static const int policy[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };

	for (int i = 0; i < 2; i++) {
		trace_id_t trid = STREAM(.policy = policy[i], .size = 4000);

		assert_cancelled_after(use_stream, &trid, 7000);
		shut(trid);
	}
}
END_TEST

/* SIGCAN-03, SIGCAN-02 */
START_TEST(only_the_waiting_calls_are_cancellation_points)
{
	assert_cancelled_after(use_the_others, NULL, 18);
}
END_TEST

static void *wait_cancelled(void *arg)
{
	trace_id_t trid = *(trace_id_t *)arg;
	struct posix_trace_event_info info;
	struct timespec never = { (time_t)1 << 60, 0 };
	int unavailable;
	size_t len;

	request_cancellation();
	if (steps)
		posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable);
	else
		posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len, &unavailable, &never);
	return (void *)(uintptr_t)"was not cancelled";
}

/* SIGCAN-03, GETNEXT-11 */
START_TEST(a_pending_cancellation_ends_a_wait_and_leaves_the_stream_usable)
{
	trace_id_t trid = STREAM();

	for (steps = 0; steps < 2; steps++) {
		void *result = join(spawn(wait_cancelled, &trid));

		ck_assert_msg(result == PTHREAD_CANCELED, "%s", (char *)result);
	}
	start(trid);
	ck_assert_events(trid, "START");
	shut(trid);
}
END_TEST

/*
 * Reads a line of a status file of /proc as a hexadecimal number, such as the mask of blocked
 * signals.
 */
static uint64_t mask_of(const char *path, const char *key)
{
	FILE *file = fopen(path, "r");
	unsigned long long mask = 0;
	char line[256];
	int found = 0;

	ck_assert_ptr_nonnull(file);
	while (!found && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			found = sscanf(line + strlen(key), " %llx", &mask);
	fclose(file);
	ck_assert_int_eq(found, 1);
	return mask;
}

static volatile sig_atomic_t handled;

static void note(int signal)
{
	(void)signal;
	handled++;
}

/* SIGCAN-04 */
START_TEST(the_librarys_threads_take_no_signal_and_install_no_handler)
{
	/* All signals except SIGKILL, SIGSTOP and the two signals that the C library reserves. */
	const uint64_t all = ~(1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1) | 3ull << 31);
	uint64_t caught, ignored, now_caught, now_ignored;
	int fd = memory_file("log", MFD_CLOEXEC);
	struct dirent *entry;
	trace_id_t trid;
	sigset_t usr1, pending;
	DIR *tasks;

	ck_assert_ptr_ne(signal(SIGUSR1, note), SIG_ERR);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &usr1, NULL), 0);
	caught = mask_of("/proc/self/status", "SigCgt:");
	ignored = mask_of("/proc/self/status", "SigIgn:");
	OK(posix_trace_create_withlog(0, NULL, fd, &trid));
	start(trid);
	for (int i = 0; i < 100000; i++)
		trace_number(POSIX_TRACE_UNNAMED_USEREVENT, i);
	OK(posix_trace_flush(trid));

	tasks = opendir("/proc/self/task");
	ck_assert_ptr_nonnull(tasks);
	while ((entry = readdir(tasks))) {
		char path[300];

		if (entry->d_name[0] == '.' || atoi(entry->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		ck_assert_uint_eq(mask_of(path, "SigBlk:") & all, all);
	}
	closedir(tasks);
	ck_assert_int_eq(kill(getpid(), SIGUSR1), 0);
	OK(posix_trace_flush(trid));
	ck_assert_int_eq(sigpending(&pending), 0);
	ck_assert_int_eq(sigismember(&pending, SIGUSR1), 1);
	ck_assert_int_eq(handled, 0);
	ck_assert_int_eq(pthread_sigmask(SIG_UNBLOCK, &usr1, NULL), 0);
	ck_assert_int_eq(handled, 1);
	shut(trid);
	now_caught = mask_of("/proc/self/status", "SigCgt:");
	now_ignored = mask_of("/proc/self/status", "SigIgn:");
	/* The C library catches its two reserved signals when threads are cancelled. */
	ck_assert_uint_eq(now_caught & ~(3ull << 31), caught & ~(3ull << 31));
	ck_assert_uint_eq(now_ignored & ~(3ull << 31), ignored & ~(3ull << 31));
	close(fd);
}
END_TEST

/* SIGCAN-04: no call that changes masks internally leaves the caller's mask changed */
START_TEST(the_callers_mask_stays)
{
	int fd = memory_file("log", MFD_CLOEXEC);
	uint64_t before = mask_of("/proc/thread-self/status", "SigBlk:");
	trace_id_t trid;

	OK(posix_trace_create_withlog(0, NULL, fd, &trid));
	start(trid);
	ck_assert_uint_eq(mask_of("/proc/thread-self/status", "SigBlk:"), before);
	trace_number(POSIX_TRACE_UNNAMED_USEREVENT, 1);
	ck_assert_uint_eq(mask_of("/proc/thread-self/status", "SigBlk:"), before);
	OK(posix_trace_flush(trid));
	ck_assert_uint_eq(mask_of("/proc/thread-self/status", "SigBlk:"), before);
	shut(trid);
	ck_assert_uint_eq(mask_of("/proc/thread-self/status", "SigBlk:"), before);
	close(fd);
}
END_TEST

SUITE_NEEDS("mask");

SUITE_MAIN("cancellation and signals",
	   calls_on_objects_are_no_cancellation_points,
	   trace_points_and_quick_calls_are_no_cancellation_points,
	   only_the_waiting_calls_are_cancellation_points,
	   a_pending_cancellation_ends_a_wait_and_leaves_the_stream_usable,
	   the_librarys_threads_take_no_signal_and_install_no_handler,
	   the_callers_mask_stays)
