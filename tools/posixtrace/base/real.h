/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * real.h - the shortest decimal form of a floating point number, and its conversion to an integer.
 *
 * All output formats use the same form, so that their outputs can be compared. The decimal point
 * depends on the locale category LC_NUMERIC, which the tool sets to "C".
 */
#ifndef POSIXTRACE_BASE_REAL_H
#define POSIXTRACE_BASE_REAL_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define REAL_BYTES 32

/*
 * Writes the form with the fewest digits from which strtod() restores the same number. If is_single
 * is true, the number is a float, and strtof() restores it. Infinite numbers and not-a-number
 * become inf, -inf, nan or -nan.
 */
static inline void real_text(char text[REAL_BYTES], double value, bool is_single)
{
	const int most = is_single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
	int digits = is_single ? FLT_DIG : DBL_DIG;

	for (;; digits++) {
		snprintf(text, REAL_BYTES, "%.*g", digits, value);
		if (digits == most ||
		    (is_single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value))
			return;
	}
}

/*
 * Returns the integer part of a number. In C, the conversion of a number that does not fit into the
 * integer type is undefined, and (double)UINT64_MAX does not fit. The function returns the nearest
 * limit for such a number, and 0 for a not-a-number.
 */
static inline uint64_t real_unsigned(double value)
{
	return !(value > 0) ? 0 : value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

#endif
