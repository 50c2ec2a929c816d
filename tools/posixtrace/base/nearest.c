/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nearest.c - finds the most similar name by edit distance. */
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

void nearest_begin(struct nearest *nearest, const char *given)
{
	size_t len = strlen(given);

	/*
	 * A name that is too long becomes an empty name, because the table of nearest_distance()
	 * has a fixed size. No name is near an empty name.
	 */
	nearest->given = len <= NEAREST_BYTES ? given : "";
	nearest->name = NULL;
	/*
	 * A name is suggested to the user only if its distance from the given name is less than
	 * this limit. If the given name has six or more letters, a third of them may be wrong. If
	 * it has four or five letters, two may be wrong. If it has two or three letters, one may be
	 * wrong. For a single letter no name is suggested, because every other letter would be as
	 * similar.
	 */
	nearest->distance = (len < 2 ? 0 : len < 4 ? 1 : len < 6 ? 2 : len / 3) + 1;
}

static size_t nearest_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Returns the Damerau-Levenshtein distance in its restricted form: one error is a missing,
 * superfluous or different letter, or two neighbouring letters that are exchanged. The function
 * keeps only three rows of the table, because each row is computed from the two rows before it.
 * Both lengths are at most NEAREST_BYTES.
 */
static size_t nearest_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][NEAREST_BYTES + 1], *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_len; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *oldest = before;

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = nearest_least(nearest_least(last[j], row[j - 1]) + 1,
					       last[j - 1] + (a[i - 1] != b[j - 1]));
			/*
			 * For two exchanged letters the distance is computed from the row before
			 * the last one.
			 */
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = nearest_least(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = oldest;
	}
	return last[b_len];
}

/*
 * Compares the given name with a part of an offered name. The other part counts as "more" errors.
 */
static void offer_part(struct nearest *nearest, const char *name, const char *part, size_t more)
{
	const size_t len = strlen(part);
	size_t off;

	if (!*nearest->given || len > NEAREST_BYTES)
		return;
	off = nearest_distance(nearest->given, strlen(nearest->given), part, len) + more;
	if (off >= nearest->distance)
		return;
	nearest->distance = off;
	nearest->name = name;
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	const char *dot = strrchr(name, '.');

	offer_part(nearest, name, name, 0);
	/* The missing first part is one error. */
	if (dot)
		offer_part(nearest, name, dot + 1, 1);
}

/*
 * Returns the length of the word at this place of a printed list. Returns 0 for "and" and "or",
 * because they only join the other words.
 */
static size_t listed_word(const char *at)
{
	size_t len = strcspn(at, ", ");

	return (len == 3 && !memcmp(at, "and", 3)) || (len == 2 && !memcmp(at, "or", 2)) ? 0 : len;
}

const char *nearest_among(const char *given, size_t len, const char *words)
{
	char name[NEAREST_BYTES + 1], word[2][NEAREST_BYTES + 1];
	struct nearest nearest;
	unsigned free_word = 0;

	/* The message already says which word is right if there is only one. */
	if (!words[strcspn(words, ", ")])
		return "";
	if (len > NEAREST_BYTES)
		len = 0;
	memcpy(name, given, len);
	name[len] = '\0';
	nearest_begin(&nearest, name);
	for (const char *at = words; *at; at += strcspn(at, ", "), at += strspn(at, ", ")) {
		size_t bytes = listed_word(at);

		if (!bytes || bytes > NEAREST_BYTES)
			continue;
		memcpy(word[free_word], at, bytes);
		word[free_word][bytes] = '\0';
		nearest_offer(&nearest, word[free_word]);
		/* The nearest name must remain valid, so the next word uses the other buffer. */
		if (nearest.name == word[free_word])
			free_word = !free_word;
	}
	return nearest_hint(&nearest);
}

const char *nearest_hint(const struct nearest *nearest)
{
	static char hint[NEAREST_BYTES + 32];

	hint[0] = '\0';
	if (nearest->name)
		snprintf(hint, sizeof(hint), "; did you mean %s?", nearest->name);
	return hint;
}
