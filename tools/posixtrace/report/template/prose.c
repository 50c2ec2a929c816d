/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prose.c - collects the text of one event in a buffer of fixed size. The text has only printable
 * ASCII and \n, whatever the event's data is. Text that does not fit is dropped without an error,
 * because the data and the loops of a template decide how much text there is.
 */
#include "report/template/prose.h"

#include <string.h>

void prose_init(struct prose *prose)
{
	prose->wait = WAIT_NONE;
	prose->positional = false;
	prose->separator = " ";
	prose->separator_len = 1;
	prose->column = 0;
	prose->len = 0;
}

/*
 * Returns whether the buffer is full. Loops over long texts end when it is full, so that a huge
 * field costs no more time than to fill the buffer.
 */
static bool is_full(const struct prose *prose)
{
	return prose->len == PROSE_BYTES;
}

/* Adds a character. No other function stores in the text, so the size is checked only here. */
static void prose_put(struct prose *prose, char c)
{
	if (is_full(prose))
		return;
	prose->text[prose->len++] = c;
	prose->column++;
}

/*
 * Adds a byte of the event. Control characters and bytes that are not ASCII become dots, because
 * they must not reach a terminal.
 */
void prose_byte(struct prose *prose, unsigned char byte)
{
	prose_put(prose, byte < 0x20 || byte > 0x7e ? '.' : (char)byte);
}

/*
 * Adds text of a template, in which \n and \t keep their meaning. A tab becomes blanks up to the
 * next multiple of 8 columns of the text, because the columns before the text vary.
 */
static void put_text(struct prose *prose, const char *text, size_t len)
{
	for (size_t i = 0; i < len && !is_full(prose); i++) {
		if (text[i] == '\n') {
			prose_put(prose, '\n');
			prose->column = 0;
		} else if (text[i] == '\t') {
			do
				prose_put(prose, ' ');
			while (prose->column % 8 && !is_full(prose));
		} else {
			prose_byte(prose, (unsigned char)text[i]);
		}
	}
}

static void put_separator(struct prose *prose)
{
	put_text(prose, prose->separator, prose->separator_len);
}

/*
 * Returns whether a literal begins like a word. A field needs a separator before such a literal,
 * but not before punctuation.
 */
static bool begins_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_';
}

/*
 * Adds a literal. White space at its beginning replaces the pending separator. Before a literal
 * without such white space, a pending hard separator is always written, and a pending soft
 * separator only if the literal begins like a word. Behind a literal no separator is pending.
 */
void prose_literal(struct prose *prose, const char *text, size_t len)
{
	if (!len)
		return;
	if (*text == '\n' || *text == '\t' || *text == ' ')
		prose->wait = WAIT_NONE;
	if (prose->wait == WAIT_HARD || (prose->wait == WAIT_SOFT && begins_word(*text)))
		put_separator(prose);
	put_text(prose, text, len);
	prose->wait = WAIT_NONE;
	prose->positional = false;
}

/*
 * Adds the label of an event. A separator follows it even before punctuation, unless the label
 * itself ends with the end of a line or with a tab.
 */
void prose_label(struct prose *prose, const char *text, size_t len)
{
	prose_literal(prose, text, len);
	if (len && text[len - 1] != '\n' && text[len - 1] != '\t')
		prose->wait = WAIT_HARD;
}

/*
 * Adds one of the two texts of a flag. The texts of such flags form one group, such as rwx, without
 * separators between them.
 */
void prose_positional(struct prose *prose, const char *text, size_t len)
{
	if (!len)
		return;
	if (prose->wait == WAIT_HARD || (prose->wait == WAIT_SOFT && !prose->positional))
		put_separator(prose);
	put_text(prose, text, len);
	prose->wait = WAIT_SOFT;
	prose->positional = true;
}

/*
 * Adds the text of a flag that is printed as a field. \n in this text keeps its meaning, because
 * the template contains the text. The text has separators like a field.
 */
void prose_word(struct prose *prose, const char *text, size_t len)
{
	if (!len)
		return;
	prose_begin_field(prose);
	put_text(prose, text, len);
	prose_end_field(prose, true);
}

/* Begins a field. Until prose_end_field(), only prose_byte() and put_text() add to the text. */
void prose_begin_field(struct prose *prose)
{
	if (prose->wait != WAIT_NONE)
		put_separator(prose);
	prose->positional = false;
}

/*
 * "separated" is false for the codes A0 and X0. With these codes a template reads characters one by
 * one, and the characters form one word.
 */
void prose_end_field(struct prose *prose, bool separated)
{
	prose->wait = separated ? WAIT_SOFT : WAIT_NONE;
}

/* Adds a complete field. */
void prose_field(struct prose *prose, const char *text, size_t len)
{
	prose_begin_field(prose);
	for (size_t i = 0; i < len; i++)
		prose_byte(prose, (unsigned char)text[i]);
	prose_end_field(prose, true);
}
