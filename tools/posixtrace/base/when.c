/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * when.c - writes and parses times. A time is written for each printed event, so the code uses no
 * stdio.
 */
#include "base/when.h"

#include <string.h>

#include "base/put.h"

#define SECOND_NS INT64_C(1000000000)

/*
 * Returns the second of a time, rounded down. The division of C rounds towards zero, which would be
 * wrong before 1970.
 */
static int64_t floor_seconds(int64_t time_ns)
{
	return time_ns / SECOND_NS - (time_ns % SECOND_NS < 0);
}

/* Writes the date and time of a second, and the point behind it. */
static void spell_second(char *p, int64_t second, bool utc)
{
	time_t t = second;
	struct tm tm;

	memset(&tm, 0, sizeof(tm));
	if (utc)
		gmtime_r(&t, &tm);
	else
		localtime_r(&t, &tm);
	/* 64 bits of nanoseconds reach from 1677 to 2262, so each year has four digits. */
	p = put_digits(p, (uint64_t)tm.tm_year + 1900, 4);
	*p++ = '-';
	p = put_digits(p, (unsigned)tm.tm_mon + 1, 2);
	*p++ = '-';
	p = put_digits(p, (unsigned)tm.tm_mday, 2);
	*p++ = 'T';
	p = put_digits(p, (unsigned)tm.tm_hour, 2);
	*p++ = ':';
	p = put_digits(p, (unsigned)tm.tm_min, 2);
	*p++ = ':';
	p = put_digits(p, (unsigned)tm.tm_sec, 2);
	*p = '.';
}

/*
 * The text of a second, which is kept for the next times. Nearly every time of a log is in the same
 * second as the time before it, and localtime_r() needs more time than all other parts of a line. A
 * kept text also saves the divisions that split a time into its second and its fraction.
 */
struct kept_second {
	int64_t begin_ns;
	bool valid;
	size_t len;
	char text[24];
};

/*
 * Returns true if the time is in the kept second. The arithmetic is unsigned, because a difference
 * of two times may overflow a signed number.
 */
static bool is_kept(const struct kept_second *kept, int64_t time_ns)
{
	return kept->valid &&
	       (uint64_t)time_ns - (uint64_t)kept->begin_ns < (uint64_t)SECOND_NS;
}

/*
 * Notes the second of a time. Two seconds are not kept for the next time: the earliest second
 * begins before the range of 64 bits, and the latest second ends behind this range. is_kept()
 * computes modulo 2^64, so it would count the earliest times as part of the latest second.
 */
static void keep_second(struct kept_second *kept, int64_t second)
{
	kept->valid = !__builtin_mul_overflow(second, SECOND_NS, &kept->begin_ns) &&
		      kept->begin_ns <= INT64_MAX - SECOND_NS;
}

/*
 * Writes the nanoseconds of a second. The function keeps the last digits, because the caller often
 * writes a time twice, in two forms.
 */
static char *put_fraction(char *p, uint32_t ns)
{
	static struct {
		uint32_t ns;
		char text[10];
	} last = { 0, "000000000" };

	if (last.ns != ns) {
		put_nine(last.text, ns);
		last.ns = ns;
	}
	/*
	 * The digits are loaded as put_nine() has stored them: one, then eight. A load of bytes of
	 * both stores would wait until the stores have reached the cache.
	 */
	*p = last.text[0];
	memcpy(p + 1, last.text + 1, 8);
	return p + 9;
}

/* Writes nanoseconds since 1970. */
static char *put_raw(char *p, int64_t time_ns)
{
	static struct kept_second kept;

	/*
	 * put_fraction() would write leading zeros, so a time below one second is written by
	 * put_signed().
	 */
	if (time_ns < SECOND_NS)
		return put_signed(p, time_ns);
	if (!is_kept(&kept, time_ns)) {
		keep_second(&kept, time_ns / SECOND_NS);
		kept.len = (size_t)(put_signed(kept.text, time_ns / SECOND_NS) - kept.text);
	}
	/* The second has at most ten digits, because the time is at most INT64_MAX. */
	memcpy(p, kept.text, 10);
	return put_fraction(p + kept.len, (uint32_t)((uint64_t)time_ns - (uint64_t)kept.begin_ns));
}

char *when_put(char *p, int64_t time_ns, enum when_form form)
{
	static struct kept_second local, utc;
	struct kept_second *kept = form == WHEN_UTC ? &utc : &local;

	if (form == WHEN_RAW)
		return put_raw(p, time_ns);
	if (!is_kept(kept, time_ns)) {
		int64_t second = floor_seconds(time_ns);

		keep_second(kept, second);
		spell_second(kept->text, second, form == WHEN_UTC);
	}
	memcpy(p, kept->text, 20);
	/* Even if the second is not kept, begin_ns has the low 64 bits of its beginning. */
	p = put_fraction(p + 20, (uint32_t)((uint64_t)time_ns - (uint64_t)kept->begin_ns));
	if (form == WHEN_UTC)
		*p++ = 'Z';
	return p;
}

const char *when_string(char *buffer, int64_t time_ns, enum when_form form)
{
	*when_put(buffer, time_ns, form) = '\0';
	return buffer;
}

char *when_put_span(char *p, int64_t span_ns, bool sign)
{
	uint64_t size = span_ns < 0 ? -(uint64_t)span_ns : (uint64_t)span_ns;

	if (span_ns < 0 || sign)
		*p++ = span_ns < 0 ? '-' : '+';
	/* Most spans are shorter than a second and need no division. */
	if (size < SECOND_NS)
		*p++ = '0';
	else
		p = put_unsigned(p, size / SECOND_NS);
	*p++ = '.';
	return put_nine(p, (uint32_t)(size < SECOND_NS ? size : size % SECOND_NS));
}

