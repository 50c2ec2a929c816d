/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/silence.h - a byte for each event type. If the byte is not 0, the only stream of the
 * process does not record events of this type. The wrappers of C library functions read these
 * bytes.
 *
 * Threads   all functions may run concurrently.
 * Signals   all functions are async-signal-safe. errno is preserved.
 */
#ifndef PTX_ARENA_SILENCE_H
#define PTX_ARENA_SILENCE_H

#include "arena/arena.h"

/* The values of a byte; include/trace_point_np.h defines the same values. */
enum ptx_silence {
	PTX_SILENCE_NONE,     /* the type may be recorded */
	PTX_SILENCE_FILTERED, /* the only stream filters the type out */
	/* the only stream counts the events of the type and does not record them */
	PTX_SILENCE_SKIPPED
};

/* Clears all bytes. Called before the number of streams changes. */
void ptx_silence_clear(struct ptx_control *control);

/* Clears the byte of one type, because the type may be recorded from now on. */
void ptx_silence_end(struct ptx_control *control, unsigned type);

/*
 * Sets the bytes according to the filter and the skipped types of the region, if exactly one stream
 * is attached. Called by the controller of this stream, after it has changed the region.
 */
void ptx_silence_set(struct ptx_control *control, const struct ptx_region *region);

#endif
