/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/record.h - an event by the long way: whatever event.c does not handle.
 */
#ifndef PTX_POINT_RECORD_H
#define PTX_POINT_RECORD_H

#include "point/thread.h"

/*
 * Records an event at whatever level is free, taking a ring or a chunk where needed, and leaves
 * the thread with lanes for the next. frame is the stack pointer of the trace point.
 */
void ptx_record(const void *frame, unsigned type, const void *data, size_t len, uint64_t address)
	__attribute__((noinline, cold));

/* The same of a row of items; is_short: some are missing already. */
void ptx_record_items(const void *frame, unsigned type, const void *items, size_t len,
		      bool is_short, uint64_t address) __attribute__((noinline, cold));

/* Does what the thread's next event would ask the kernel for: its object, streams and rings. */
void ptx_record_join(const void *frame);

/* Readers that sleep look by themselves from now on, and writers of this process call nobody. */
void ptx_record_tell_quiet(void);

/* Wakes a reader that said it sleeps. */
void ptx_record_wake(struct ptx_region *region) __attribute__((noinline, cold));
void ptx_record_wake_and_leave(struct ptx_thread *thread, struct ptx_region *region)
	__attribute__((noinline, cold));

#endif