const char *when_span_string(char *buffer, int64_t span_ns)
{
	*when_put_span(buffer, span_ns, false) = '\0';
	return buffer;
}

int64_t when_timespec(const struct timespec *time)
{
	int64_t time_ns;

	if (__builtin_mul_overflow((int64_t)time->tv_sec, SECOND_NS, &time_ns) ||
	    __builtin_add_overflow(time_ns, (int64_t)time->tv_nsec, &time_ns))
		return time->tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return time_ns;
}

/*
 * The following functions that have the parameter "const char **p" parse. If the text at *p has the
 * expected form, they move *p behind it and return true. Otherwise they return false.
 */

/* Reads exactly the given number of digits. The number must be between low and high. */
static bool read_number(const char **p, unsigned digits, int low, int high, int *value)
{
	*value = 0;
	for (unsigned i = 0; i < digits; i++) {
		if (**p < '0' || **p > '9')
			return false;
		*value = *value * 10 + (*(*p)++ - '0');
	}
	return *value >= low && *value <= high;
}

/* Skips the character c. */
static bool skip_literal(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/*
 * Reads an optional fraction such as ".123456789" as nanoseconds. Digits after the ninth are
 * dropped.
 */
static bool read_fraction(const char **p, int64_t *ns)
{
	int64_t unit = SECOND_NS / 10;

	*ns = 0;
	if (!skip_literal(p, '.'))
		return true;
	if (**p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++, unit /= 10)
		*ns += unit * (**p - '0');
	return true;
}

/*
 * Reads an optional zone: "Z", "+01:00" or "+0100". *offset is in seconds. If the text has no zone,
 * *utc remains unchanged.
 */
static bool read_zone(const char **p, bool *utc, int *offset)
{
	int hours, minutes;
	int sign = **p == '-' ? -1 : 1;

	*offset = 0;
	if (skip_literal(p, 'Z') || skip_literal(p, 'z')) {
		*utc = true;
		return true;
	}
	if (**p != '+' && **p != '-')
		return true;
	(*p)++;
	if (!read_number(p, 2, 0, 23, &hours))
		return false;
	skip_literal(p, ':');
	if (!read_number(p, 2, 0, 59, &minutes))
		return false;
	*utc = true;
	*offset = sign * (hours * 3600 + minutes * 60);
	return true;
}

/*
 * Returns whether the month has this day. The check is needed because mktime() would turn the 30th
 * of February into a day of March.
 */
static bool is_day(int year, int month, int day)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return day <= days[month - 1] + (month == 2 && is_leap);
}

/* Reads a date with an optional time of day and zone. Returns false if p is not such a text. */
static bool parse_iso(const char *p, bool utc, int64_t *second, int64_t *ns)
{
	struct tm tm;
	int offset, year, month;

	memset(&tm, 0, sizeof(tm));
	tm.tm_isdst = -1; /* mktime() finds out about summer time */
	*ns = 0;
	/* The range of years is the range of 64 bits of nanoseconds. */
	if (!read_number(&p, 4, 1677, 2262, &year) || !skip_literal(&p, '-') ||
	    !read_number(&p, 2, 1, 12, &month) || !skip_literal(&p, '-') ||
	    !read_number(&p, 2, 1, 31, &tm.tm_mday) || !is_day(year, month, tm.tm_mday))
		return false;
	if (skip_literal(&p, 'T') || skip_literal(&p, 't') || skip_literal(&p, ' ')) {
		if (!read_number(&p, 2, 0, 23, &tm.tm_hour) || !skip_literal(&p, ':') ||
		    !read_number(&p, 2, 0, 59, &tm.tm_min))
			return false;
		if (skip_literal(&p, ':') &&
		    (!read_number(&p, 2, 0, 60, &tm.tm_sec) || !read_fraction(&p, ns)))
			return false;
	}
	if (!read_zone(&p, &utc, &offset) || *p)
		return false;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	*second = (utc ? timegm(&tm) : mktime(&tm)) - offset;
	return true;
}

/*
 * Reads seconds since 1970 with an optional fraction. A minus sign applies to the seconds and to
 * the fraction. Returns false if p is not such a text.
 */
static bool parse_seconds(const char *p, int64_t *second, int64_t *ns)
{
	bool negative = skip_literal(&p, '-');

	if (*p < '0' || *p > '9')
		return false;
	*second = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(*second, 10, second) ||
		    __builtin_add_overflow(*second, *p - '0', second))
			return false;
	if (!read_fraction(&p, ns) || *p)
		return false;
	if (negative) {
		*second = -*second;
		*ns = -*ns;
	}
	return true;
}

int64_t when_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return when_timespec(&now);
}

int64_t when_since(int64_t last_ns)
{
	return last_ns ? when_now() - last_ns : INT64_MIN;
}

bool when_parse(const char *text, bool utc, int64_t *time_ns)
{
	int64_t second, ns;

	/*
	 * The ISO form is tried first. A number of seconds contains no "-MM", so it cannot be
	 * mistaken for a time in ISO form.
	 */
	if (!parse_iso(text, utc, &second, &ns) && !parse_seconds(text, &second, &ns))
		return false;
	return !__builtin_mul_overflow(second, SECOND_NS, &second) &&
	       !__builtin_add_overflow(second, ns, time_ns);
}
