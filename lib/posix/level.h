/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/level.h - levels of event types, as filters of streams.
 *
 * Threads   all functions may run concurrently for different streams.
 */
#ifndef PTX_POSIX_LEVEL_H
#define PTX_POSIX_LEVEL_H

#include "posix/stream.h"

/* Informs the streams of this process that a type was described with a level. */
void ptx_level_described(unsigned type, int level);

/*
 * In filter.c: changes the filter of a locked active stream, and records FILTER. whole: all bits
 * are set; otherwise only the bits that differ, so that changes that others made since old was
 * read remain.
 */
void ptx_filter_change(struct ptx_stream *stream, const trace_event_set_t *old,
		       const trace_event_set_t *new, bool whole, const void *address);

#endif
