/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* text.c - decides which characters are safe, and escapes all others. */
#include "base/text.h"

#include <langinfo.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "base/out.h"
#include "base/utf.h"

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

static bool locale_is_utf8;

void text_init(void)
{
	locale_is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/*
 * Returns true for a character above ASCII that is invisible itself but changes how a person or a
 * terminal reads a line.
 */
static bool is_treacherous(uint32_t c)
{
	return c < 0xa0 ||                        /* C1 controls */
	       c == 0xad || c == 0x61c ||         /* soft hyphen, Arabic letter mark */
	       (c >= 0x200b && c <= 0x200f) ||    /* zero width, direction marks */
	       (c >= 0x2028 && c <= 0x202e) ||    /* separators, overrides */
	       (c >= 0x2060 && c <= 0x206f) ||    /* invisible operators, isolates */
	       c == 0xfeff || (c >= 0xfff0 && c <= 0xfffb) || (c & 0xfffe) == 0xfffe ||
	       (c >= 0xe0000 && c <= 0xe0fff);    /* tags */
}

size_t text_character(const void *text, size_t len, uint32_t *character)
{
	return utf8_take(text, len, character);
}

bool text_is_utf8(const void *text, size_t len)
{
	const unsigned char *from = text;
	uint32_t character;

	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_take(from + i, len - i, &character);
		if (!n)
			return false;
	}
	return true;
}

bool text_is_unsafe(uint32_t c)
{
	return c < 0x80 ? c < 0x20 || c == 0x7f : is_treacherous(c);
}

/*
 * Returns the length of the safe character at p, or 0 if p begins with no safe character. If utf8
 * is false, every byte above ASCII is unsafe, since its meaning depends on the terminal.
 */
static size_t safe_character(const unsigned char *p, size_t len, bool utf8)
{
	uint32_t c;
	size_t n;

	if (*p < 0x80)
		return *p >= 0x20 && *p != 0x7f;
	n = utf8 ? text_character(p, len, &c) : 0;
	return n && !is_treacherous(c) ? n : 0;
}

/* Returns true for the characters that text_plain_len() counts. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Returns a nonzero value if one of the eight bytes is zero. */
static uint64_t has_zero(uint64_t bytes)
{
	return (bytes - EACH_BYTE(1)) & ~bytes & EACH_BYTE(0x80);
}

/*
 * The function examines eight bytes at a time, because its loop reads all text that the tool
 * prints.
 */
size_t text_plain_len(const void *text, size_t len)
{
	const unsigned char *p = text;
	size_t i = 0;

	for (; len - i >= 8; i += 8) {
		uint64_t bytes;

		memcpy(&bytes, p + i, 8);
		/*
		 * If a byte is below 0x20, the subtraction sets the highest bit of that
		 * byte.
		 */
		if (((bytes | ((bytes - EACH_BYTE(0x20)) & ~bytes)) & EACH_BYTE(0x80)) |
		    has_zero(bytes ^ EACH_BYTE('"')) | has_zero(bytes ^ EACH_BYTE('\\')) |
		    has_zero(bytes ^ EACH_BYTE(0x7f)))
			break;
	}
	while (i < len && is_plain(p[i]))
		i++;
	return i;
}

/*
 * Returns the length without NULs at the end, because programs often record strings with their NUL.
 */
static size_t without_nuls(const unsigned char *p, size_t len)
{
	uint64_t last;

	/*
	 * The loop examines eight bytes at a time, because numbers and padded strings end with many
	 * NULs.
	 */
	for (; len >= 8; len -= 8) {
		memcpy(&last, p + len - 8, 8);
		if (last)
			break;
	}
	while (len && !p[len - 1])
		len--;
	return len;
}

/*
 * Tabs and line ends are allowed. But data without any other character counts as a number and not
 * as text.
 */
