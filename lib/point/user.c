/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* point/user.c - events of typed items: the items in the caller's memory, and the trace point. */
#include <string.h>

#include "base/export.h"
#include "point/record.h"
#include "record/items.h"

/* Where an item goes; NULL: there is no room, for it and for what comes behind. */
static unsigned char *add(struct posix_trace_user_np *user, enum posix_trace_item_np type,
			  unsigned width, size_t bytes)
{
	unsigned char *to = user->bytes + user->used;

	if (user->full || sizeof(user->bytes) - user->used <= bytes) {
		user->full = 1;
		return NULL;
	}
	if (width > PTX_ITEM_WIDTH_MAX)
		width = PTX_ITEM_WIDTH_MAX;
	*to = (unsigned char)(width << 4 | (unsigned)type);
	user->used += 1 + bytes;
	return to + 1;
}

static void put(struct posix_trace_user_np *user, enum posix_trace_item_np type, unsigned width,
		uint64_t value)
{
	size_t bytes = ptx_item_size(type);
	unsigned char *to = add(user, type, width, bytes);

	for (size_t i = 0; to && i < bytes; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

PTX_EXPORT void posix_trace_user_number_np(struct posix_trace_user_np *user,
					   enum posix_trace_item_np type, unsigned width,
					   uint64_t value)
{
	if (ptx_item_size(type) && type != POSIX_TRACE_ITEM_F32_NP &&
	    type != POSIX_TRACE_ITEM_F64_NP)
		put(user, type, width, value);
}

PTX_EXPORT void posix_trace_user_real_np(struct posix_trace_user_np *user,
					 enum posix_trace_item_np type, unsigned width,
					 double value)
{
	uint64_t bits = 0;

	if (type == POSIX_TRACE_ITEM_F32_NP) {
		const float f32 = (float)value;
		uint32_t bits32;

		memcpy(&bits32, &f32, sizeof(bits32));
		bits = bits32;
	} else if (type == POSIX_TRACE_ITEM_F64_NP) {
		memcpy(&bits, &value, sizeof(bits));
	} else {
		return;
	}
	put(user, type, width, bits);
}

PTX_EXPORT void posix_trace_user_str_np(struct posix_trace_user_np *user, const char *string)
{
	/* No more of it is looked at than there could be room for. */
	size_t len = string ? strnlen(string, sizeof(user->bytes)) : 0;
	unsigned char *to = add(user, POSIX_TRACE_ITEM_STR_NP, 0, len + 1);

	if (to && len)
		memcpy(to, string, len);
	if (to)
		to[len] = 0;
}

PTX_EXPORT void posix_trace_user_mem_np(struct posix_trace_user_np *user, const void *memory,
					size_t len)
{
	unsigned char *to;

	if (!memory)
		len = 0;
	if (len > UINT8_MAX)
		len = UINT8_MAX;
	to = add(user, POSIX_TRACE_ITEM_MEM_NP, 0, 1 + len);
	if (!to)
		return;
	*to = (unsigned char)len;
	if (len)
		memcpy(to + 1, memory, len);
}

PTX_EXPORT void posix_trace_user_event_np(const struct posix_trace_user_np *user,
					  trace_event_id_t event_id)
{
	if (*posix_trace_active_np && event_id < PTX_TYPE_MAX)
		ptx_record_items(__builtin_frame_address(0), event_id, user->bytes, user->used,
				 user->full, (uint64_t)(uintptr_t)__builtin_return_address(0));
}
