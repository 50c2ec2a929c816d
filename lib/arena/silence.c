/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/silence.c - a byte for each event type, which shows whether the type is silent. A type is
 * silent if the only stream of the process does not record events of the type. The wrappers of C
 * library functions read these bytes.
 *
 * posix_trace_event() obeys the filter of each stream. But before a wrapper calls
 * posix_trace_event(), it reads the clock twice and packs its arguments. If the byte of its event
 * type is set, the wrapper omits this work.
 *
 * The bytes are valid only while exactly one stream is attached. So only the controller of that
 * stream sets bytes, and all bytes are cleared before the number of streams changes. If a byte is 0
 * although the type is filtered out, the wrapper does useless work, but no event is lost. If a
 * filter changes while another stream is being attached, a byte may be set although two streams are
 * attached. The wrappers ignore the bytes while two streams are attached, and the next change of
 * the number of streams clears them.
 */
#include "arena/silence.h"

/* Stores only a changed value, so that most processes never write to this page. */
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
	/*
	 * The bytes of the system types stay 0, because only controllers record these types. A
	 * wrapper whose type has no number uses the byte of type 0.
	 */
	for (unsigned type = PTX_TYPE_FIRST_USER; type < PTX_TYPE_MAX; type++) {
		uint8_t silent = !ptx_region_admits(region, type) ? PTX_SILENCE_FILTERED :
				 ptx_region_skips(region, type)	  ? PTX_SILENCE_SKIPPED :
								    PTX_SILENCE_NONE;

		put_byte(control, type, silent);
	}
}
