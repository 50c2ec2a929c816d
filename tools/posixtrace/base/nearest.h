/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nearest.h - of the names that there are, the one that a mistyped name was probably meant to be.
 */
#ifndef POSIXTRACE_BASE_NEAREST_H
#define POSIXTRACE_BASE_NEAREST_H

#include <stddef.h>

#define NEAREST_BYTES 64 /* longer names are not compared */

struct nearest {
	const char *given;
	const char *name;  /* the nearest so far; NULL: none is near */
	size_t distance;
};

/* A search; then each name that there is. A name must live as long as the search. */
void nearest_begin(struct nearest *nearest, const char *given);
void nearest_offer(struct nearest *nearest, const char *name);

/* "; did you mean NAME?", or nothing. Valid until the next call. */
const char *nearest_hint(const struct nearest *nearest);

#endif
