/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bound.c - parses bounds and computes their times for a log. A damaged log may seem to begin or
 * end at any time, so a sum may overflow. Such a sum becomes the end of the range of int64_t.
 */
#include "choose/bound.h"

#include <string.h>
#include <time.h>

#include "base/quantity.h"
#include "base/say.h"
#include "base/text.h"
#include "base/when.h"

#define SECOND_NS INT64_C(1000000000)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Parses a number, optionally with a fraction, and a unit. If "optional" is true, the unit may be
 * missing, and the number is then in seconds.
 */
static bool parse_span(const char *p, bool optional, int64_t *ns)
{
	int64_t whole = 0, unit, part = 0, tenth;
	const char *fraction = NULL;

	if (!is_digit(*p))
		return false;
	for (; is_digit(*p); p++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, *p - '0', &whole))
			return false;
	if (*p == '.') {
		fraction = ++p;
		if (!is_digit(*p))
			return false;
		while (is_digit(*p))
			p++;
	}
	unit = !*p && optional ? SECOND_NS : (int64_t)quantity_unit_ns(p);
	if (!unit || __builtin_mul_overflow(whole, unit, ns))
		return false;
	/*
	 * Each digit is worth a tenth of the digit before it. When tenth has become 0, further
	 * digits change nothing.
	 */
	for (tenth = unit / 10; fraction && is_digit(*fraction); fraction++, tenth /= 10)
		part += tenth * (*fraction - '0');
	return !__builtin_add_overflow(*ns, part, ns);
}

/*
 * Parses a time of day: 10:15, 10:15:32 or 10:15:32.5. The function parses it as a time on the
 * first day of 1970 in UTC, so the result is the number of nanoseconds since midnight.
 */
static bool parse_time_of_day(const char *text, int64_t *ns)
{
	char date[64] = "1970-01-01T";

	if (!is_digit(text[0]) || !is_digit(text[1]) || text[2] != ':' || strlen(text) > 40)
		return false;
	strcat(date, text);
	/* when_parse() would accept a zone, which a time of day cannot have. */
	if (strchr(text, 'Z') || strchr(text, '+') || strchr(text, '-'))
		return false;
	return when_parse(date, true, ns);
}

bool bound_parse(const char *text, bool utc, struct bound *bound)
{
	bound->utc = utc;
	if (*text == '+') {
		bound->kind = BOUND_BEHIND_FIRST;
		return parse_span(text + 1, true, &bound->ns);
	}
	/*
	 * A number without a unit would be a time before 1970, which no log has. The user probably
	 * means a time before the last event, but does not say in which unit. So the function
	 * refuses the number.
	 */
	if (*text == '-') {
		bound->kind = BOUND_BEFORE_LAST;
		return parse_span(text + 1, false, &bound->ns);
	}
	if (parse_time_of_day(text, &bound->ns)) {
		bound->kind = BOUND_OF_DAY;
		return true;
	}
	bound->kind = BOUND_TIME;
	return when_parse(text, utc, &bound->ns);
}

const char *bound_reason(const char *text)
{
	int64_t ns;

	return *text == '-' && parse_span(text + 1, true, &ns)
		       ? "a time before the last event needs a unit, such as -200ms"
		       : "not a time such as 2026-01-02T03:04:05, 10:15, +1.5s or -200ms";
}

void bound_say_wrong(const char *option, const char *text)
{
	say("%s %s: %s", option, text_given(text), bound_reason(text));
}

/* Adds two numbers. On an overflow the result is the end of the range. */
static int64_t add_saturated(int64_t a, int64_t b)
{
	int64_t ns;

	return __builtin_add_overflow(a, b, &ns) ? (b < 0 ? INT64_MIN : INT64_MAX) : ns;
}

/*
 * Stores the bound's time of day on the day of "first", or "days" days later. The function passes
 * hours, minutes and seconds to mktime(), and not the seconds since midnight. mktime() adds seconds
 * above 59 only after it has applied summer time. So with the seconds since midnight, the result
 * would be an hour wrong on a day on which summer time begins or ends before this time of day.
 * Returns false if the time does not fit into 64 bits of nanoseconds; then *ns is the end of the
 * range.
 */
static bool on_day_after(const struct bound *bound, time_t first, int days, int64_t *ns)
{
	const int of_day = (int)(bound->ns / SECOND_NS);
	time_t second;
	struct tm tm;

	memset(&tm, 0, sizeof(tm));
	if (bound->utc)
		gmtime_r(&first, &tm);
	else
		localtime_r(&first, &tm);
	tm.tm_mday += days; /* mktime() accepts a day behind the end of the month */
	tm.tm_hour = of_day / 3600;
	tm.tm_min = of_day / 60 % 60;
	tm.tm_sec = of_day % 60;
	tm.tm_isdst = -1;
	second = bound->utc ? timegm(&tm) : mktime(&tm);
	if (!__builtin_mul_overflow((int64_t)second, SECOND_NS, ns) &&
	    !__builtin_add_overflow(*ns, bound->ns % SECOND_NS, ns))
		return true;
	*ns = second < 0 ? INT64_MIN : INT64_MAX;
	return false;
}

/*
 * Returns the time of day on the day of the log's first event. But if this time is before the first
 * event, and the same time of the next day is within the log, the function returns the time of the
 * next day.
 */
static int64_t on_day_of(const struct bound *bound, int64_t first_ns, int64_t last_ns)
{
	time_t first = first_ns / SECOND_NS - (first_ns % SECOND_NS < 0);
	int64_t ns, next;

	if (!on_day_after(bound, first, 0, &ns) || ns >= first_ns)
		return ns;
	return on_day_after(bound, first, 1, &next) && next <= last_ns ? next : ns;
}

int64_t bound_at(const struct bound *bound, int64_t first_ns, int64_t last_ns, int64_t none)
{
	switch (bound->kind) {
	case BOUND_TIME:
		return bound->ns;
	case BOUND_BEHIND_FIRST:
		return add_saturated(first_ns, bound->ns);
	case BOUND_BEFORE_LAST:
		return add_saturated(last_ns, -bound->ns);
	case BOUND_OF_DAY:
		return on_day_of(bound, first_ns, last_ns);
	default:
		return none;
	}
}
