/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * json.c - writes strings, and the kinds of members that only few events have. The functions for
 * all other members are inline in json.h. The output is always well-formed UTF-8.
 */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>

#include "base/real.h"
#include "base/text.h"

/* Returns the letter behind the backslash of a short escape, or 0 if c has no short escape. */
static char short_escape(uint32_t c)
{
	switch (c) {
	case '"':
	case '\\':
		return (char)c;
	case '\n':
		return 'n';
	case '\t':
		return 't';
	case '\r':
		return 'r';
	}
	return 0;
}

/* Writes \uXXXX, or two of them (a surrogate pair) for a character above U+FFFF. */
static char *put_unicode(char *to, uint32_t c)
{
	if (c >= 0x10000) {
		to = put_unicode(to, 0xd800 + ((c - 0x10000) >> 10));
		c = 0xdc00 + ((c - 0x10000) & 0x3ff);
	}
	*to++ = '\\';
	*to++ = 'u';
	return put_hex(to, c, 4);
}

/*
 * Writes the character at p and returns its number of bytes. If no UTF-8 character begins at p, the
 * function writes a replacement for the one byte at p, clears *is_exact and returns 1. So the
 * caller finds the next good character behind that byte.
 */
static size_t put_character(struct out *out, const unsigned char *p, size_t len, bool replaces,
			    bool *is_exact)
{
	char *to = out_room(out);
	uint32_t c;
	size_t n = text_character(p, len, &c);

	if (!n) {
		*is_exact = false;
		n = 1;
		if (replaces) {
			to = put_unicode(to, 0xfffd);
		} else {
			memcpy(to, "\\\\x", 3);
			to = put_hex(to + 3, *p, 2);
		}
	} else if (short_escape(c)) {
		*to++ = '\\';
		*to++ = short_escape(c);
	} else if (text_is_unsafe(c)) {
		to = put_unicode(to, c);
	} else {
		memcpy(to, p, n);
		to += n;
	}
	out_done(out, to);
	return n;
}

/*
 * Writes a string. If "replaces" is true, each bad byte becomes U+FFFD. Returns false if the text
 * had a bad byte.
 */
static bool put_string(struct out *out, const void *text, size_t len, bool replaces)
{
	const unsigned char *p = text, *end = p + len;
	bool is_exact = true;

	out_char(out, '"');
	while (p < end) {
		size_t n = text_plain_len(p, (size_t)(end - p));

		if (n)
			out_bytes(out, p, n);
		else
			n = put_character(out, p, (size_t)(end - p), replaces, &is_exact);
		p += n;
	}
	out_char(out, '"');
	return is_exact;
}

/*
 * The function resets needs_comma, because the value follows the name, and no comma may be between
 * them.
 */
void json_text_name(struct json *json, const void *name, size_t len)
{
	json_text(json, NULL, name, len);
	out_char(json->out, ':');
	json->needs_comma = false;
}

/*
 * This function writes the comma before the line end. Otherwise json_put_name() would write the
 * comma on the new line, just before the next member.
 */
void json_new_line(struct json *json)
{
	if (json->needs_comma)
		out_char(json->out, ',');
	out_char(json->out, '\n');
	json->needs_comma = false;
}

void json_quoted(struct out *out, const void *text, size_t len)
{
	put_string(out, text, len, false);
}

void json_text(struct json *json, const char *name, const void *text, size_t len)
{
	json_name(json, name);
	json_quoted(json->out, text, len);
}

void json_string_member(struct json *json, const char *name, const char *text)
{
	json_text(json, name, text, strlen(text));
}

void json_unicode(struct json *json, const char *name, const void *text, size_t len)
{
	json_name(json, name);
	put_string(json->out, text, len, true);
}

void json_exact_text(struct json *json, const char *name, const void *text, size_t len)
{
	json_name(json, name);
	if (put_string(json->out, text, len, true))
		return;
	out_str(json->out, ",\"");
	out_str(json->out, name);
	out_str(json->out, "_hex\":\"");
	out_hex(json->out, text, len);
	out_char(json->out, '"');
}

char *json_keep_text(const char *name, const void *text, size_t len, size_t *kept)
{
	/*
	 * This buffer has no file, so out_flush() must never write it. The limit of len prevents a
	 * full buffer, so out_flush() is not called.
	 */
	static struct out scratch = { .fd = -1 };
	struct json json = json_begin(&scratch);
	char *members;

	/*
	 * A byte of the text becomes at most 6 bytes in the string and 2 in the member NAME_hex. So
	 * the members fit into the buffer if the text has at most OUT_BYTES / 16 bytes. A longer
	 * text loses its end. Names are far shorter.
	 */
	if (len > OUT_BYTES / 16)
		len = OUT_BYTES / 16;
	scratch.used = 0;
	json_exact_text(&json, name, text, len);
	members = malloc(scratch.used + 1);
	if (!members)
		return NULL;
	memcpy(members, scratch.bytes, scratch.used);
	members[scratch.used] = '\0';
	*kept = scratch.used;
	return members;
}

void json_hex(struct json *json, const char *name, const void *bytes, size_t len)
{
	json_name(json, name);
	out_char(json->out, '"');
	out_hex(json->out, bytes, len);
	out_char(json->out, '"');
}

void json_real(struct json *json, const char *name, const char *format, double value)
{
	json_name(json, name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	out_printf(json->out, format, value);
#pragma GCC diagnostic pop
}

/*
 * The number of digits depends on the type: the float nearest to 0.1 is another number than the
 * double nearest to 0.1.
 */
static void put_shortest(struct json *json, const char *name, double value, bool is_single)
{
	char text[REAL_BYTES];

	if (isfinite(value)) {
		real_text(text, value, is_single);
		json_name(json, name);
		out_str(json->out, text);
		/* Some readers make the integer 0 of -0, and lose its sign. */
		if (!value && signbit(value))
			out_str(json->out, ".0");
		return;
	}
	json_string_member(json, name, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
}

void json_double(struct json *json, const char *name, double value)
{
	put_shortest(json, name, value, false);
}

void json_single(struct json *json, const char *name, float value)
{
	put_shortest(json, name, (double)value, true);
}
