/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/attr.h - the attributes of a stream, as a trace_attr_t contains them and a log stores
 * them.
 *
 * The struct is plain data without pointers. An object is valid if its magic word and version are
 * those of this library. The struct is stored in the program's trace_attr_t and is therefore
 * may_alias.
 *
 * Threads   an object has one caller at a time.
 * Signals   async-signal-safe.
 */
#ifndef PTX_RECORD_ATTR_H
#define PTX_RECORD_ATTR_H

#include <stdbool.h>

#include "record/record.h"

#define PTX_ATTR_MAGIC   UINT64_C(0x7274746178747000) /* "\0ptxattr" */
#define PTX_ATTR_VERSION 1u
#define PTX_NAME_BYTES   64 /* TRACE_NAME_MAX and the NUL */

/* Defaults, CH-07 to CH-09. */
#define PTX_ATTR_STREAM_SIZE   65536u
#define PTX_ATTR_MAX_DATA_SIZE 1024u
#define PTX_ATTR_LOG_SIZE      (1u << 20)

/* The range of zstd levels that a program can set. Levels below 0 are faster and compress less. */
#define PTX_ATTR_COMPRESSION_MIN (-20)
#define PTX_ATTR_COMPRESSION_MAX 19

#define PTX_ATTR_POLICY_SET  1u /* setstreamfullpolicy was called, or the stream exists */
#define PTX_ATTR_FROM_STREAM 2u /* creation_ns is valid */

/* All sizes are in bytes, all times in nanoseconds. */
struct ptx_attr {
	uint64_t magic;
	uint32_t version;
	uint32_t flags;
	uint64_t stream_size;
	uint64_t max_data_size;
	uint64_t log_size;
	uint32_t inheritance;
	uint32_t stream_policy;
	uint32_t log_policy;
	int32_t log_compression; /* level of zstd; 0: the log is not compressed */
	int64_t clock_resolution_ns;
	int64_t creation_ns;
	char name[PTX_NAME_BYTES];
	char generation[PTX_NAME_BYTES];
} __attribute__((may_alias));

_Static_assert(sizeof(struct ptx_attr) == 200, "the attributes are part of the log format");

/*
 * Returns whether `attr` is an initialized object. The program may pass any pointer to its own
 * memory, and NULL.
 */
static inline bool ptx_attr_is_valid(const struct ptx_attr *attr)
{
	return attr && attr->magic == PTX_ATTR_MAGIC && attr->version == PTX_ATTR_VERSION;
}

/* Returns whether a level of compression is in the range. 0, no compression, is in the range. */
static inline bool ptx_attr_is_level(int32_t level)
{
	return level >= PTX_ATTR_COMPRESSION_MIN && level <= PTX_ATTR_COMPRESSION_MAX;
}

/*
 * Sizes of the largest records: posix_trace_attr_getmaxusereventsize() and ...systemeventsize().
 * An event needs its record and perhaps an ident record before it.
 */
#define PTX_IDENT_RECORD_BYTES (sizeof(struct ptx_record) + sizeof(struct ptx_ident))
#define PTX_EVENT_SET_BYTES    136 /* sizeof(trace_event_set_t) */
#define PTX_SYSTEM_DATA_MAX    (2 * PTX_EVENT_SET_BYTES)

/*
 * Returns the greatest number of bytes that a user event with `len` bytes of data occupies in the
 * stream's memory.
 */
static inline size_t ptx_attr_user_event_size(const struct ptx_attr *attr, size_t len)
{
	if (len > attr->max_data_size)
		len = attr->max_data_size;
	if (len > PTX_RECORD_LEN_MAX)
		len = PTX_RECORD_LEN_MAX;
	return PTX_IDENT_RECORD_BYTES + ptx_record_size(len);
}

/*
 * Returns the greatest number of bytes that a system event occupies in the stream's memory. START
 * and FILTER have the most data: two sets of event types.
 */
static inline size_t ptx_attr_system_event_size(void)
{
	return PTX_IDENT_RECORD_BYTES + ptx_record_size(PTX_SYSTEM_DATA_MAX);
}

/* Sets every attribute to its default. The function cannot fail. It may change errno. */
void ptx_attr_init(struct ptx_attr *attr);

#endif
