/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* quantity.c - parses sizes and times, and checks them for overflow. */
#include "base/quantity.h"

#include <string.h>

#include "base/say.h"
#include "base/text.h"

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit sizes[] = {
	{ "", 1 }, { "K", 1 << 10 }, { "k", 1 << 10 }, { "KiB", 1 << 10 }, { "M", 1 << 20 },
	{ "MiB", 1 << 20 }, { "G", 1 << 30 }, { "GiB", 1 << 30 }, { NULL, 0 }
};

static const struct unit spans[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	{ "m", UINT64_C(60000000000) }, { "h", UINT64_C(3600000000000) },
	{ "d", UINT64_C(86400000000000) }, { NULL, 0 }
};

/* Returns the factor of a unit, or 0 if there is no such unit. */
static uint64_t factor_of(const struct unit *unit, const char *name)
{
	for (; unit->name; unit++)
		if (!strcmp(unit->name, name))
			return unit->factor;
	return 0;
}

/*
 * Reads digits into *value and moves *p behind them. Returns false if 64 bits cannot hold the
 * number.
 */
static bool quantity_digits(const char **p, uint64_t *value)
{
	*value = 0;
	for (; **p >= '0' && **p <= '9'; (*p)++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(**p - '0'), value))
			return false;
	return true;
}

/*
 * Reads the digits behind the decimal point as billionths. Digits behind the ninth have no effect,
 * because "unit" is then 0.
 */
static uint64_t quantity_fraction(const char **p)
{
	uint64_t billionths = 0, unit = 100000000;

	for (; **p >= '0' && **p <= '9'; (*p)++, unit /= 10)
		billionths += unit * (uint64_t)(**p - '0');
	return billionths;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool quantity_bytes(const char *option, const char *text, size_t *bytes)
{
	const char *p = text;
	uint64_t value, factor;

	if (is_digit(*p) && quantity_digits(&p, &value)) {
		factor = factor_of(sizes, p);
		if (factor && value && !__builtin_mul_overflow(value, factor, bytes))
			return true;
	}
	say("%s %s: not a size such as 65536, 512K or 4M", option, text_given(text));
	return false;
}

uint64_t quantity_unit_ns(const char *name)
{
	return factor_of(spans, name);
}

bool quantity_span(const char *option, const char *text, int64_t *span_ns)
{
	const char *p = text;
	uint64_t value, factor, billionths = 0;

	if (is_digit(*p) && quantity_digits(&p, &value)) {
		if (*p == '.' && is_digit(p[1])) {
			p++;
			billionths = quantity_fraction(&p);
		}
		factor = *p ? quantity_unit_ns(p) : 1000000000;
		/*
		 * The fraction is multiplied by the factor in 128 bits, because a billion times the
		 * factor of a day does not fit into 64 bits.
		 */
		if (factor && !__builtin_mul_overflow(value, factor, span_ns) &&
		    !__builtin_add_overflow(*span_ns,
					    (uint64_t)((unsigned __int128)billionths * factor /
						       1000000000),
					    span_ns) &&
		    *span_ns > 0)
			return true;
	}
	say("%s %s: not a time such as 10, 2.5s, 300ms, 5m, 1h or 7d", option,
	    text_given(text));
	return false;
}
