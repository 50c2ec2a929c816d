/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_xpress.c - decompresses plain LZ77 ([MS-XCA], section 2.4). Logs call it XPRESS.
 *
 * The input has flags in words of 32 bits. The top bit of a word is the first flag. A flag 0 means
 * a literal byte. A flag 1 means a match with a distance and a length. A length has up to four
 * parts: three bits, a half byte, a byte, and a number of two bytes. If this number is 0, a number
 * of four bytes follows and is used instead. Two matches use the halves of one byte.
 */
#include "convert/etw/etw.h"
#include "convert/octets.h"

struct reader {
	const unsigned char *p, *end;
	const unsigned char *half; /* a byte whose high half is not used yet */
};

/* Reads a little-endian number. Returns false if the input is too short. */
static bool take_number(struct reader *r, unsigned bytes, uint32_t *value)
{
	if ((size_t)(r->end - r->p) < bytes)
		return false;
	*value = (uint32_t)octets_get(r->p, bytes, false);
	r->p += bytes;
	return true;
}

/*
 * Reads a half byte: the unused high half of an earlier byte if there is one, otherwise the low
 * half of the next byte.
 */
static bool take_half(struct reader *r, uint32_t *value)
{
	if (r->half) {
		*value = *r->half >> 4;
		r->half = NULL;
		return true;
	}
	r->half = r->p;
	if (!take_number(r, 1, value))
		return false;
	*value &= 15;
	return true;
}

/*
 * Reads the length of a match minus 3. *length already has the first part of the length, which has
 * three bits.
 */
static bool take_length(struct reader *r, uint32_t *length)
{
	uint32_t more;

	if (*length < 7)
		return true;
	if (!take_half(r, &more))
		return false;
	*length = 7 + more;
	if (more < 15)
		return true;
	if (!take_number(r, 1, &more))
		return false;
	*length = 22 + more;
	if (more < 255)
		return true;
	/* If the word is 0, the length follows in four bytes. */
	if (!take_number(r, 2, &more) || (!more && !take_number(r, 4, &more)))
		return false;
	*length = more;
	return more >= 22;
}

/*
 * The size of the result is known in advance, and each step is checked against it. So a hostile
 * input cannot cause a write or read outside of the buffers.
 */
bool etw_xpress(const unsigned char *from, size_t from_size, unsigned char *to, size_t to_size)
{
	struct reader r = { .p = from, .end = from + from_size };
	uint32_t flags = 0, match, length, left = 0;
	size_t done = 0;

	while (done < to_size) {
		if (!left) {
			if (!take_number(&r, 4, &flags))
				return false;
			left = 32;
		}
		left--;
		if (!(flags >> left & 1)) {
			if (!take_number(&r, 1, &match))
				return false;
			to[done++] = (unsigned char)match;
			continue;
		}
		if (!take_number(&r, 2, &match))
			return false;
		length = match & 7;
		/*
		 * A match must begin within the decompressed bytes, and must end within the result.
		 */
		match = (match >> 3) + 1;
		if (!take_length(&r, &length) || match > done ||
		    (uint64_t)length + 3 > to_size - done)
			return false;
		/*
		 * The loop copies byte by byte, because the bytes that a match copies may overlap
		 * their copy.
		 */
		for (uint64_t n = (uint64_t)length + 3; n; n--, done++)
			to[done] = to[done - match];
	}
	return true;
}
