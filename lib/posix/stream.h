/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/stream.h - the object of a trace_id_t: an active stream, with or without log, or an
 * opened log.
 *
 * Lock      the member `lock` serializes the calls of the controller and the reader. It is not held
 *           during I/O on a log that is written, nor while a reader sleeps. Trace points never
 *           acquire it.
 * Life      a call finds the stream through the registry; the stream is freed when no call uses it
 *           (registry.h).
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

/* The guardian of a log (guard.h). */
struct ptx_guardian {
	uint32_t pid;     /* its process id; 0: none */
	uint64_t start;   /* its start time, as in struct ptx_identity */
	void *life;       /* mapped as long as this process lives; NULL: none */
	unsigned which;   /* the number of its lock: arena/attachment.h */
};

enum ptx_stream_kind { PTX_STREAM_UNLOGGED, PTX_STREAM_LOGGED, PTX_STREAM_STORED };

struct ptx_stream {
	/*
	 * These members remain valid after the stream's end, because late calls access them. The
	 * memory is never freed.
	 */
	_Atomic(trace_id_t) id; /* 0: none */
	/* number of calls that have entered the stream, with or without its lock */
	_Atomic uint32_t users;
	/* not 0: the stream was shut down or closed, so its users must leave */
	_Atomic uint32_t ended;
	_Atomic(enum ptx_stream_kind) kind;
	pthread_mutex_t lock;

	/* The library's duplicate of a log's descriptor, and its file; -1 without log. */
	int log_fd;
	struct ptx_file log_file;
	/* The same for another log, while the stream changes from one log to the next. */
	int other_fd;
	struct ptx_file other_file;
	/*
	 * The next stream in the list of all streams of the process and, in a child, of its
	 * parents.
	 */
	struct ptx_stream *next;

	struct ptx_attr attr;
	unsigned type_cursor; /* the last type that the list of types delivered, 0: none */
	size_t object_cursor; /* the number of objects that the caller has read */
	size_t mapping_cursor; /* the number of mappings that the caller has read */

	/* Active streams. */
	struct ptx_target target;
	/* number of the stream's place among the TRACE_SYS_MAX places of the system */
	unsigned place;
	struct ptx_view *view;
	struct ptx_drain *drain;
	/* the chunk into which START, STOP and FILTER are recorded; NULL: none yet */
	struct ptx_chunk *control;
	struct ptx_thread_name {
		uint32_t tid;
		uint64_t thread;
	} control_writer;               /* the thread of the last records in `control` */
	struct ptx_flush *flush;        /* NULL without log */
	struct ptx_guardian guardian;   /* of the log */
	uint64_t logs;                  /* number of logs that were begun after the first log */
	uint64_t sampled;               /* ticks: when posix_trace_get_load_np() was last called */
	uint64_t *load_records;         /* records of each ring then; NULL: never called */
	uint32_t load_rings;            /* elements of load_records */
	uint32_t tickets;               /* the value that readers slept on last; even */

	/* Opened logs. */
	struct ptx_stored *stored;
};

#endif
