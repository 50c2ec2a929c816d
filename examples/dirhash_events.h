/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dirhash_events.h - the event types of dirhash and their data.
 *
 * dirhash records the events, and dirhash-report reads them on the same kind of machine. So the
 * data are plain structures. Where a comment says "path", the bytes of the path follow the
 * structure. The path has no terminating NUL and is cut so that the data fit into EV_DATA_MAX
 * bytes. Each name of a type fits into 30 bytes, the least maximum that <trace.h> allows.
 */
#ifndef DIRHASH_EVENTS_H
#define DIRHASH_EVENTS_H

#include <stdint.h>

#define EV_DATA_MAX 512 /* the stream's max-data-size */

/* The last argument describes the data as a schema of <trace_np.h>. The standard has no schemas. */
#define EVENT_TYPES(X) \
	X(DIR_BEGIN, "dirhash_dir_begin", /* path */ \
	  "str path; @level 4; @begin dir; @key path") \
	X(DIR_END, "dirhash_dir_end", /* path */ \
	  "str path; @level 4; @end dir; @key path") \
	X(FILE_QUEUED, "dirhash_file_queued", /* struct ev_file, path */ \
	  "u32 file; u32 worker; str path; @level 4") \
	X(QUEUE_FULL, "dirhash_queue_full", /* struct ev_queue; the walk waits */ \
	  "u32 length; @level 3") \
	X(QUEUE_EMPTY, "dirhash_queue_empty", /* struct ev_queue; a worker waits */ \
	  "u32 length; @level 3") \
	X(QUEUE_LENGTH, "dirhash_queue_length", /* struct ev_queue, after a file was taken */ \
	  "u32 length; @level 5") \
	X(FILE_OPEN, "dirhash_file_open", /* struct ev_file */ \
	  "u32 file; u32 worker; @level 4; @begin hash; @key file") \
	X(FILE_CHUNK, "dirhash_file_chunk", /* struct ev_chunk */ \
	  "u32 file; u32 bytes; @level 5") \
	X(FILE_HASHED, "dirhash_file_hashed", /* struct ev_hashed */ \
	  "u32 file; u32 worker; u64 bytes; x64 hash; @level 4; @end hash; @key file") \
	X(FILE_ERROR, "dirhash_file_error", /* struct ev_error, path */ \
	  "u32 file; errno error; str path; @level 2") \
	X(DIR_ERROR, "dirhash_dir_error", /* struct ev_error, path */ \
	  "u32 file; errno error; str path; @level 2") \
	X(WORKER_START, "dirhash_worker_start", /* struct ev_worker */ \
	  "u32 worker; u32 files; u64 bytes; @level 4") \
	X(WORKER_STOP, "dirhash_worker_stop", /* struct ev_worker */ \
	  "u32 worker; u32 files; u64 bytes; @level 4") \
	X(WALK_DONE, "dirhash_walk_done", /* struct ev_walk */ \
	  "u32 files; u32 dirs; @level 4")

enum event_type {
#define AS_ENUM(symbol, name, schema) EV_##symbol,
	EVENT_TYPES(AS_ENUM)
#undef AS_ENUM
	EV_TYPES
};

struct ev_file {
	uint32_t file; /* the walk numbers the files from 0 */
	uint32_t worker; /* of FILE_OPEN; 0 in FILE_QUEUED */
};

struct ev_queue {
	uint32_t length;
};

struct ev_chunk {
	uint32_t file;
	uint32_t bytes; /* of one read() */
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
