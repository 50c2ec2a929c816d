/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_frames.h - the kernel's functions in the stacks of samples.
 *
 * /proc/kallsyms has the names of the functions. Each address of the kernel is replaced by the
 * begin of its function, so that equal chains of functions are one stack. The log has a name for
 * each of these begins, as an object of the process 0; symbols/ finds the names there.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_FRAMES_H
#define POSIXTRACE_LIVE_KERNEL_FRAMES_H

#include <stddef.h>
#include <stdint.h>

struct kernel_frames;
struct posix_trace_composer_np;

/*
 * Finds out whether samples may have functions of the kernel. Returns NULL, or the reason for which
 * they may not, which is a constant.
 */
const char *kernel_frames_refusal(void);

/*
 * Reads the names. Returns NULL if kernel_frames_refusal() has a reason, or if memory is lacking.
 * Samples are then of user mode only.
 */
struct kernel_frames *kernel_frames_begin(void);
void kernel_frames_end(struct kernel_frames *frames);

/*
 * Copies the chain of a sample, whose innermost address is the first one, to at most most addresses
 * in to, and returns their number. Marks of the kernel are left out. An address of the kernel
 * becomes the begin of its function. Without frames, addresses of the kernel are left out.
 */
size_t kernel_frames_chain(struct kernel_frames *frames, const uint64_t *chain, uint64_t count,
			   uint64_t *to, size_t most);

/*
 * Writes the names of the functions that kernel_frames_chain() has met. Returns 0 or an error
 * number.
 */
int kernel_frames_names(const struct kernel_frames *frames, struct posix_trace_composer_np *to);

#endif
