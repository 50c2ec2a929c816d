/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prose.h - the text of one event, and the separators between its parts.
 *
 * A separator is pending after a part and may be written before the next part: a soft separator
 * after a field, a hard separator after the label.
 */
#ifndef POSIXTRACE_REPORT_TEMPLATE_PROSE_H
#define POSIXTRACE_REPORT_TEMPLATE_PROSE_H

#include <stdbool.h>
#include <stddef.h>

#define PROSE_BYTES (64 * 1024) /* further text is dropped */

struct prose {
	enum prose_wait {
		WAIT_NONE,
		WAIT_SOFT,
		WAIT_HARD
	} wait;
	/* the last part was added by prose_positional(), for the present list of flags */
	bool positional;
	const char *separator; /* the text of the separator, which the caller owns */
	size_t separator_len;
	size_t column;         /* distance from the left margin of the text */
	size_t len;
	char text[PROSE_BYTES]; /* lines end with \n */
};

/*
 * prose_init() makes the text empty, with a blank as separator. prose_label() adds a text. A
 * separator follows this text even before punctuation, unless the text ends with a line end or a
 * tab.
 */
void prose_init(struct prose *prose);
void prose_label(struct prose *prose, const char *text, size_t len);

/*
 * Literals may contain \n and \t. Fields may contain any bytes; bytes that are not printable become
 * dots.
 */
void prose_literal(struct prose *prose, const char *text, size_t len);
void prose_positional(struct prose *prose, const char *text, size_t len);
void prose_word(struct prose *prose, const char *text, size_t len); /* a field that is a literal */

/*
 * The first three functions add a field piece by piece: the pending separator, the bytes, and the
 * new pending separator. prose_field() adds a complete field.
 */
void prose_begin_field(struct prose *prose);
void prose_byte(struct prose *prose, unsigned char byte);
void prose_end_field(struct prose *prose, bool separated);
void prose_field(struct prose *prose, const char *text, size_t len);

#endif
