/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * quantity.h - sizes and spans of time, as people write them after an option.
 *
 * A size is a whole number of bytes with K, M or G (of 1024) behind it, or nothing. A span is a
 * number, perhaps with a fraction, with ms, s, m or h behind it; seconds without.
 */
#ifndef POSIXTRACE_BASE_QUANTITY_H
#define POSIXTRACE_BASE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: that is none, or 0, or too much; it has been said. */
bool quantity_bytes(const char *option, const char *text, size_t *bytes);
bool quantity_span(const char *option, const char *text, int64_t *span_ns);

#endif
