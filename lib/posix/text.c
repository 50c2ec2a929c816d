/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/text.c - text of any length in the caller's memory.
 *
 * Bytes that could be commands for a terminal become escapes, because the data come from files and
 * from other processes.
 */
#include "posix/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * Appends `len` bytes. Bytes behind the end of the room are counted and not kept, so that the
 * caller gets the length of the whole text, as from snprintf().
 */
static void text_put(struct ptx_text *text, const char *from, size_t len)
{
	if (text->len < text->size) {
		const size_t room = text->size - text->len;

		memcpy(text->to + text->len, from, len < room ? len : room);
	}
	text->len += len;
}

void ptx_text_string(struct ptx_text *text, const char *string)
{
	text_put(text, string, strlen(string));
}

void ptx_text_format(struct ptx_text *text, const char *format, ...)
{
	char bytes[104];
	va_list args;

	va_start(args, format);
	vsnprintf(bytes, sizeof(bytes), format, args);
	va_end(args);
	ptx_text_string(text, bytes);
}

void ptx_text_hex(struct ptx_text *text, const unsigned char *byte, size_t len)
{
	for (size_t i = 0; i < len; i++)
		ptx_text_format(text, "%02x", byte[i]);
}

/*
 * Control characters could change the state of a terminal, and bytes above 0x7e could be control
 * characters of some character set.
 */
void ptx_text_escaped(struct ptx_text *text, const unsigned char *byte, size_t len,
		      const char *special)
{
	for (size_t i = 0; i < len; i++) {
		const char c = (char)byte[i];

		if (c == '\n' || c == '\t' || c == '\r')
			ptx_text_string(text, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
		else if (byte[i] < 0x20 || byte[i] >= 0x7f)
			ptx_text_format(text, "\\x%02x", byte[i]);
		else
			ptx_text_format(text, strchr(special, c) ? "\\%c" : "%c", c);
	}
}

/*
 * The NULs at the end are omitted: programs often record the NUL of a string, and fill arrays of
 * characters with NULs.
 */
void ptx_text_quoted(struct ptx_text *text, const unsigned char *byte, size_t len)
{
	while (len && !byte[len - 1])
		len--;
	ptx_text_string(text, "\"");
	ptx_text_escaped(text, byte, len, "\\\"");
	ptx_text_string(text, "\"");
}

size_t ptx_text_end(struct ptx_text *text)
{
	if (text->size)
		text->to[text->len < text->size ? text->len : text->size - 1] = '\0';
	return text->len;
}
