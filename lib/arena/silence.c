/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/silence.c - which types the only stream of a process does not record, for wrappers.
 *
 * posix_trace_event() obeys the filter of each stream. But a wrapper of a C library function has
 * read the clock twice and packed its arguments when it calls posix_trace_event(). The byte of its
 * type lets it omit this work. The bytes are valid only while exactly one stream is attached. So
 * only the controller of that stream sets bytes, and all bytes are cleared before the number of
 * streams changes. A byte that is 0 although the type is filtered out costs time but loses no
 * event. If a filter changes while another stream is being attached, a byte may be set although two
 * streams are attached. Wrappers then ignore the bytes, and the next change of the number of
 * streams clears them.
 */
#include "arena/silence.h"

/* Most processes never set a byte: then the page is not written. */
static void put_byte(struct ptx_control *control, unsigned type, uint8_t silent)
{
	if (atomic_load_explicit(&control->silent[type], memory_order_relaxed) != silent)
		atomic_store_explicit(&control->silent[type], silent, memory_order_relaxed);
}

void ptx_silence_end(struct ptx_control *control, unsigned type)
{
	put_byte(control, type, PTX_SILENCE_NONE);
}

void ptx_silence_clear(struct ptx_control *control)
{
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		ptx_silence_end(control, type);
}

void ptx_silence_set(struct ptx_control *control, const struct ptx_region *region)
{
	if (__builtin_popcountll(atomic_load_explicit(&control->attached,
						      memory_order_acquire)) != 1)
		return;
	/* Only controllers record the system types. A wrapper whose type has no id uses 0. */
	for (unsigned type = PTX_TYPE_FIRST_USER; type < PTX_TYPE_MAX; type++) {
		uint8_t silent = !ptx_region_admits(region, type) ? PTX_SILENCE_FILTERED :
				 ptx_region_skips(region, type)	  ? PTX_SILENCE_SKIPPED :
								    PTX_SILENCE_NONE;

		put_byte(control, type, silent);
	}
}