bool text_is_text(const void *data, size_t len, bool json)
{
	const unsigned char *p = data;
	size_t end, i = 0;
	bool any = false;

	/*
	 * Most data that is not a text begins with a small number. Its first byte is then a control
	 * character, so the other bytes need not be examined.
	 */
	if (!len || (*p < 0x20 && *p != '\t' && *p != '\n' && *p != '\r'))
		return false;
	end = without_nuls(p, len);
	/*
	 * Up to three printable bytes that are followed by several NULs are probably a small
	 * integer. A string that is padded with NULs usually is longer.
	 */
	if (end + 1 < len && end < 4)
		return false;
	while (i < end) {
		size_t n = text_plain_len(p + i, end - i);

		if (!n)
			n = safe_character(p + i, end - i, json || locale_is_utf8);
		any |= n > 0;
		if (!n && (p[i] == '\t' || p[i] == '\n' || p[i] == '\r'))
			n = 1;
		if (!n)
			return false;
		i += n;
	}
	return any;
}

static char short_escape(unsigned char c)
{
	return c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : 0;
}

/*
 * Writes text and escapes unsafe bytes. It also escapes the characters in "special", for example
 * the quotes in which the caller puts the text. An escape has at most four bytes, so it always fits
 * out_room().
 */
static void text_escaped(struct out *out, const unsigned char *p, size_t len, const char *special)
{
	for (size_t i = 0; i < len;) {
		size_t n = text_plain_len(p + i, len - i);
		char *to;

		if (n) {
			out_bytes(out, p + i, n);
			i += n;
			continue;
		}
		n = safe_character(p + i, len - i, locale_is_utf8);
		to = out_room(out);
		/*
		 * strchr() never gets a NUL here, because n is 0 for a NUL. It would find a NUL at
		 * the end of "special".
		 */
		if (n && !(n == 1 && strchr(special, p[i]))) {
			memcpy(to, p + i, n);
			out_done(out, to + n);
			i += n;
			continue;
		}
		*to++ = '\\';
		if (n) {
			*to++ = (char)p[i];
		} else if (short_escape(p[i])) {
			*to++ = short_escape(p[i]);
		} else {
			*to++ = 'x';
			to = put_hex(to, p[i], 2);
		}
		out_done(out, to);
		i++;
	}
}

void text_safe(struct out *out, const void *text, size_t len)
{
	text_escaped(out, text, len, "");
}

/* A character of an East Asian script takes two columns, and a combining character none. */
size_t text_columns(const void *text, size_t len)
{
	const unsigned char *p = text;
	size_t columns = 0;

	for (size_t i = 0, n; i < len; i += n) {
		uint32_t c;

		n = text_plain_len(p + i, len - i);
		columns += n;
		if (n)
			continue;
		n = safe_character(p + i, len - i, locale_is_utf8);
		if (n > 1 && text_character(p + i, n, &c)) {
			int width = wcwidth((wchar_t)c);

			columns += width < 0 ? 1 : (size_t)width;
		} else {
			columns += n ? 1 : short_escape(p[i]) ? 2 : 4;
			n = 1;
		}
	}
	return columns;
}

void text_name(struct out *out, const void *text, size_t len)
{
	if (len)
		text_escaped(out, text, len, "\\");
	else
		out_str(out, "\"\"");
}

void text_quoted(struct out *out, const void *data, size_t len)
{
	out_char(out, '"');
	text_escaped(out, data, without_nuls(data, len), "\\\"");
	out_char(out, '"');
}

/*
 * Returns true if the text consists of an optional sign, digits with an optional point, and an
 * optional exponent. So "-5" in a cell of a spreadsheet counts as a number and not as a formula.
 */
static bool is_number(const char *p, const char *end)
{
	bool digits = false;

	p += *p == '+' || *p == '-';
	for (int part = 0; part < 2; part++) {
		for (; p < end && *p >= '0' && *p <= '9'; p++)
			digits = true;
		if (part || p == end || *p != '.')
			break;
		p++;
	}
	if (digits && p < end && (*p | 0x20) == 'e') {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		for (digits = false; p < end && *p >= '0' && *p <= '9'; p++)
			digits = true;
	}
	return digits && p == end;
}

bool text_is_formula(const void *text, size_t len)
{
	uint32_t c;

	if (!len || !text_character(text, len, &c))
		return false;
	switch (c) {
	case '=':
	case '+':
	case '-':
	case '@':
	case '\t':
	case '\r':
	case '\n':
	case 0xff1d: /* This character and the next three are the wide forms of = + - @. */
	case 0xff0b:
	case 0xff0d:
	case 0xff20:
		return !is_number(text, (const char *)text + len);
	default:
		return false;
	}
}
