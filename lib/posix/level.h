/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/level.h - levels of event types, as filters of streams.
 */
#ifndef PTX_POSIX_LEVEL_H
#define PTX_POSIX_LEVEL_H

#include "posix/stream.h"

/* A type of this process was described with a level: streams that have one obey it. */
void ptx_level_described(unsigned type, int level);

/*
 * filter.c: the filter of an active stream becomes another, with its event; with the stream's lock.
 * Not whole: what others changed since old was looked at stays.
 */
void ptx_filter_change(struct ptx_stream *stream, const trace_event_set_t *old,
		       const trace_event_set_t *new, bool whole, const void *address);

#endif
