/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/stream.h - what a trace_id_t names: an active stream, with or without log, or an opened
 * log.
 *
 * Lock      lock serialises the controller's calls and the reader; it is never held during I/O on
 *           a log that is written, nor while a reader sleeps. Trace points never take it.
 * Life      found through the registry; dropped when no call is inside (registry.h).
 */
#ifndef PTX_POSIX_STREAM_H
#define PTX_POSIX_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace.h>

#include "base/file.h"
#include "meet/find.h"
#include "record/attr.h"

struct ptx_view;
struct ptx_drain;
struct ptx_flush;
struct ptx_stored;

enum ptx_stream_kind { PTX_STREAM_LIVE, PTX_STREAM_LOGGED, PTX_STREAM_STORED };

struct ptx_stream {
	/* What outlives the stream, as its memory does: calls look at it late (registry.h). */
	_Atomic(trace_id_t) id; /* 0: none */
	_Atomic uint32_t users; /* calls inside that may not hold the lock */
	_Atomic uint32_t gone;  /* shut down or closed: users leave */
	_Atomic(enum ptx_stream_kind) kind;
	pthread_mutex_t lock;

	/* The private duplicate of a log's descriptor, and what it is; -1 without log. */
	int log_fd;
	struct ptx_file log_file;
	struct ptx_stream *next;   /* of all streams of the process and, in a child, its parents */

	struct ptx_attr attr;
	unsigned type_cursor; /* the last type that the type list delivered, 0 = none */
	size_t object_cursor; /* how many objects were looked at */
	size_t mapping_cursor; /* likewise mappings */

	/* Active streams. */
	struct ptx_target target;
	unsigned place;                 /* of TRACE_SYS_MAX */
	struct ptx_view *view;
	struct ptx_drain *drain;
	/* where START, STOP and FILTER are written; NULL = not yet */
	struct ptx_chunk *control;
	struct ptx_thread_name {
		uint32_t tid;
		uint64_t thread;
	} control_writer;               /* whose the records of control are */
	struct ptx_flush *flush;        /* with log */
	uint32_t tickets;               /* that readers slept on; even */

	/* Opened logs. */
	struct ptx_stored *stored;
};

#endif
