/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsontext.c - JSON strings of arbitrary bytes. The result is ASCII or well-formed UTF-8 at all
 * times.
 */
#include "base/jsontext.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/*
 * Writes the escape of a 16-bit unit and returns the end. The caller has divided larger characters.
 */
static char *put_escape(char *p, uint32_t c)
{
	*p++ = '\\';
	switch (c) {
	case '"': case '\\':
		*p++ = (char)c;
		return p;
	case '\n':
		*p++ = 'n';
		return p;
	case '\r':
		*p++ = 'r';
		return p;
	case '\t':
		*p++ = 't';
		return p;
	}
	*p++ = 'u';
	return put_hex(p, c, 4);
}

/*
 * Writes the character c, whose UTF-8 form has n bytes at from. Unsafe characters are escaped,
 * those above U+FFFF as a surrogate pair, as JSON requires.
 */
static char *put_character(char *p, uint32_t c, const unsigned char *from, size_t n)
{
	if (c == '"' || c == '\\' || text_is_unsafe(c)) {
		if (c < 0x10000)
			return put_escape(p, c);
		c -= 0x10000;
		return put_escape(put_escape(p, 0xd800 + (c >> 10)), 0xdc00 + (c & 0x3ff));
	}
	memcpy(p, from, n);
	return p + n;
}

/* Most text passes this test and so avoids the decoder. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

bool json_string(struct out *out, const void *bytes, size_t len)
{
	const unsigned char *from = bytes, *end = from + len;
	bool exact = true;

	out_char(out, '"');
	while (from < end) {
		char *room = out_room(out), *p = room;

		/*
		 * One character needs at most 12 bytes (two escapes), so 16 free bytes are enough.
		 */
		while (from < end && p - room < OUT_PIECE - 16) {
			uint32_t c;
			size_t n;

			if (is_plain(*from)) {
				*p++ = (char)*from++;
				continue;
			}
			n = text_character(from, (size_t)(end - from), &c);
			/*
			 * One replacement for each bad byte, so that the decoder finds the next
			 * good character.
			 */
			if (!n) {
				exact = false;
				n = 1;
				p = put_escape(p, 0xfffd);
			} else {
				p = put_character(p, c, from, n);
			}
			from += n;
		}
		out_done(out, p);
	}
	out_char(out, '"');
	return exact;
}

void json_text_member(struct out *out, const char *key, const void *bytes, size_t len)
{
	out_char(out, '"');
	out_str(out, key);
	out_str(out, "\":");
	if (json_string(out, bytes, len))
		return;
	out_str(out, ",\"");
	out_str(out, key);
	out_str(out, "_hex\":\"");
	out_hex(out, bytes, len);
	out_char(out, '"');
}

char *json_text_kept(const char *key, const void *bytes, size_t len, size_t *kept)
{
	/*
	 * A buffer without a file: out_flush() must never run on it. The limit below ensures that.
	 */
	static struct out scratch = { .fd = -1 };
	char *text;

	/*
	 * A byte needs at most 6 in the string and 2 in the member _hex, so a sixteenth of the
	 * buffer fits. Names are far shorter; a longer text is cut.
	 */
	if (len > OUT_BYTES / 16)
		len = OUT_BYTES / 16;
	scratch.used = 0;
	json_text_member(&scratch, key, bytes, len);
	text = malloc(scratch.used + 1);
	if (!text)
		return NULL;
	memcpy(text, scratch.bytes, scratch.used);
	text[scratch.used] = '\0';
	*kept = scratch.used;
	return text;
}
