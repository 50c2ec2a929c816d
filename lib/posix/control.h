/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/control.h - the controller as a writer of its own stream: START, STOP, FILTER.
 */
#ifndef PTX_POSIX_CONTROL_H
#define PTX_POSIX_CONTROL_H

#include "posix/stream.h"

/* Claims the stream's first ring for the controller. */
int ptx_control_open(struct ptx_stream *stream);

/* Records a system event unless it is filtered out; a stream that has no room becomes full. */
void ptx_control_record(struct ptx_stream *stream, unsigned type, const void *data, size_t len,
			uint64_t ticks, const void *address);

/* As posix_trace_stop(), on a locked stream. */
void ptx_control_stop(struct ptx_stream *stream, const void *address);

/* The filter in force. */
void ptx_control_filter(const struct ptx_stream *stream, trace_event_set_t *set);

#endif
