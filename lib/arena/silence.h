/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/silence.h - a byte for each event type, which shows wrappers that their work would be
 * useless.
 *
 * Threads   all functions may run concurrently.
 * Signals   all functions are async-signal-safe. errno is preserved.
 */
#ifndef PTX_ARENA_SILENCE_H
#define PTX_ARENA_SILENCE_H

#include "arena/arena.h"

/* The values of a byte; trace_point_np.h has them, too. */
enum ptx_silence {
	PTX_SILENCE_NONE,     /* the type may be recorded */
	PTX_SILENCE_FILTERED, /* the only stream filters the type out */
	PTX_SILENCE_SKIPPED   /* the only stream counts its events and records none */
};

/* Called before the number of streams changes: no type is silent. */
void ptx_silence_clear(struct ptx_control *control);

/* The type may be recorded from now on. */
void ptx_silence_end(struct ptx_control *control, unsigned type);

/*
 * Sets each byte as the filter and the skipped types of the region require. Has no effect unless
 * the stream is the only one that is attached. Called by the controller of that stream, after it
 * has changed the region.
 */
void ptx_silence_set(struct ptx_control *control, const struct ptx_region *region);

#endif
