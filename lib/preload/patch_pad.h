/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_pad.h - pads, the targets of jumps of which only the first byte is written.
 *
 * The other four bytes of such a jump are the program's own, so these bytes determine the jump's
 * target. A pad is a second jump, which is written at that target and leads to the trampoline. The
 * memory at the target must be free.
 *
 * Threads   only one thread at a time may call these functions.
 * Errors    errno may change.
 */
#ifndef PTX_PRELOAD_PATCH_PAD_H
#define PTX_PRELOAD_PATCH_PAD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes a pad: `at` is the target of the jump, and `target` is the trampoline to which the pad
 * leads. The same pad may be written twice. Returns false if the memory at that place is in use or
 * is not available. shim_pads_end() makes the written pads executable, and returns false if that is
 * impossible.
 */
bool shim_pad_write(uintptr_t at, uintptr_t target);
bool shim_pads_end(void);

#endif
