/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

void nearest_begin(struct nearest *nearest, const char *given)
{
	size_t len = strlen(given);

	nearest->given = len <= NEAREST_BYTES ? given : "";
	nearest->name = NULL;
	/* A third of it may be wrong, and in a short name one letter or two that changed places. */
	nearest->distance = (len < 4 ? 1 : len < 6 ? 2 : len / 3) + 1;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Letters that are missing, too many, others, or changed with the next one: Damerau and
 * Levenshtein.
 */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][NEAREST_BYTES + 1], *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_len; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *oldest = before;

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = least(least(last[j], row[j - 1]) + 1,
				       last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = oldest;
	}
	return last[b_len];
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	size_t len = strlen(name), off;

	if (!*nearest->given || len > NEAREST_BYTES)
		return;
	off = distance(nearest->given, strlen(nearest->given), name, len);
	if (off >= nearest->distance)
		return;
	nearest->distance = off;
	nearest->name = name;
}

const char *nearest_hint(const struct nearest *nearest)
{
	static char hint[NEAREST_BYTES + 32];

	hint[0] = '\0';
	if (nearest->name)
		snprintf(hint, sizeof(hint), "; did you mean %s?", nearest->name);
	return hint;
}
