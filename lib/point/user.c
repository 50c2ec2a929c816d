/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/user.c - events of typed items: trace_user_np.h.
 *
 * The caller fills a struct posix_trace_user_np on its stack, item by item, and records it as one
 * event. The functions allocate no memory. When the struct is full, further items are ignored and
 * the event is marked as truncated. All functions are async-signal-safe.
 */
#include <stddef.h>
#include <string.h>

#include "base/export.h"
#include "point/record.h"
#include "record/items.h"

/*
 * Appends the byte of an item's type and width, and returns the place for the item's value of
 * `bytes` bytes. Returns NULL if there is no room. After that no further item is added, even if it
 * is shorter. So the recorded items are always the first items that the program added.
 */
static unsigned char *add_item(struct posix_trace_user_np *user, enum posix_trace_item_np type,
			       unsigned width, size_t bytes)
{
	unsigned char *to = user->bytes + user->used;

	if (user->full || user->size - user->used <= bytes) {
		user->full = 1;
		return NULL;
	}
	/* The upper half of the byte holds the width. */
	if (width > PTX_ITEM_WIDTH_MAX)
		width = PTX_ITEM_WIDTH_MAX;
	*to = (unsigned char)(width << 4 | (unsigned)type);
	user->used += 1 + bytes;
	return to + 1;
}

/* Begins an event without items. `size` is the size of *user; the rest of *user is for items. */
PTX_EXPORT void posix_trace_user_begin_np(struct posix_trace_user_np *user, size_t size)
{
	const size_t head = offsetof(struct posix_trace_user_np, bytes);

	user->used = 0;
	user->full = 0;
	user->size = size > head ? (unsigned)(size - head) : 0;
}

/* Appends a number in little-endian order, as a log has it. */
static void put_number(struct posix_trace_user_np *user, enum posix_trace_item_np type,
		       unsigned width, uint64_t value)
{
	size_t bytes = ptx_item_size(type);
	unsigned char *to = add_item(user, type, width, bytes);

	for (size_t i = 0; to && i < bytes; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

/*
 * Appends an integer of the given type; the upper bits that the type cannot hold are ignored.
 * `width` is recorded for readers that print the value.
 */
PTX_EXPORT void posix_trace_user_number_np(struct posix_trace_user_np *user,
					   enum posix_trace_item_np type, unsigned width,
					   uint64_t value)
{
	/*
	 * Numbers of other types would be misread, so they are ignored. The macros never pass
	 * them.
	 */
	if (ptx_item_size(type) && type != POSIX_TRACE_ITEM_F32_NP &&
	    type != POSIX_TRACE_ITEM_F64_NP)
		put_number(user, type, width, value);
}

/*
 * Appends a floating-point number. The program passes a double, as C does for variable arguments;
 * an item of type F32 stores it as a float.
 */
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
	put_number(user, type, width, bits);
}

/* Appends a string with its NUL. NULL is recorded as an empty string. */
PTX_EXPORT void posix_trace_user_str_np(struct posix_trace_user_np *user, const char *string)
{
	/*
	 * The string may lack its NUL, so at most as many bytes are read as there could be room
	 * for.
	 */
	size_t len = string ? strnlen(string, user->size) : 0;
	unsigned char *to = add_item(user, POSIX_TRACE_ITEM_STR_NP, 0, len + 1);

	if (to && len)
		memcpy(to, string, len);
	if (to)
		to[len] = 0;
}

/* Appends `len` bytes, at most 255, because one byte counts them. NULL is recorded as no bytes. */
PTX_EXPORT void posix_trace_user_mem_np(struct posix_trace_user_np *user, const void *memory,
					size_t len)
{
	unsigned char *to;

	if (!memory)
		len = 0;
	/* One byte before the memory holds its length. */
	if (len > UINT8_MAX)
		len = UINT8_MAX;
	to = add_item(user, POSIX_TRACE_ITEM_MEM_NP, 0, 1 + len);
	if (!to)
		return;
	*to = (unsigned char)len;
	if (len)
		memcpy(to + 1, memory, len);
}

/*
 * Records the items as one event. The address of this function's frame identifies its claim of a
 * nesting level, as the stack pointer does in event.c.
 */
PTX_EXPORT void posix_trace_user_event_np(const struct posix_trace_user_np *user,
					  trace_event_id_t event_id)
{
	/* If there is no stream, nothing happens, as in posix_trace_event(). */
	if (*posix_trace_active_np && event_id < PTX_TYPE_MAX)
		ptx_record_items(__builtin_frame_address(0), event_id, user->bytes, user->used,
				 user->full, (uint64_t)(uintptr_t)__builtin_return_address(0));
}
