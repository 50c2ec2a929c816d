/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "choose/bound.h"

#include <string.h>
#include <time.h>

#include "base/when.h"

#define SECOND_NS INT64_C(1000000000)
#define DAY_NS    (86400 * SECOND_NS)

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", SECOND_NS },
	{ "m", 60 * SECOND_NS }, { "h", 3600 * SECOND_NS }, { "d", DAY_NS },
};

static int64_t unit_ns(const char *name)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].name, name))
			return units[i].ns;
	return 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number, perhaps with a fraction, and a unit, which may be missing if optional: then seconds. */
static bool span(const char *p, bool optional, int64_t *ns)
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
	unit = !*p && optional ? SECOND_NS : unit_ns(p);
	if (!unit || __builtin_mul_overflow(whole, unit, ns))
		return false;
	for (tenth = unit / 10; fraction && is_digit(*fraction); fraction++, tenth /= 10)
		part += tenth * (*fraction - '0');
	return !__builtin_add_overflow(*ns, part, ns);
}

/* 10:15, 10:15:32 or 10:15:32.5 */
static bool of_day(const char *text, int64_t *ns)
{
	char date[64] = "1970-01-01T";

	if (!is_digit(text[0]) || !is_digit(text[1]) || text[2] != ':' || strlen(text) > 40)
		return false;
	strcat(date, text);
	if (strchr(text, 'Z') || strchr(text, '+') || strchr(text, '-'))
		return false;
	return when_parse(date, true, ns);
}

bool bound_parse(const char *text, bool utc, struct bound *bound)
{
	bound->utc = utc;
	if (*text == '+') {
		bound->kind = BOUND_BEHIND_FIRST;
		return span(text + 1, true, &bound->ns);
	}
	if (*text == '-' && span(text + 1, false, &bound->ns)) {
		bound->kind = BOUND_BEFORE_LAST;
		return true;
	}
	if (of_day(text, &bound->ns)) {
		bound->kind = BOUND_OF_DAY;
		return true;
	}
	bound->kind = BOUND_TIME;
	return when_parse(text, utc, &bound->ns);
}

static int64_t sum(int64_t a, int64_t b)
{
	int64_t ns;

	return __builtin_add_overflow(a, b, &ns) ? (b < 0 ? INT64_MIN : INT64_MAX) : ns;
}

static int64_t on_day_of(const struct bound *bound, int64_t first_ns, int64_t last_ns)
{
	time_t second = first_ns / SECOND_NS - (first_ns % SECOND_NS < 0);
	struct tm tm;
	int64_t ns, next;

	memset(&tm, 0, sizeof(tm));
	if (bound->utc)
		gmtime_r(&second, &tm);
	else
		localtime_r(&second, &tm);
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_sec = (int)(bound->ns / SECOND_NS);
	tm.tm_isdst = -1;
	second = bound->utc ? timegm(&tm) : mktime(&tm);
	if (__builtin_mul_overflow((int64_t)second, SECOND_NS, &ns))
		return second < 0 ? INT64_MIN : INT64_MAX;
	ns = sum(ns, bound->ns % SECOND_NS);
	/* No time is behind the last one that a number can say. */
	if (__builtin_add_overflow(ns, DAY_NS, &next))
		return ns;
	return ns < first_ns && next <= last_ns ? next : ns;
}

int64_t bound_at(const struct bound *bound, int64_t first_ns, int64_t last_ns, int64_t none)
{
	switch (bound->kind) {
	case BOUND_TIME:
		return bound->ns;
	case BOUND_BEHIND_FIRST:
		return sum(first_ns, bound->ns);
	case BOUND_BEFORE_LAST:
		return sum(last_ns, -bound->ns);
	case BOUND_OF_DAY:
		return on_day_of(bound, first_ns, last_ns);
	default:
		return none;
	}
}
