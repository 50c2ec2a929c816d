/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prose.h - the text of one event, and the separators between what it is made of.
 *
 * A separator is written before a thing, never behind it, if it waits: softly behind a field,
 * firmly behind the label.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_PROSE_H
#define POSIXTRACE_REPORT_TEMPLATE_PROSE_H

#include <stdbool.h>
#include <stddef.h>

#define PROSE_BYTES (64 * 1024) /* what is more is cut */

struct prose {
	enum prose_wait {
		WAIT_NONE,
		WAIT_SOFT,
		WAIT_HARD
	} wait;
	bool positional;       /* the last thing was a flag in its position, of this statement */
	const char *separator; /* the caller's, as long as it is set */
	size_t separator_len;
	size_t column;         /* from the left margin of the text */
	size_t len;
	char text[PROSE_BYTES]; /* lines end with \n */
};

void prose_init(struct prose *prose);
void prose_label(struct prose *prose, const char *text, size_t len);

/*
 * Literals may have \n and \t, fields hold bytes of any kind: what cannot be shown becomes a dot.
 */
void prose_literal(struct prose *prose, const char *text, size_t len);
void prose_positional(struct prose *prose, const char *text, size_t len);
void prose_word(struct prose *prose, const char *text, size_t len); /* a field that is a literal */

/* A field piece by piece: what it needs before it, its bytes, what waits behind it. */
void prose_begin_field(struct prose *prose);
void prose_byte(struct prose *prose, unsigned char byte);
void prose_end_field(struct prose *prose, bool separated);
void prose_field(struct prose *prose, const char *text, size_t len);

#endif
