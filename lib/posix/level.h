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

/* The level of an event type's schema; 0: none. */
int ptx_level_of(const struct ptx_lists *lists, unsigned type);

/* filter.c: whether how is one of POSIX_TRACE_SET_EVENTSET and so on. */
bool ptx_filter_is_way(int how);

/* filter.c: posix_trace_set_filter() of a locked active stream; address is the caller's. */
void ptx_filter_set(struct ptx_stream *stream, const trace_event_set_t *set, int how,
		    const void *address);

/*
 * In filter.c: changes the filter of a locked active stream, and records FILTER. whole: all bits
 * are set; otherwise only the bits that differ, so that changes that others made since old was
 * read remain.
 */
void ptx_filter_change(struct ptx_stream *stream, const trace_event_set_t *old,
		       const trace_event_set_t *new, bool whole, const void *address);

#endif
