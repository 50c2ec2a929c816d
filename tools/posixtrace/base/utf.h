/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * utf.h - decodes characters of UTF-8 and UTF-16, with all checks, and encodes UTF-8.
 *
 * Well-formed UTF-8 contains no overlong forms, no surrogates and no values above U+10FFFF.
 */
#ifndef POSIXTRACE_BASE_UTF_H
#define POSIXTRACE_BASE_UTF_H

#include <stddef.h>
#include <stdint.h>

#define UTF_REPLACEMENT 0xfffd  /* replaces bytes that are not characters */
#define UTF_INVALID UINT32_MAX
#define UTF8_BYTES 4            /* of the longest character */

/*
 * Stores the UTF-8 character at the beginning of text and returns its length in bytes, or 0 if the
 * bytes are not well-formed. len must not be 0.
 */
static inline size_t utf8_take(const void *text, size_t len, uint32_t *character)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	uint32_t c;
	size_t n;

	if (*p < 0x80) {
		*character = *p;
		return 1;
	}
	if (*p < 0xc2 || *p > 0xf4)
		return 0;
	n = *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	if (len < n)
		return 0;
	c = *p & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	*character = c;
	return c < least[n] || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff ? 0 : n;
}

/* Writes the UTF-8 form of a character up to U+10FFFF and returns its length in bytes. */
static inline size_t utf8_put(uint32_t c, char to[UTF8_BYTES])
{
	static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	to[0] = (char)(lead[more] | c >> 6 * more);
	for (unsigned i = 1; i <= more; i++)
		to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
	return 1 + more;
}

/*
 * Returns the length of the longest beginning of a text that has at most max bytes and does not end
 * within a character. The text has len bytes.
 */
static inline size_t utf8_cut(const char *text, size_t len, size_t max)
{
	size_t at = max;

	if (len <= max)
		return len;
	/*
	 * A byte 10xxxxxx continues a character, and a character has at most three such bytes. If
	 * there are more such bytes in a row, the text is not UTF-8, and the function returns max.
	 */
	while (at && max - at < UTF8_BYTES && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	return max - at < UTF8_BYTES ? at : max;
}

/*
 * Decodes the character of little endian UTF-16 at the offset *at and moves *at behind it. At least
 * two bytes must be there. Returns UTF_INVALID for a surrogate without its partner.
 */
static inline uint32_t utf16_take(const unsigned char *p, size_t size, size_t *at)
{
	uint32_t c = p[*at] | (uint32_t)p[*at + 1] << 8, low;

	*at += 2;
	if (c < 0xd800 || c > 0xdfff)
		return c;
	if (c >= 0xdc00 || *at + 2 > size)
		return UTF_INVALID;
	low = p[*at] | (uint32_t)p[*at + 1] << 8;
	if (low < 0xdc00 || low > 0xdfff)
		return UTF_INVALID;
	*at += 2;
	return 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
}

#endif
