/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/items.c - the sizes of items, and where a row of items can be shortened.
 *
 * A trace point shortens a payload of items that exceeds max-data-size. It cuts the payload between
 * two items, so that a reader can decode what remains. The row may be damaged, because it comes
 * from memory of the program: no item is trusted to be complete. An item of an unknown type counts
 * as one byte.
 */
#include "record/items.h"

#include <string.h>

/* Strings, memory and unknown types have no fixed size. */
size_t ptx_item_size(enum posix_trace_item_np type)
{
	/*
	 * 16 entries for the four bits that a type has in an item. The entries of types without a
	 * fixed size are 0.
	 */
	static const unsigned char sizes[16] = {
		[POSIX_TRACE_ITEM_I8_NP] = 1, [POSIX_TRACE_ITEM_U8_NP] = 1,
		[POSIX_TRACE_ITEM_I16_NP] = 2, [POSIX_TRACE_ITEM_U16_NP] = 2,
		[POSIX_TRACE_ITEM_I32_NP] = 4, [POSIX_TRACE_ITEM_U32_NP] = 4,
		[POSIX_TRACE_ITEM_X32_NP] = 4, [POSIX_TRACE_ITEM_OBJ_NP] = 4,
		[POSIX_TRACE_ITEM_FUN_NP] = 4, [POSIX_TRACE_ITEM_SIG_NP] = 1,
		[POSIX_TRACE_ITEM_I64_NP] = 8, [POSIX_TRACE_ITEM_U64_NP] = 8,
		[POSIX_TRACE_ITEM_F32_NP] = 4, [POSIX_TRACE_ITEM_F64_NP] = 8,
	};

	return (unsigned)type < 16 ? sizes[type] : 0;
}

/*
 * Returns the size of the item at `item`, with the byte of its type, or 0 if it is not complete
 * within `len` bytes. `len` must be at least 1.
 */
static size_t item_bytes(const unsigned char *item, size_t len)
{
	enum posix_trace_item_np type = (enum posix_trace_item_np)(*item & 15);
	const unsigned char *nul;
	size_t bytes;

	switch (type) {
	case POSIX_TRACE_ITEM_STR_NP:
		/*
		 * A string ends at its NUL. Without a NUL within `len` bytes, the string is not
		 * complete.
		 */
		nul = memchr(item + 1, 0, len - 1);
		return nul ? (size_t)(nul - item) + 1 : 0;
	case POSIX_TRACE_ITEM_MEM_NP:
		/*
		 * The second byte counts the bytes that follow; without it the item is
		 * incomplete.
		 */
		bytes = len > 1 ? 2u + item[1] : len + 1;
		break;
	default:
		bytes = 1 + ptx_item_size(type);
	}
	return bytes <= len ? bytes : 0;
}

/*
 * The difference `room - at` does not become negative, because each item was found to fit. The loop
 * ends at the first item that is incomplete or does not fit, even if a later item would fit.
 */
size_t ptx_items_fit(const void *items, size_t len, size_t room)
{
	const unsigned char *p = items;
	size_t at = 0, bytes;

	while (at < len && (bytes = item_bytes(p + at, len - at)) && bytes <= room - at)
		at += bytes;
	return at;
}
