/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/items.h - data that is a row of typed items: posix_trace_user_event_np().
 *
 * An item is one byte and a value. The lower half of the byte is the type. The upper half is the
 * width in characters that the item has in a listing. A number has the type's size and is
 * little-endian. A string ends with a NUL. A piece of memory has its length in a byte before the
 * content.
 *
 * Threads   no state; all functions may run concurrently.
 * Signals   async-signal-safe.
 */
#ifndef PTX_RECORD_ITEMS_H
#define PTX_RECORD_ITEMS_H

#include <stddef.h>
#include <trace_np.h>

/* The largest width that an item can have; 15 is reserved. */
#define PTX_ITEM_WIDTH_MAX 14

/* Returns the size of a number of that type, or 0 if the type is not a number. */
size_t ptx_item_size(enum posix_trace_item_np type);

/*
 * Returns the number of bytes at the beginning of the row that can be kept: complete items that fit
 * into `room` bytes. The row has `len` bytes.
 */
size_t ptx_items_fit(const void *items, size_t len, size_t room);

#endif
