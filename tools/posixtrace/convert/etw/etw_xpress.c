/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_xpress.c - plain LZ77 of [MS-XCA], which is what "XPRESS" names in compressed logs.
 *
 * 32 flags at a time, from the top bit: a byte as it is, or a match of a distance and a length. The
 * length grows in four steps: three bits, a half byte that two matches share, a byte, a word.
 */
#include "convert/etw/etw.h"
#include "convert/octets.h"

struct reader {
	const unsigned char *p, *end;
	const unsigned char *half; /* a byte whose high half is not used yet */
};

static bool take(struct reader *r, unsigned bytes, uint32_t *value)
{
	if ((size_t)(r->end - r->p) < bytes)
		return false;
	*value = (uint32_t)octets_get(r->p, bytes, false);
	r->p += bytes;
	return true;
}

static bool take_half(struct reader *r, uint32_t *value)
{
	if (r->half) {
		*value = *r->half >> 4;
		r->half = NULL;
		return true;
	}
	r->half = r->p;
	if (!take(r, 1, value))
		return false;
	*value &= 15;
	return true;
}

/* The length of a match less 3. */
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
	if (!take(r, 1, &more))
		return false;
	*length = 22 + more;
	if (more < 255)
		return true;
	if (!take(r, 2, &more) || (!more && !take(r, 4, &more)))
		return false;
	*length = more;
	return more >= 22;
}

bool etw_xpress(const unsigned char *from, size_t from_size, unsigned char *to, size_t to_size)
{
	struct reader r = { .p = from, .end = from + from_size };
	uint32_t flags = 0, match, length, left = 0;
	size_t done = 0;

	while (done < to_size) {
		if (!left) {
			if (!take(&r, 4, &flags))
				return false;
			left = 32;
		}
		left--;
		if (!(flags >> left & 1)) {
			if (!take(&r, 1, &match))
				return false;
			to[done++] = (unsigned char)match;
			continue;
		}
		if (!take(&r, 2, &match))
			return false;
		length = match & 7;
		match = (match >> 3) + 1;
		if (!take_length(&r, &length) || match > done ||
		    (uint64_t)length + 3 > to_size - done)
			return false;
		for (uint64_t n = (uint64_t)length + 3; n; n--, done++)
			to[done] = to[done - match];
	}
	return true;
}
