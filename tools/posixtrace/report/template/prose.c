/* SPDX-License-Identifier: LGPL-2.1-or-later */
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

static bool is_full(const struct prose *prose)
{
	return prose->len == PROSE_BYTES;
}

static void put(struct prose *prose, char c)
{
	if (is_full(prose))
		return;
	prose->text[prose->len++] = c;
	prose->column++;
}

void prose_byte(struct prose *prose, unsigned char byte)
{
	put(prose, byte < 0x20 || byte > 0x7e ? '.' : (char)byte);
}

static void put_text(struct prose *prose, const char *text, size_t len)
{
	for (size_t i = 0; i < len && !is_full(prose); i++) {
		if (text[i] == '\n') {
			put(prose, '\n');
			prose->column = 0;
		} else if (text[i] == '\t') {
			do
				put(prose, ' ');
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

static bool begins_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       c == '_';
}

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

void prose_label(struct prose *prose, const char *text, size_t len)
{
	prose_literal(prose, text, len);
	if (len && text[len - 1] != '\n' && text[len - 1] != '\t')
		prose->wait = WAIT_HARD;
}

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

void prose_word(struct prose *prose, const char *text, size_t len)
{
	if (!len)
		return;
	prose_begin_field(prose);
	put_text(prose, text, len);
	prose_end_field(prose, true);
}

void prose_begin_field(struct prose *prose)
{
	if (prose->wait != WAIT_NONE)
		put_separator(prose);
	prose->positional = false;
}

void prose_end_field(struct prose *prose, bool separated)
{
	prose->wait = separated ? WAIT_SOFT : WAIT_NONE;
}

void prose_field(struct prose *prose, const char *text, size_t len)
{
	prose_begin_field(prose);
	for (size_t i = 0; i < len; i++)
		prose_byte(prose, (unsigned char)text[i]);
	prose_end_field(prose, true);
}
