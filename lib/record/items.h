/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/items.h - data that is a row of typed items: trace_user_np.h.
 *
 * An item is a byte, type in the low and width in the high half, and a value of the type's size,
 * little-endian; a string with its NUL; memory with a byte before it that counts it.
 */
#ifndef PTX_RECORD_ITEMS_H
#define PTX_RECORD_ITEMS_H

#include <stddef.h>
#include <trace_np.h>

#define PTX_ITEM_WIDTH_MAX 14

/* Of a number of that type; 0: it is none. */
size_t ptx_item_size(enum posix_trace_item_np type);

/* How many bytes the first items take that room has room for. */
size_t ptx_items_fit(const void *items, size_t len, size_t room);

#endif
