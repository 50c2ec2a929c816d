/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plain.c - makes hostile text safe for a terminal and for readers that require UTF-8. */
#include "convert/plain.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/text.h"

size_t plain_text(char *to, const void *bytes, size_t len, bool *exact)
{
	const unsigned char *from = bytes, *end = from + len;
	char *p = to;
	bool same = true;

	while (from < end) {
		uint32_t c;
		size_t n = text_character(from, (size_t)(end - from), &c);

		if (n && !text_is_unsafe(c)) {
			memcpy(p, from, n);
			p += n;
			from += n;
			continue;
		}
		same = false;
		/*
		 * Only one byte is escaped, because a valid character may begin at the next byte. A
		 * backslash of the text itself is not escaped. So the original bytes cannot be
		 * restored from the result, which is only for people to read.
		 */
		memcpy(p, "\\x", 2);
		p = put_hex(p + 2, *from++, 2);
	}
	*p = '\0';
	if (exact)
		*exact = same;
	return (size_t)(p - to);
}

char *plain_copy(const void *bytes, size_t len)
{
	char *text = malloc(PLAIN_FACTOR * len + 1);

	if (text)
		plain_text(text, bytes, len, NULL);
	return text;
}
