/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * proto.h - encodes messages of protocol buffers (protobuf.dev/programming-guides/encoding) into
 * memory that grows.
 *
 * Field numbers must be below 2048, so that a field number and the type of its value have at most
 * two bytes. The length of a message within another one always has four bytes. So proto_end() can
 * store the length without moving the bytes of the message. Readers accept a length in more bytes
 * than necessary.
 *
 * If memory is lacking, a call sets the member "failed" and appends nothing. Later calls may append
 * further bytes, but the message is then incomplete. So the caller examines "failed" at the end.
 */
#ifndef POSIXTRACE_BASE_PROTO_H
#define POSIXTRACE_BASE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PROTO_MESSAGE_MAX ((1u << 28) - 1)

struct proto {
	uint8_t *bytes;
	size_t used, room;
	bool failed;
};

/* Makes room for len bytes more. Returns their address, or NULL if memory is lacking. */
uint8_t *proto_grow(struct proto *proto, size_t len);

static inline uint8_t *proto_room(struct proto *proto, size_t len)
{
	if (__builtin_expect(proto->room - proto->used < len, false))
		return proto_grow(proto, len);
	return proto->bytes + proto->used;
}

/*
 * Writes seven bits of the number to each byte, the lowest bits first. Bit 7 is set in all bytes
 * except the last one. If the number needs more than one byte, the function spreads its eight
 * lowest groups of seven bits over the eight bytes of a word in three steps: first into halves,
 * then into quarters, then into bytes. PROTO_VARINT bytes at p may be overwritten.
 */
#define PROTO_VARINT 10

static inline uint8_t *proto_put_varint(uint8_t *p, uint64_t value)
{
	uint64_t x = value;
	unsigned bytes;

	if (value < 0x80) {
		*p = (uint8_t)value;
		return p + 1;
	}
	x = (x & 0x0fffffff) | (x & UINT64_C(0x00fffffff0000000)) << 4;
	x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x0fffc0000fffc000)) << 2;
	x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x3f803f803f803f80)) << 1;
	if (value >> 56) {
		x |= UINT64_C(0x8080808080808080);
		memcpy(p, &x, 8); /* in little endian, like the machines on which the tool runs */
		p[8] = (uint8_t)(value >> 56);
		if (!(value >> 63))
			return p + 9;
		p[8] |= 0x80;
		p[9] = 1;
		return p + 10;
	}
	bytes = (70 - (unsigned)__builtin_clzll(value)) / 7;
	x |= UINT64_C(0x8080808080808080) & ((UINT64_C(1) << 8 * (bytes - 1)) - 1);
	memcpy(p, &x, 8);
	return p + bytes;
}

/*
 * Writes a tag: a field number with the type of its value. A tag has at most two bytes, so the
 * function needs no loop.
 */
static inline uint8_t *proto_put_tag(uint8_t *p, unsigned tag)
{
	if (tag < 0x80) {
		*p = (uint8_t)tag;
		return p + 1;
	}
	p[0] = (uint8_t)(tag | 0x80);
	p[1] = (uint8_t)(tag >> 7);
	return p + 2;
}

static inline void proto_number(struct proto *proto, unsigned field, uint64_t value)
{
	uint8_t *p = proto_room(proto, 16);

	if (!p)
		return;
	p = proto_put_tag(p, field << 3);
	p = proto_put_varint(p, value);
	proto->used = (size_t)(p - proto->bytes);
}

/*
 * Writes a value of 8 bytes or 4 bytes in little endian, like the machines on which the tool runs.
 */
static inline void proto_fixed64(struct proto *proto, unsigned field, uint64_t value)
{
	uint8_t *p = proto_room(proto, 16);

	if (!p)
		return;
	p = proto_put_tag(p, field << 3 | 1);
	memcpy(p, &value, sizeof(value));
	proto->used = (size_t)(p - proto->bytes) + sizeof(value);
}

static inline void proto_fixed32(struct proto *proto, unsigned field, uint32_t value)
{
	uint8_t *p = proto_room(proto, 16);

	if (!p)
		return;
	p = proto_put_tag(p, field << 3 | 5);
	memcpy(p, &value, sizeof(value));
	proto->used = (size_t)(p - proto->bytes) + sizeof(value);
}

static inline void proto_double(struct proto *proto, unsigned field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_fixed64(proto, field, bits);
}

static inline void proto_bytes(struct proto *proto, unsigned field, const void *bytes, size_t len)
{
	uint8_t *p = proto_room(proto, len + 16);

	if (!p)
		return;
	p = proto_put_tag(p, field << 3 | 2);
	p = proto_put_varint(p, len);
	if (len)
		memcpy(p, bytes, len);
	proto->used = (size_t)(p - proto->bytes) + len;
}

static inline void proto_text(struct proto *proto, unsigned field, const char *text)
{
	proto_bytes(proto, field, text, strlen(text));
}

/* Writes the length of a message, below 2^28, in four bytes. */
static inline void proto_put_length(uint8_t *p, size_t len)
{
	uint32_t x = (uint32_t)(len & 0x7f) | (uint32_t)(len & 0x3f80) << 1 |
		     (uint32_t)(len & 0x1fc000) << 2 | (uint32_t)(len & 0xfe00000) << 3 | 0x808080;

	memcpy(p, &x, 4); /* little endian */
}

/* Begins a message within the current one. The caller passes the returned value to proto_end(). */
static inline size_t proto_begin(struct proto *proto, unsigned field)
{
	uint8_t *p = proto_room(proto, 16);

	if (!p)
		return 0;
	p = proto_put_tag(p, field << 3 | 2);
	proto->used = (size_t)(p - proto->bytes) + 4;
	return proto->used;
}

static inline void proto_end(struct proto *proto, size_t begin)
{
	size_t len = proto->used - begin;

	if (proto->failed)
		return;
	if (len > PROTO_MESSAGE_MAX) {
		proto->failed = true;
		return;
	}
	proto_put_length(proto->bytes + begin - 4, len);
}

#endif
