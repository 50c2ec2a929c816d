/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * when.h - times of CLOCK_REALTIME in nanoseconds, as people write them.
 *
 * Written: 2025-02-03T10:15:32.123456789 in local time, with a Z behind it in UTC.
 * Read: the same, the date alone or with less of the time, with Z or +01:00; or seconds since
 * 1970 with a fraction.
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

#define WHEN_BYTES 48

/* The time into p, the end returned; no NUL. Remembers the last second: dumps are in order. */
char *when_put(char *p, int64_t time_ns, enum when_form form);

/* As a string in a buffer of WHEN_BYTES. */
const char *when_string(char *buffer, int64_t time_ns, enum when_form form);

/* Seconds with nine decimals, signed when sign is set. */
char *when_put_span(char *p, int64_t span_ns, bool sign);
const char *when_span_string(char *buffer, int64_t span_ns);

/* As one number; a time past its range becomes the range's end. */
int64_t when_timespec(const struct timespec *time);

/* False: that is no time. A time without a zone is local, or UTC when utc is set. */
bool when_parse(const char *text, bool utc, int64_t *time_ns);

#endif
