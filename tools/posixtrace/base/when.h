/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * when.h - times of CLOCK_REALTIME in nanoseconds, in the forms that people write.
 *
 * Output: 2025-02-03T10:15:32.123456789 in local time, or with a Z in UTC.
 *
 * Input: a date as in the output, with or without a time of day. The time of day may lack the
 * fraction, or the seconds and the fraction. A zone such as Z or +01:00 may follow. Seconds since
 * 1970 with an optional fraction are also accepted.
 */
#ifndef POSIXTRACE_BASE_WHEN_H
#define POSIXTRACE_BASE_WHEN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum when_form {
	WHEN_LOCAL,
	WHEN_UTC,
	WHEN_RAW /* nanoseconds as a number */
};

#define WHEN_BYTES 48 /* enough for each time and duration that these functions write */

/*
 * Writes the time into p without a NUL and returns the end. The function keeps the text of the last
 * second in a static buffer, because the next time in the output is usually in the same second. So
 * only one thread may call it.
 */
char *when_put(char *p, int64_t time_ns, enum when_form form);

/* Writes the time as a string into a buffer of WHEN_BYTES and returns the buffer. */
const char *when_string(char *buffer, int64_t time_ns, enum when_form form);

/*
 * These functions write a duration in seconds with nine decimals. If "sign" is true, a duration
 * that is not negative gets a plus sign.
 */
char *when_put_span(char *p, int64_t span_ns, bool sign);
const char *when_span_string(char *buffer, int64_t span_ns);

/* Returns the time in nanoseconds. A value out of range becomes the end of the range. */
int64_t when_timespec(const struct timespec *time);

/* Returns the present time. */
int64_t when_now(void);

/*
 * Returns the argument since_ns of posix_trace_snapshot_since_np(): the time that is last_ns before
 * now. If last_ns is 0, returns INT64_MIN, which means that there is no limit.
 */
int64_t when_since(int64_t last_ns);

/*
 * Parses a time. Returns false if the text is not a time, or if the time is out of range. A time
 * without a zone is in local time, or in UTC if utc is true.
 */
bool when_parse(const char *text, bool utc, int64_t *time_ns);

#endif
