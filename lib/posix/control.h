/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/control.h - the controller as a writer of its own stream: START, STOP, FILTER, and user
 * events (posix_trace_trid_event_np()).
 *
 * Threads   the caller holds the stream's lock, except for ptx_control_filter(), and for
 *           ptx_control_open(), whose stream no other thread knows yet.
 * Errors    0 or an error number; errno may change, the public functions restore it.
 */
#ifndef PTX_POSIX_CONTROL_H
#define PTX_POSIX_CONTROL_H

#include "posix/stream.h"

/* Claims the stream's first ring for the controller. ENOMEM. */
int ptx_control_open(struct ptx_stream *stream);

#define PTX_CONTROL_NOW 0 /* the time at which the event is recorded */

/*
 * Records an event unless the filter contains its type. `ticks` is the time of the operation that a
 * system event reports, or PTX_CONTROL_NOW. If the stream has no room, the event is lost, and a
 * stream of another policy than LOOP becomes full. The data of a user event are truncated to
 * max-data-size.
 */
void ptx_control_record(struct ptx_stream *stream, unsigned type, const void *data, size_t len,
			uint64_t ticks, const void *address);

/* Does what posix_trace_stop() does, on a locked stream. `address` becomes the event's address. */
void ptx_control_stop(struct ptx_stream *stream, const void *address);

/* Stores the present filter. Any thread may call it. */
void ptx_control_filter(const struct ptx_stream *stream, trace_event_set_t *set);

#endif
