/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_copies.h - keeps the copies of stacks that the kernel made for samples, until the end of
 * the recording.
 *
 * A stack can be unwound only when the log has all mapped files. Until then the copies are in a
 * file without a name, which has at most KERNEL_COPIES_MAX bytes. If the file has no room for the
 * copy of a sample, the sample has no copy. Only one thread uses a struct kernel_copies.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_COPIES_H
#define POSIXTRACE_LIVE_KERNEL_COPIES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "live/kernel_frames.h"
#include "live/stack_store.h"
#include "live/stack_unwind.h"

#define KERNEL_COPIES_MAX (UINT64_C(2) << 30)

struct kernel_copies;

/* Returns whether samples can have copies on this processor and in this build. */
bool kernel_copies_has(void);
/* The registers of PERF_SAMPLE_REGS_USER. */
uint64_t kernel_copies_registers(void);

/* Makes the file for the copies. Returns NULL after it printed the error. */
struct kernel_copies *kernel_copies_begin(void);
void kernel_copies_end(struct kernel_copies *copies);

/*
 * Keeps the registers and the stack that the kernel has appended to a sample. "number" is the
 * number of the stack that is known without the copy. Stores the index of the copy in *index.
 * Returns false if there is no copy, no room, or no memory, or if the file cannot be written. The
 * sample then keeps the stack "number".
 */
bool kernel_copies_keep(struct kernel_copies *copies, const void *data, size_t bytes,
			uint32_t number, uint32_t *index);

/*
 * Gives a copy the final number of its stack. Returns false if there was no room for the stack.
 */
bool kernel_copies_set_stack(struct kernel_copies *copies, uint32_t index,
			     const struct kernel_raw *raw);

/* Returns the stack that is known without the copy. */
uint32_t kernel_copies_number(const struct kernel_copies *copies, uint32_t index);

/*
 * Unwinds the copy that shows a thread's stack at the time time_ns. Returns the number that the
 * unwound stack has in store. If the copy yields no caller, returns the stack that is known without
 * the copy.
 */
uint32_t kernel_copies_unwind(struct kernel_copies *copies, uint32_t index,
			      struct stack_unwinder *unwinder, struct stack_store *store, pid_t pid,
			      pid_t tid, int64_t time_ns);

#endif
