/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/level.h - the level of an event type, by which a stream can filter out types.
 *
 * Threads   all functions may run concurrently for different streams.
 */
#ifndef PTX_POSIX_LEVEL_H
#define PTX_POSIX_LEVEL_H

#include "posix/stream.h"

/* Informs the streams of this process that a type was described with a level. */
void ptx_level_described(unsigned type, int level);

/* Returns the level in the schema of an event type, or 0 if the type has no schema or no level. */
int ptx_level_of(const struct ptx_lists *lists, unsigned type);

/* In filter.c: returns whether `how` is one of POSIX_TRACE_SET_EVENTSET and so on. */
bool ptx_filter_is_way(int how);

/*
 * In filter.c: changes the filter like posix_trace_set_filter(). The stream is locked and active;
 * `address` is the caller's.
 */
void ptx_filter_set(struct ptx_stream *stream, const trace_event_set_t *set, int how,
		    const void *address);

/*
 * In filter.c: changes the filter of a locked active stream, and records FILTER. If `whole` is
 * true, all bits are replaced. Otherwise only the bits that differ between `old` and `new` are
 * changed, so that later changes by others remain.
 */
void ptx_filter_change(struct ptx_stream *stream, const trace_event_set_t *old,
		       const trace_event_set_t *new, bool whole, const void *address);

#endif
