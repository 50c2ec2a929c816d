/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/stream.h - streams, events and reads, for tests of the public interface.
 *
 * Every function here that can fail asserts that it does not, so that a test is short.
 */
#ifndef PTX_TESTS_STREAM_H
#define PTX_TESTS_STREAM_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

#include "support/support.h"

/* Attributes of a stream; a member that is 0 means the default. */
struct wish {
	int policy;
	size_t size;
	size_t max_data; /* NO_DATA for a maximum of 0 */
	int inheritance;
	const char *name;
};
#define NO_DATA SIZE_MAX

void wish_attr(trace_attr_t *attr, const struct wish *wish);

/* A stream of the calling process, suspended as created; STARTED() also starts it. */
trace_id_t stream_create(const struct wish *wish);
trace_id_t stream_create_started(const struct wish *wish);
/* The same of another process. */
trace_id_t stream_attach(pid_t pid, const struct wish *wish);
trace_id_t stream_attach_started(pid_t pid, const struct wish *wish);
#define STREAM(...)  stream_create(&(struct wish){ __VA_ARGS__ })
#define STARTED(...) stream_create_started(&(struct wish){ __VA_ARGS__ })

void start(trace_id_t trid);
void stop(trace_id_t trid);
void shut(trace_id_t trid);

/* A user event type by its name, and an event of it whose data is the number. */
trace_event_id_t type_of(const char *name);
void trace_number(trace_event_id_t id, int number);

/* posix_trace_get_status(), which resets the overrun status. */
struct posix_trace_status_info status_of(trace_id_t trid);
#define ck_assert_status(trid, running, full)						\
	do {										\
		struct posix_trace_status_info status_ = status_of(trid);		\
		ck_assert_int_eq(status_.posix_stream_status, POSIX_TRACE_##running);	\
		ck_assert_int_eq(status_.posix_stream_full_status, POSIX_TRACE_##full);	\
	} while (0)

/*
 * Traces events with len bytes of data (at least 4: a number counting from first) until the
 * stream's status is SUSPENDED and FULL (or, for a LOOP stream, FULL), and returns the number of
 * calls. Fails after more calls than the stream could ever hold.
 */
int fill(trace_id_t trid, trace_event_id_t id, size_t len, int first);
/* The same until the status reports an overrun, which that read resets. */
int overrun(trace_id_t trid, trace_event_id_t id, size_t len, int first);

/* The sizes that the stream's attributes promise. */
size_t stream_size(trace_id_t trid);
size_t user_event_size(const trace_attr_t *attr, size_t len);
size_t system_event_size(const trace_attr_t *attr);

/* One event as it was read, and all events of a stream. */
struct seen {
	struct posix_trace_event_info info;
	size_t len;
	unsigned char *data;
};
struct history {
	size_t n;
	size_t room;
	struct seen *event;
};

/* The next event without waiting: 1 and *seen, whose data the caller frees, or 0. */
int read_one(trace_id_t trid, struct seen *seen);
struct history *read_all(trace_id_t trid);
/* The same from an opened log, up to its end. */
struct history *read_log(trace_id_t trid);
void history_free(struct history *history);
size_t history_count(const struct history *history, trace_event_id_t id);

/*
 * The events as a line of text: "START a b=7 FILTER{->a} STOP(0)". A user event is its name,
 * with its number when its data is an int; filters are the names of their members, nothing for
 * START with an empty one. The caller frees it.
 */
char *history_text(trace_id_t trid, const struct history *history);
void assert_events(const char *file, int line, trace_id_t trid, const char *expected);
/* Reads the stream empty and compares. */
#define ck_assert_events(trid, expected) assert_events(__FILE__, __LINE__, trid, expected)

/* The number that is the data of a user event made by trace_number() or fill(). */
int number_of(const struct seen *seen);
/* The bare int of STOP and ERROR. */
int int_of(const struct seen *seen);
int64_t nanoseconds(const struct timespec *time);
/* By the clock of events. */
int64_t now_ns(void);

/* Fails unless posix_trace_trygetnext_event() finds no event. */
void assert_empty(trace_id_t trid);

/*
 * Threads, and their number in this process. spin_until_asleep() returns when the kernel reports
 * that the thread sleeps.
 */
pthread_t spawn(void *(*body)(void *), void *arg);
void *join(pthread_t thread);
pid_t thread_id(void);
int count_threads(void);
void spin_until_asleep(pid_t tid);

#endif
