/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/when.h"

#include <string.h>

#include "base/out.h"

#define SECOND_NS INT64_C(1000000000)

static int64_t floor_seconds(int64_t time_ns)
{
	return time_ns / SECOND_NS - (time_ns % SECOND_NS < 0);
}

/* The date and time of a second; localtime_r() takes longer than all the rest of a line. */
static char *put_second(char *p, int64_t second, bool utc)
{
	static struct {
		int64_t second;
		bool utc, valid;
		char text[20];
	} last;

	if (!last.valid || last.second != second || last.utc != utc) {
		time_t t = second;
		struct tm tm;
		char *q = last.text;

		memset(&tm, 0, sizeof(tm));
		if (utc)
			gmtime_r(&t, &tm);
		else
			localtime_r(&t, &tm);
		/* 64 bits of nanoseconds reach from 1677 to 2262: four digits of year. */
		q = put_digits(q, (uint64_t)tm.tm_year + 1900, 4);
		*q++ = '-';
		q = put_digits(q, (unsigned)tm.tm_mon + 1, 2);
		*q++ = '-';
		q = put_digits(q, (unsigned)tm.tm_mday, 2);
		*q++ = 'T';
		q = put_digits(q, (unsigned)tm.tm_hour, 2);
		*q++ = ':';
		q = put_digits(q, (unsigned)tm.tm_min, 2);
		*q++ = ':';
		put_digits(q, (unsigned)tm.tm_sec, 2);
		last.second = second;
		last.utc = utc;
		last.valid = true;
	}
	memcpy(p, last.text, 19);
	return p + 19;
}

char *when_put(char *p, int64_t time_ns, enum when_form form)
{
	int64_t second = floor_seconds(time_ns);

	if (form == WHEN_RAW) {
		if (time_ns < 0)
			*p++ = '-';
		return put_unsigned(p, time_ns < 0 ? -(uint64_t)time_ns : (uint64_t)time_ns);
	}
	p = put_second(p, second, form == WHEN_UTC);
	*p++ = '.';
	p = put_digits(p, (uint64_t)time_ns - (uint64_t)second * SECOND_NS, 9);
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
	p = put_unsigned(p, size / SECOND_NS);
	*p++ = '.';
	return put_digits(p, size % SECOND_NS, 9);
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

/* Reading: each step moves *p over what it took, and is false when that is not there. */

static bool number(const char **p, unsigned digits, int low, int high, int *value)
{
	*value = 0;
	for (unsigned i = 0; i < digits; i++) {
		if (**p < '0' || **p > '9')
			return false;
		*value = *value * 10 + (*(*p)++ - '0');
	}
	return *value >= low && *value <= high;
}

static bool literal(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* ".123456789", or nothing; digits past the ninth are dropped. */
static bool fraction(const char **p, int64_t *ns)
{
	int64_t unit = SECOND_NS / 10;

	*ns = 0;
	if (!literal(p, '.'))
		return true;
	if (**p < '0' || **p > '9')
		return false;
	for (; **p >= '0' && **p <= '9'; (*p)++, unit /= 10)
		*ns += unit * (**p - '0');
	return true;
}

static bool zone(const char **p, bool *utc, int *offset)
{
	int hours, minutes;
	int sign = **p == '-' ? -1 : 1;

	*offset = 0;
	if (literal(p, 'Z') || literal(p, 'z')) {
		*utc = true;
		return true;
	}
	if (**p != '+' && **p != '-')
		return true;
	(*p)++;
	if (!number(p, 2, 0, 23, &hours))
		return false;
	literal(p, ':');
	if (!number(p, 2, 0, 59, &minutes))
		return false;
	*utc = true;
	*offset = sign * (hours * 3600 + minutes * 60);
	return true;
}

static bool parse_iso(const char *p, bool utc, int64_t *second, int64_t *ns)
{
	struct tm tm;
	int offset, year, month;

	memset(&tm, 0, sizeof(tm));
	tm.tm_isdst = -1;
	*ns = 0;
	if (!number(&p, 4, 1677, 2262, &year) || !literal(&p, '-') ||
	    !number(&p, 2, 1, 12, &month) || !literal(&p, '-') ||
	    !number(&p, 2, 1, 31, &tm.tm_mday))
		return false;
	if (literal(&p, 'T') || literal(&p, 't') || literal(&p, ' ')) {
		if (!number(&p, 2, 0, 23, &tm.tm_hour) || !literal(&p, ':') ||
		    !number(&p, 2, 0, 59, &tm.tm_min))
			return false;
		if (literal(&p, ':') && (!number(&p, 2, 0, 60, &tm.tm_sec) || !fraction(&p, ns)))
			return false;
	}
	if (!zone(&p, &utc, &offset) || *p)
		return false;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	*second = (utc ? timegm(&tm) : mktime(&tm)) - offset;
	return true;
}

static bool parse_seconds(const char *p, int64_t *second, int64_t *ns)
{
	bool negative = literal(&p, '-');

	if (*p < '0' || *p > '9')
		return false;
	*second = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(*second, 10, second) ||
		    __builtin_add_overflow(*second, *p - '0', second))
			return false;
	if (!fraction(&p, ns) || *p)
		return false;
	if (negative) {
		*second = -*second;
		*ns = -*ns;
	}
	return true;
}

bool when_parse(const char *text, bool utc, int64_t *time_ns)
{
	int64_t second, ns;

	if (!parse_iso(text, utc, &second, &ns) && !parse_seconds(text, &second, &ns))
		return false;
	return !__builtin_mul_overflow(second, SECOND_NS, &second) &&
	       !__builtin_add_overflow(second, ns, time_ns);
}
