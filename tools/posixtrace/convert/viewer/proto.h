/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * proto.h - encodes messages of protocol buffers (protobuf.dev/programming-guides/encoding) into
 * memory that grows.
 *
 * Field numbers must be below 2048, so that a field number has at most two bytes. The length of a
 * message in a message always has four bytes, although fewer could be enough. Readers accept that,
 * and the message is written in one pass.
 *
 * Errors    Without memory all further calls do nothing. The caller examines failed at the end.
 */
#ifndef POSIXTRACE_CONVERT_VIEWER_PROTO_H
#define POSIXTRACE_CONVERT_VIEWER_PROTO_H

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

/* Makes room for len bytes more. Returns their address, or NULL without memory. */
uint8_t *proto_grow(struct proto *proto, size_t len);

static inline uint8_t *proto_room(struct proto *proto, size_t len)
{
	if (__builtin_expect(proto->room - proto->used < len, false))
		return proto_grow(proto, len);
	return proto->bytes + proto->used;
}

static inline uint8_t *proto_put_varint(uint8_t *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

static inline void proto_number(struct proto *proto, unsigned field, uint64_t value)
{
	uint8_t *p = proto_room(proto, 16);

	if (!p)
		return;
	p = proto_put_varint(p, field << 3);
	p = proto_put_varint(p, value);
	proto->used = (size_t)(p - proto->bytes);
}

static inline void proto_double(struct proto *proto, unsigned field, double value)
{
	uint8_t *p = proto_room(proto, 16);

	if (!p)
		return;
	p = proto_put_varint(p, field << 3 | 1);
	memcpy(p, &value, sizeof(value)); /* little endian, as the machines that this runs on */
	proto->used = (size_t)(p - proto->bytes) + sizeof(value);
}

static inline void proto_bytes(struct proto *proto, unsigned field, const void *bytes, size_t len)
{
	uint8_t *p = proto_room(proto, len + 16);

	if (!p)
		return;
	p = proto_put_varint(p, field << 3 | 2);
	p = proto_put_varint(p, len);
	if (len)
		memcpy(p, bytes, len);
	proto->used = (size_t)(p - proto->bytes) + len;
}

static inline void proto_text(struct proto *proto, unsigned field, const char *text)
{
	proto_bytes(proto, field, text, strlen(text));
}

/* Begins a message in a message. proto_end() gets the returned value. */
static inline size_t proto_begin(struct proto *proto, unsigned field)
{
	uint8_t *p = proto_room(proto, 16);

	if (!p)
		return 0;
	p = proto_put_varint(p, field << 3 | 2);
	proto->used = (size_t)(p - proto->bytes) + 4;
	return proto->used;
}

static inline void proto_end(struct proto *proto, size_t begin)
{
	size_t len = proto->used - begin;
	uint8_t *p;

	if (proto->failed)
		return;
	if (len > PROTO_MESSAGE_MAX) {
		proto->failed = true;
		return;
	}
	p = proto->bytes + begin - 4;
	p[0] = (uint8_t)(len | 0x80);
	p[1] = (uint8_t)(len >> 7 | 0x80);
	p[2] = (uint8_t)(len >> 14 | 0x80);
	p[3] = (uint8_t)(len >> 21);
}

#endif
