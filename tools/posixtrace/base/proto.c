/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * proto.c - the memory of a message. The size of the memory doubles when the memory is full, so
 * that writing a message takes linear time.
 */
#include "base/proto.h"

#include "base/vec.h"

uint8_t *proto_grow(struct proto *proto, size_t len)
{
	if (proto->failed || !vec_reserve(&proto->bytes, &proto->room, proto->used, len)) {
		proto->failed = true;
		return NULL;
	}
	return proto->bytes + proto->used;
}
