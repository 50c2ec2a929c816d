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
	size_t max_data; /* NO_DATA means a maximum of 0 */
	int inheritance;
	const char *name;
};
#define NO_DATA SIZE_MAX

void wish_attr(trace_attr_t *attr, const struct wish *wish);

/* stream_create() creates a stream of the calling process, which is suspended.
 * stream_create_started() also starts it. */
trace_id_t stream_create(const struct wish *wish);
trace_id_t stream_create_started(const struct wish *wish);
/* These functions do the same for a stream of the process `pid`. */
trace_id_t stream_attach(pid_t pid, const struct wish *wish);
trace_id_t stream_attach_started(pid_t pid, const struct wish *wish);
#define STREAM(...)  stream_create(&(struct wish){ __VA_ARGS__ })
#define STARTED(...) stream_create_started(&(struct wish){ __VA_ARGS__ })

void start(trace_id_t trid);
void stop(trace_id_t trid);
void shut(trace_id_t trid);

/* type_of() opens a user event type by its name. trace_number() records an event with the number as
 * its data. */
trace_event_id_t type_of(const char *name);
void trace_number(trace_event_id_t id, int number);

/* Returns the result of posix_trace_get_status(). The call resets the overrun status. */
struct posix_trace_status_info status_of(trace_id_t trid);
#define ck_assert_status(trid, running, full)						\
	do {										\
		struct posix_trace_status_info status_ = status_of(trid);		\
		ck_assert_int_eq(status_.posix_stream_status, POSIX_TRACE_##running);	\
		ck_assert_int_eq(status_.posix_stream_full_status, POSIX_TRACE_##full);	\
	} while (0)

/*
 * Traces events until the stream's status is SUSPENDED and FULL, or FULL for a LOOP stream. Returns
 * the number of calls. The data has `len` bytes, at least 4, and begins with a number that counts
 * from `first`. Fails after more calls than a stream has room for.
 */
int fill(trace_id_t trid, trace_event_id_t id, size_t len, int first);
/* Does the same until the status reports an overrun. Reading the status resets the overrun. */
int overrun(trace_id_t trid, trace_event_id_t id, size_t len, int first);

/* Return the sizes that the stream's attributes promise. */
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

/* Reads the next event into *seen and returns 1, or returns 0 if there is none. It does not wait.
 * The caller frees seen->data. */
int read_one(trace_id_t trid, struct seen *seen);
struct history *read_all(trace_id_t trid);
/* Reads all events of an opened log, up to its end. */
struct history *read_log(trace_id_t trid);
void history_free(struct history *history);
size_t history_count(const struct history *history, trace_event_id_t id);

/*
 * Returns the events as a line of text: "START a b=7 FILTER{->a} STOP(0)". The text of a user event
 * is the name of its type, and its number if the data is an int. The text of a filter is the names
 * of its members; START with an empty filter has no such text. The caller frees the text.
 */
char *history_text(trace_id_t trid, const struct history *history);
void assert_events(const char *file, int line, trace_id_t trid, const char *expected);
/* Reads all events of the stream and compares their text with expected. */
#define ck_assert_events(trid, expected) assert_events(__FILE__, __LINE__, trid, expected)

/* Fails if the event has another type. */
void assert_type(const struct seen *seen, trace_event_id_t id);
/* Fails unless the events from `index` on are user events without a gap, up to `last`. */
void assert_gapless(const struct history *history, size_t index, int last);

/* Returns the number in the data of a user event that trace_number() or fill() has recorded. */
int number_of(const struct seen *seen);
/* Returns the int that is the data of STOP or ERROR. */
int int_of(const struct seen *seen);
int64_t nanoseconds(const struct timespec *time);
/* Returns the time of CLOCK_REALTIME, the clock of the times of events. */
int64_t now_ns(void);

/* Fails unless posix_trace_trygetnext_event() finds no event. */
void assert_empty(trace_id_t trid);

/*
 * Functions for threads. spawn() and join() assert that they succeed. spin_until_asleep() returns
 * when the kernel reports that the thread sleeps.
 */
pthread_t spawn(void *(*body)(void *), void *arg);
void *join(pthread_t thread);
pid_t thread_id(void);
int count_threads(void);
void spin_until_asleep(pid_t tid);

#endif
