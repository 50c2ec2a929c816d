/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* brief.c - durations in few digits: chooses the unit and the number of decimals. */
#include "base/brief.h"

#include <stdio.h>

const char *brief_ns(char *text, double ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = { { 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" } };
	unsigned unit = 0;
	double value;

	/*
	 * Each limit below is the least value that would be rounded up to one digit more in the
	 * smaller unit. So 999.5 ns prints as 1.000us, not as 1000ns.
	 */
	if (ns < 999.5) {
		snprintf(text, BRIEF_BYTES, "%.0fns", ns);
		return text;
	}
	while (unit < 2 && ns >= 999.95 * units[unit].ns)
		unit++;
	value = ns / units[unit].ns;
	snprintf(text, BRIEF_BYTES, "%.*f%s", value < 9.9995 ? 3 : value < 99.995 ? 2 : 1, value,
		 units[unit].name);
	return text;
}
