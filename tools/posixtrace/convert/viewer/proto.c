/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* proto.c - the memory of a message: it doubles, so that a message costs linear time. */
#include "convert/viewer/proto.h"

uint8_t *proto_grow(struct proto *proto, size_t len)
{
	size_t room = proto->room ? proto->room : 4096;
	uint8_t *more;

	while (room - proto->used < len)
		room *= 2;
	more = proto->failed ? NULL : realloc(proto->bytes, room);
	if (!more) {
		proto->failed = true;
		return NULL;
	}
	proto->bytes = more;
	proto->room = room;
	return proto->bytes + proto->used;
}
