/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * quantity.h - sizes and durations as users write them after an option.
 *
 * A size is a whole number of bytes. K, M or G, also written k, KiB, MiB or GiB, may follow the
 * number, which is then in KiB, MiB or GiB. A duration is a number, optionally with a fraction,
 * followed by ns, us, ms, s, m, h or d; without a unit it is in seconds.
 */
#ifndef POSIXTRACE_BASE_QUANTITY_H
#define POSIXTRACE_BASE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * If the text is not such a quantity, is 0 or is too large, both functions print an error message
 * and return false. "option" is the name of the option in this message.
 */
bool quantity_bytes(const char *option, const char *text, size_t *bytes);
bool quantity_span(const char *option, const char *text, int64_t *span_ns);

/*
 * Returns the length of a unit of time in nanoseconds, or 0 if there is no unit of this name. All
 * commands know the same units.
 */
uint64_t quantity_unit_ns(const char *name);

#endif
