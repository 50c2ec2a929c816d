/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_trampoline.h - memory for trampolines near a module, and their contents.
 *
 * Threads   all functions may run concurrently, for different trampolines.
 * Errors    errno may change.
 */
#ifndef PTX_PRELOAD_PATCH_TRAMPOLINE_H
#define PTX_PRELOAD_PATCH_TRAMPOLINE_H

#include "preload/patch.h"

#if defined __x86_64__

/*
 * Maps writable memory so near that a jump from it reaches every byte of the module between the two
 * addresses. Returns NULL if there is no such memory.
 */
unsigned char *shim_trampolines_map(uintptr_t begin, uintptr_t end, size_t bytes);

/*
 * Writes the trampoline of a site. `pointers` is an array near the trampolines with the addresses
 * of shim_patch_enter and shim_patch_probe; `base` is the address of the module. `next` is the
 * trampoline of the next site, if this trampoline continues there. Returns false if the site does
 * not have the bytes of the plan, or something is out of reach.
 */
bool shim_trampoline_write(struct shim_trampoline *to, const void *const *pointers,
			   const struct shim_plan_site *site, uintptr_t base,
			   const struct shim_probe *probe, const struct shim_trampoline *next);

/*
 * Stores the distance `to - from` in 4 bytes, as jumps and calls have it. Returns false if the
 * distance does not fit.
 */
bool shim_put_distance(uint8_t *at, uintptr_t from, uintptr_t to);

#endif
#endif
