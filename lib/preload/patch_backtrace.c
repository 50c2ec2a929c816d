/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/patch_backtrace.c - a wrapper of backtrace(3) that omits the slots of patched functions.
 *
 * For the unwinder, a slot is a frame of its own between a function and its caller. The real
 * backtrace(3) reports this frame like any other frame.
 */
#include <execinfo.h>

#include "preload/patch.h"
#include "preload/shim.h"

#if defined __x86_64__

SHIM_NEXT(backtrace, shim_no_number);

#define MOST_FRAMES 512 /* the most frames that are collected, including slots */

/* Returns whether an address is in the shim: a slot, or the wrapper below. */
static bool is_of_shim(const void *address)
{
	return (uintptr_t)address - shim_own[1].begin < shim_own[1].bytes;
}

/*
 * Collects all frames into a larger buffer and copies the frames of the program. Returns how many
 * were copied.
 */
static int backtrace_filtered(void **buffer, int size)
{
	void *all[MOST_FRAMES];
	int wanted = size < (MOST_FRAMES - 4) / 2 ? 2 * size + 4 : MOST_FRAMES;
	int found = next(backtrace)(all, wanted), kept = 0;

	for (int i = 0; i < found && kept < size; i++)
		if (!is_of_shim(all[i]))
			buffer[kept++] = all[i];
	return kept;
}

/* backtrace(3). If no slots are used, the call is passed on. */
SHIM_WRAPPER int backtrace(void **buffer, int size)
{
	return shim_slots_are_used() && size > 0 ? backtrace_filtered(buffer, size) :
						   next(backtrace)(buffer, size);
}

#endif
