/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/record.h - records an event by the long way: in all cases that event.c does not handle.
 *
 * Threads   all functions may run concurrently.
 * Signals   all functions are async-signal-safe. errno is preserved.
 */
#ifndef PTX_POINT_RECORD_H
#define PTX_POINT_RECORD_H

#include "point/thread.h"

/*
 * Records an event at a free nesting level. Claims a ring or a chunk if necessary, and fills the
 * lanes for the thread's next event. `frame` is the stack pointer of the trace point. An event that
 * cannot be recorded is counted as lost. The function has no attribute "cold", with which GCC
 * optimizes for size: a thread calls it for each new chunk, and a chunk may have room for only a
 * few events.
 */
void ptx_record(const void *frame, unsigned type, const void *data, size_t len, uint64_t address)
	__attribute__((noinline));

/*
 * Does the same as ptx_record() for a row of items (record/items.h). If the row is too long, it is
 * truncated at the end of an item. is_short: the caller has omitted items already, so the event
 * counts as truncated.
 */
void ptx_record_items(const void *frame, unsigned type, const void *items, size_t len,
		      bool is_short, uint64_t address) __attribute__((noinline, cold));

/*
 * Counts an event as skipped in two kinds of streams: those that would record the event, and those
 * that skip its type.
 */
void ptx_record_skip(const void *frame, unsigned type) __attribute__((noinline, cold));

/*
 * Makes the thread's object, the views, and the rings of level 0 now. Otherwise the thread's next
 * event would need system calls for them.
 */
void ptx_record_join(const void *frame);

/*
 * ptx_record_become_quiet() makes this process quiet (base/quiet.h). Readers then see that the
 * writers of this process do not wake them any more. ptx_record_lend_quiet() does the same in a
 * child of vfork(), for the thread whose memory the child uses. This thread calls
 * ptx_record_return_quiet() when it continues.
 */
void ptx_record_become_quiet(void);
void ptx_record_lend_quiet(void);
void ptx_record_return_quiet(void);

/*
 * Both functions wake the sleeping readers of the stream. ptx_record_wake_and_leave() also releases
 * level 0 of `thread`.
 */
void ptx_record_wake(struct ptx_region *region) __attribute__((noinline, cold));
void ptx_record_wake_and_leave(struct ptx_thread *thread, struct ptx_region *region)
	__attribute__((noinline, cold));

#endif
