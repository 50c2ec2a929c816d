/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_guid5.c - the class of an event type by its name: a UUID of version 5, which is SHA-1 of a
 * name space and the name. No secret depends on it.
 */
#include <string.h>

#include "convert/etw/etw_write.h"
#include "convert/octets.h"

static uint32_t roll(uint32_t x, unsigned by)
{
	return x << by | x >> (32 - by);
}

static void sha1_block(uint32_t h[5], const unsigned char *p)
{
	uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)octets_get(p + 4 * i, 4, true);
	for (int i = 16; i < 80; i++)
		w[i] = roll(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 ? b ^ c ^ d :
			     i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
		static const uint32_t k[] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
		uint32_t next = roll(a, 5) + f + e + k[i / 20] + w[i];

		e = d;
		d = c;
		c = roll(b, 30);
		b = a;
		a = next;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

static void sha1(const unsigned char *p, size_t len, unsigned char digest[20])
{
	uint32_t h[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	unsigned char last[128] = { 0 };
	size_t rest = len % 64, blocks = rest < 56 ? 1 : 2;

	for (size_t at = 0; at + 64 <= len; at += 64)
		sha1_block(h, p + at);
	memcpy(last, p + len - rest, rest);
	last[rest] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		last[64 * blocks - 1 - i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
	for (size_t i = 0; i < blocks; i++)
		sha1_block(h, last + 64 * i);
	for (unsigned i = 0; i < 20; i++)
		digest[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

void etw_guid_of_name(const char *name, size_t len, unsigned char guid[ETW_GUID_BYTES])
{
	static const unsigned char space[] = { 0x8f, 0x6d, 0x2c, 0x1e, 0x5b, 0x1a, 0x4c, 0x57,
					       0x9a, 0x3e, 0x7d, 0x0b, 0x6f, 0x1e, 0x2a, 0x94 };
	unsigned char text[sizeof(space) + ETW_CLASS_NAME_MAX], d[20];

	if (len > ETW_CLASS_NAME_MAX)
		len = ETW_CLASS_NAME_MAX;
	memcpy(text, space, sizeof(space));
	memcpy(text + sizeof(space), name, len);
	sha1(text, sizeof(space) + len, d);
	d[6] = (unsigned char)((d[6] & 0x0f) | 0x50);
	d[8] = (unsigned char)((d[8] & 0x3f) | 0x80);
	/* Numbers of a GUID are stored with their bytes swapped. */
	octets_put(guid, octets_get(d, 4, true), 4);
	octets_put(guid + 4, octets_get(d + 4, 2, true), 2);
	octets_put(guid + 6, octets_get(d + 6, 2, true), 2);
	memcpy(guid + 8, d + 8, 8);
}
