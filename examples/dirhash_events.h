/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dirhash_events.h - the event types of dirhash and what their data is.
 *
 * dirhash records them, dirhash-report reads them on the same kind of machine, so the data are
 * plain structures. Where a comment says "path", the path's bytes follow the structure, without a
 * terminating NUL, cut to fit into EV_DATA_MAX. Each name fits into 30 bytes, the least that any
 * implementation of <trace.h> allows.
 */
#ifndef DIRHASH_EVENTS_H
#define DIRHASH_EVENTS_H

#include <stdint.h>

#define EV_DATA_MAX 512 /* the stream's max-data-size */

#define EVENT_TYPES(X)                                                                     \
	X(DIR_BEGIN, "dirhash_dir_begin")       /* path */                                 \
	X(DIR_END, "dirhash_dir_end")           /* path */                                 \
	X(FILE_QUEUED, "dirhash_file_queued")   /* struct ev_file, path */                 \
	X(QUEUE_FULL, "dirhash_queue_full")     /* struct ev_queue: the walk waits */      \
	X(QUEUE_EMPTY, "dirhash_queue_empty")   /* struct ev_queue: a worker waits */      \
	X(QUEUE_LENGTH, "dirhash_queue_length") /* struct ev_queue, after a file was taken */ \
	X(FILE_OPEN, "dirhash_file_open")       /* struct ev_file */                       \
	X(FILE_CHUNK, "dirhash_file_chunk")     /* struct ev_chunk */                      \
	X(FILE_HASHED, "dirhash_file_hashed")   /* struct ev_hashed */                     \
	X(FILE_ERROR, "dirhash_file_error")     /* struct ev_error, path */                \
	X(DIR_ERROR, "dirhash_dir_error")       /* struct ev_error, path */                \
	X(WORKER_START, "dirhash_worker_start") /* struct ev_worker */                     \
	X(WORKER_STOP, "dirhash_worker_stop")   /* struct ev_worker */                     \
	X(WALK_DONE, "dirhash_walk_done")       /* struct ev_walk */

enum event_type {
#define AS_ENUM(symbol, name) EV_##symbol,
	EVENT_TYPES(AS_ENUM)
#undef AS_ENUM
	EV_TYPES
};

struct ev_file {
	uint32_t file; /* files are numbered from 0 as the walk finds them */
	uint32_t worker; /* of FILE_OPEN; 0 in FILE_QUEUED */
};

struct ev_queue {
	uint32_t length;
};

struct ev_chunk {
	uint32_t file;
	uint32_t bytes; /* read at once */
};

struct ev_hashed {
	uint32_t file;
	uint32_t worker;
	uint64_t bytes;
	uint64_t hash;
};

struct ev_error {
	uint32_t file; /* of FILE_ERROR; 0 in DIR_ERROR */
	int32_t error; /* errno */
};

struct ev_worker {
	uint32_t worker;
	uint32_t files; /* hashed so far */
	uint64_t bytes;
};

struct ev_walk {
	uint32_t files;
	uint32_t dirs;
};

#endif
