/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nearest.h - finds, among the existing names, the one that a mistyped name probably meant. */
#ifndef POSIXTRACE_BASE_NEAREST_H
#define POSIXTRACE_BASE_NEAREST_H

#include <stddef.h>

#define NEAREST_BYTES 64 /* longer names are not compared */

struct nearest {
	const char *given;
	const char *name;  /* the nearest name so far; NULL: no name is near */
	size_t distance;
};

/*
 * nearest_begin() starts a search for the given name. The caller then offers each existing name.
 * The given name and all offered names must remain valid during the search. If an offered name has
 * a dot, the part behind its last dot is compared, too: open is near to io.open.
 */
void nearest_begin(struct nearest *nearest, const char *given);
void nearest_offer(struct nearest *nearest, const char *name);

/*
 * Returns "; did you mean NAME?", or "" if no name is near. The text is valid until the next call.
 */
const char *nearest_hint(const struct nearest *nearest);

/*
 * Returns the hint for a word of a fixed list. "given" need not end with a null byte. "words" is
 * the list as messages print it: "loop, until-full and flush". A list of one word has no hint.
 */
const char *nearest_among(const char *given, size_t len, const char *words);

#endif
