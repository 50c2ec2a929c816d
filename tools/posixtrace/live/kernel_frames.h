/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_frames.h - the kernel's functions in the stacks of samples.
 *
 * /proc/kallsyms has the names of the functions. Each address of the kernel is replaced by the
 * begin of its function, so that equal chains of functions are one stack. The log has a name for
 * each of these begins, as an object of the process 0; symbols/ finds the names there.
 *
 * Reading the names takes tenths of a second, which would delay the start of the program. So the
 * stacks of the first samples are kept as the kernel gives them. When there are many of them, each
 * look reads a part of the names. kernel_frames_complete() reads the rest, at the end of the
 * recording. If no sample has an address of the kernel, no name is read.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_FRAMES_H
#define POSIXTRACE_LIVE_KERNEL_FRAMES_H

#include <stdint.h>

#include "live/stack_store.h"

struct kernel_frames;
struct posix_trace_composer_np;

/* The stacks of one log whose functions of the kernel have no names yet. All zeros: none. */
struct kernel_raw {
	struct stack_store store;
	uint32_t *number;  /* by number in store: the number in the caller's store */
	size_t numbers;
};

/* Frees the memory. There are no stacks afterwards. */
void kernel_raw_fini(struct kernel_raw *raw);

/*
 * Finds out whether samples may have functions of the kernel. Returns NULL, or the reason why not.
 * The text is a constant.
 */
const char *kernel_frames_refusal(void);

/*
 * Makes an object without stacks. Returns NULL if kernel_frames_refusal() has a reason, or if
 * memory is lacking.
 */
struct kernel_frames *kernel_frames_begin(void);
void kernel_frames_end(struct kernel_frames *frames);

/*
 * Keeps the chain of a sample, whose innermost address is the first one. Omits the kernel's marks
 * between the addresses. The function replaces an address of the kernel by the begin of its
 * function. It replaces all addresses without a function by one common address. If "frames" is
 * NULL, the function omits addresses of the kernel. Returns the number of the stack for
 * kernel_frames_number(), or STACK_NONE if there is no room for it.
 */
uint32_t kernel_frames_keep(struct kernel_frames *frames, struct kernel_raw *raw,
			    struct stack_store *store, const uint64_t *chain, uint64_t count);

/*
 * Reads a part of the names if many stacks wait for names, and all names if very many stacks wait.
 */
void kernel_frames_look(struct kernel_frames *frames, const struct kernel_raw *raw);

/* Reads all names that are missing, and puts all stacks that were kept into the store. */
void kernel_frames_complete(struct kernel_frames *frames, struct kernel_raw *raw,
			    struct stack_store *store);

/*
 * Returns the number that a stack of kernel_frames_keep() has in the store.
 * kernel_frames_complete() must be called before. STACK_NONE means that there was no room for the
 * stack.
 */
uint32_t kernel_frames_number(const struct kernel_raw *raw, uint32_t number);

/* Writes the names of the functions that occur in stacks. Returns 0 or an error number. */
int kernel_frames_names(const struct kernel_frames *frames, struct posix_trace_composer_np *to);

#endif
