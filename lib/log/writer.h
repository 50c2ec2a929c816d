/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/writer.h - struct ptx_log, for the files of log/ that write a log.
 *
 * The path of an event: write_append.c stores the event in the block, and format_pack.c packs the
 * block. write_sequence.c chooses the place of the block in the file for the policies APPEND and
 * UNTIL_FULL, where each block begins behind the previous block. write_loop.c does this for the
 * policy LOOP, where each block has a slot of constant size. write_file.c sends the bytes, that is,
 * writes them to the file, and remembers where a failed write stopped. write_complete.c ends the
 * log.
 *
 * A sealed block is complete and ready to be sent. The tail is the part of the file that the writer
 * adds when it completes the log (FORMAT 3.9).
 *
 * Two buffers may wait to be sent: the block of events, and the metadata buffer, which has one
 * block of any other type. If a part of a buffer was sent to a pipe, the rest of the buffer must be
 * sent next (FORMAT 1.4, W1).
 *
 * In the comments on groups of functions, a name such as wait() omits the prefix, for example
 * ptx_log_names_.
 *
 * Threads   one caller at a time for each log, as for log/log.h.
 * Errors    0 or an error number; errno is unchanged.
 */
#ifndef PTX_LOG_WRITER_H
#define PTX_LOG_WRITER_H

#include <stdatomic.h>

#include "base/file.h"
#include "log/format_compress.h"
#include "log/format_pack.h"
#include "log/format_tally.h"
#include "log/read_decode.h"
#include "log/write_append.h"
#include "log/write_encode.h"

#define PTX_LOG_STOP_BYTES 32u /* bytes of the record of the closing STOP, whose data is an int */

/* The block being filled. */
struct ptx_log_filling {
	uint8_t *bytes;       /* the header, the records, then room for the table of threads */
	/* the packed form of at most PTX_LOG_BLOCK_RECORDS bytes of records */
	uint8_t *packed;
	struct ptx_log_packer *packer; /* NULL: the blocks of this log are not packed */
	uint8_t *compressed;  /* the compressed form; NULL: blocks of this log are not compressed */
	/* if the block is sealed: the bytes to send, which are `bytes`, `packed` or `compressed` */
	const uint8_t *out;
	size_t out_bytes;     /* the length of `out` */
	size_t records_max;   /* bytes of records in a block */
	size_t large_max;     /* the same for a block of large records; at least records_max */
	size_t limit;         /* the same for this block at present */
	size_t record_max;    /* greatest size of a single record; may be more than records_max */
	uint32_t sources_max;
	uint32_t sources;
	struct ptx_log_source *source;
	uint16_t *hash;       /* 1 + an index into source[], or 0 */
	uint32_t hash_size;
	uint64_t first_record;
	bool sealed;          /* header and table are complete; no event can be added */
	bool is_out_of_room;  /* an event has found no room, so the next write ends the block */
};

/* A block of another type than DATA, from ptx_log_meta_payload() until it is in the file. */
struct ptx_log_meta {
	uint8_t *bytes;
	size_t room;
	uint8_t *compressed;  /* the compressed form; NULL: none was needed yet */
	size_t compressed_room;
	const uint8_t *out;   /* the bytes to send: `bytes` or `compressed` */
	size_t len; /* length of `out`; 0: no block waits */
	uint64_t offset;
};

/* The names of event types. Each name is known, waiting in the metadata buffer, or written. */
struct ptx_log_names {
	char (*name)[PTX_TYPE_NAME_BYTES];
	uint64_t known[PTX_TYPE_MAX / 64];
	uint64_t written[PTX_TYPE_MAX / 64];
	uint64_t waiting[PTX_TYPE_MAX / 64]; /* in the metadata buffer */
	/*
	 * In a log of slots: `area` is the area for the next NAMES block; `damaged` has a bit for
	 * each area with a damaged block.
	 */
	unsigned area;
	unsigned damaged;
};

/* Schemas, objects and mappings. Their entries have the same three states as names. */
struct ptx_log_lists {
	char *schema[PTX_TYPE_MAX]; /* NULL: none */
	uint64_t known[PTX_TYPE_MAX / 64];
	uint64_t written[PTX_TYPE_MAX / 64];
	uint64_t waiting[PTX_TYPE_MAX / 64]; /* in the metadata buffer */
	struct ptx_object *object;
	size_t objects;
	size_t objects_room;
	size_t objects_written;
	size_t objects_waiting;
	/* number of objects that were read from a dead writer's log; they are not added again */
	size_t objects_restored;
	uint8_t *mapping;     /* entries with the layout of the file */
	size_t mapping_bytes, mapping_room;
	size_t path_bytes;    /* bytes of the paths of all entries */
	uint32_t mappings;
	bool mappings_ended;  /* the last entry shows that later mappings are not known */
	struct ptx_log_mappings {
		size_t bytes;
		uint32_t count;
	/* the entries up to these counts are written, or wait */
	} mappings_written, mappings_waiting;
	uint64_t at;          /* in a log of slots: offset of the next block in the lists area */
};

/*
 * The places of the DATA blocks since the last INDEX block (`place`), and of all INDEX blocks
 * (`top`).
 */
struct ptx_log_index {
	struct ptx_log_place *place; /* an array of PTX_LOG_INDEX_BLOCKS entries */
	uint32_t places;
	struct ptx_log_place *top;
	size_t tops;
	size_t tops_max;
	int64_t time_top;
};

struct ptx_log_loop;

struct ptx_log {
	struct ptx_log_appender appender;
	struct ptx_log_filling block;
	uint32_t policy;
	_Atomic bool full;    /* any thread may read it, see ptx_log_is_full() */
	bool positional;      /* the file can seek: each write has an offset */
	bool regular;
	bool header_waits;    /* ptx_log_clear() could not write the header */
	int wait_ms;          /* for ptx_io_write() */
	int fd;
	struct ptx_file file; /* identity of the file behind `fd` */
	uint64_t file_bytes;  /* end of the written part */
	uint64_t log_size;    /* UNTIL_FULL, LOOP */
	uint64_t at;          /* where the next block of a sequence begins */
	/* number of bytes of the block or of the metadata buffer that are in the file already */
	size_t sent;
	struct ptx_log_meta meta;
	struct ptx_log_names names;
	struct ptx_log_lists lists;
	struct ptx_log_index index;
	uint32_t guardian_pid;   /* 0: none */
	uint64_t guardian_start;
	struct ptx_log_sum sum;  /* the sum of the written blocks */
	uint64_t number[PTX_LOG_TYPES];
	struct ptx_log_header *header;
	struct ptx_log_loop *loop; /* NULL: a sequence */
	struct ptx_log_compressor compressor;
};

/* Returns the bytes of records in the block. */
static inline size_t ptx_log_used(const struct ptx_log *log)
{
	return (size_t)(log->appender.at - (log->block.bytes + sizeof(struct ptx_log_block)));
}

/*
 * write_new.c. ptx_log_new() allocates a log without a file. EINVAL: the policy does not exist or
 * log_size is too small (WITHLOG-11); ENOMEM. ptx_log_free() frees it and leaves the descriptor.
 * ptx_log_record_max() returns the bytes of the largest record of a stream with these attributes.
 */
int ptx_log_new(const struct ptx_log_facts *facts, const struct ptx_log_origin *origin,
		struct ptx_log **log);
void ptx_log_free(struct ptx_log *log);
size_t ptx_log_record_max(const struct ptx_attr *attr);

/* write_file.c: does the same as ptx_log_create(), but with the given origin. */
int ptx_log_create_from(int fd, const struct ptx_log_facts *facts,
			const struct ptx_log_origin *origin, struct ptx_log **log);

/*
 * write_append.c. begin() makes the block empty. make_room() computes again how many bytes of
 * records can be added to the block. seal() completes the block with its table and checksums and
 * returns its size in bytes; `oldest` becomes the field of this name in the block's header. After
 * unseal(), events can be added again.
 */
void ptx_log_block_begin(struct ptx_log *log);
void ptx_log_block_make_room(struct ptx_log *log);
size_t ptx_log_block_seal(struct ptx_log *log, uint64_t oldest);
void ptx_log_block_unseal(struct ptx_log *log);

/*
 * write_file.c: returns EBADF if the descriptor is not the log's file any more. The program may
 * have closed the descriptor and opened another file with the same number, so the function is
 * called before each use of the descriptor. Returns EIO if the file is shorter than its written
 * part, because some program has truncated it.
 */
int ptx_log_check_file(const struct ptx_log *log);

/*
 * write_file.c. ptx_log_send() writes the bytes at `bytes`, or the rest of them after a failed
 * call; `offset` is used only in files that can seek. meta_payload() returns zeroed room for the
 * payload of a block in the metadata buffer. It returns NULL if there is no memory, or if the
 * payload would exceed the limit of FORMAT B5. meta_ready() completes this block; it must be sent
 * before any other block. meta_send() sends the block in the metadata buffer, if there is one.
 * write_header() writes the header, with a closing area that shows that the log is being written.
 */
int ptx_log_send(struct ptx_log *log, const void *bytes, size_t len, uint64_t offset);
void *ptx_log_meta_payload(struct ptx_log *log, size_t payload_bytes);
void ptx_log_meta_ready(struct ptx_log *log, enum ptx_log_type type, size_t payload_bytes,
			uint64_t offset);
int ptx_log_meta_send(struct ptx_log *log);
int ptx_log_write_header(struct ptx_log *log);

/*
 * write_names.c. wait() returns true if some names are not in the file, or if an area has a damaged
 * block. prepare() makes a NAMES block in the metadata buffer, with all names or with the unwritten
 * names; it returns 0 or ENOMEM. write_slots() writes all names to each area that needs them.
 * sent() notes that the block in the metadata buffer is in the file. restore() adds the names of a
 * block of a dead writer's log. clear() marks all names as unwritten.
 */
bool ptx_log_names_wait(const struct ptx_log *log);
int ptx_log_names_prepare(struct ptx_log *log, bool all, uint64_t offset);
int ptx_log_names_write_slots(struct ptx_log *log);
void ptx_log_names_sent(struct ptx_log *log);
void ptx_log_names_restore(struct ptx_log *log, const struct ptx_log_block *block,
			   const struct ptx_log_name *name);
void ptx_log_names_clear(struct ptx_log *log);

/*
 * write_lists.c. any() returns true if there is a schema, an object or a mapping. write() writes
 * the entries that are not in the file; in a log of slots, only those that fit in the lists area.
 * sent() notes that the block of this type in the metadata buffer is in the file. clear() marks all
 * entries as unwritten. prepare() makes a block in the metadata buffer, with all entries or with
 * the unwritten entries; it returns 0 or ENOMEM. restore() adds the entries of a block of a dead
 * writer's log; it returns 0 or ENOMEM.
 */
bool ptx_log_lists_any(const struct ptx_log *log);
int ptx_log_lists_write(struct ptx_log *log);
void ptx_log_lists_sent(struct ptx_log *log, unsigned type);
void ptx_log_lists_clear(struct ptx_log *log);
void ptx_log_lists_free(struct ptx_log *log);
int ptx_log_schemas_prepare(struct ptx_log *log, bool all, uint64_t offset);
int ptx_log_objects_prepare(struct ptx_log *log, bool all, uint64_t offset);
/*
 * write_mappings.c and write_lists.c, for the single lists. wait() returns true if some mappings
 * are not in the file. In a log of slots it returns false if the lists area has no room for more
 * mappings.
 */
bool ptx_log_mappings_wait(const struct ptx_log *log);
int ptx_log_mappings_prepare(struct ptx_log *log, bool all, uint64_t offset);
int ptx_log_mappings_restore(struct ptx_log *log, const struct ptx_log_block *block,
			     const void *payload);
int ptx_log_schemas_restore(struct ptx_log *log, const struct ptx_log_block *block,
			    const void *payload);
int ptx_log_objects_restore(struct ptx_log *log, const struct ptx_log_block *block,
			    const void *payload);

/*
 * write_index.c. reserve() allocates room for one more entry of TOP; it returns 0 or ENOMEM. note()
 * adds the place of a DATA block; after PTX_LOG_INDEX_BLOCKS places the caller must call send().
 * send() writes the noted places as an INDEX block. top_send() writes the places of all INDEX
 * blocks as the TOP block.
 */
int ptx_log_index_reserve(struct ptx_log *log);
void ptx_log_index_note(struct ptx_log *log, uint64_t offset, uint64_t first_record,
			int64_t time_min, int64_t time_max);
int ptx_log_index_send(struct ptx_log *log);
/*
 * Adds an INDEX block of a dead writer's log, which is at `offset`. Returns false if the block
 * differs from the noted places, or if there is no memory. The log then ends before this block.
 */
bool ptx_log_index_restore(struct ptx_log *log, uint64_t offset, const struct ptx_log_place *place,
			   size_t count);
int ptx_log_top_send(struct ptx_log *log);
void ptx_log_index_clear(struct ptx_log *log);

/* write_sequence.c: writes all names, lists and events that are not in the file. */
int ptx_log_write_sequence(struct ptx_log *log);

/*
 * write_resume_beside.c: reads the names areas and the lists area of a dead writer's log of slots.
 * `has_events` is true if some slot has a block. Returns 0 or ENOMEM.
 */
struct ptx_log_window;
int ptx_log_resume_beside(struct ptx_log *log, struct ptx_log_window *window, bool has_events);

/*
 * write_loop.c. ptx_log_loop_records() returns records_max for a log_size. create() allocates the
 * state of a LOOP log and sets the areas in its header; it returns 0 or ENOMEM. clear() forgets all
 * blocks. ptx_log_write_loop() writes all names, lists and events that are not in the file.
 */
size_t ptx_log_loop_records(uint64_t log_size);
int ptx_log_loop_create(struct ptx_log *log);
void ptx_log_loop_destroy(struct ptx_log *log);
void ptx_log_loop_clear(struct ptx_log *log);
int ptx_log_write_loop(struct ptx_log *log);

/*
 * restore() and restore_end() rebuild the state from a dead writer's log. restore() adds the block
 * in the slot `slot`. The caller adds the blocks that belong to the log, in the order of their
 * numbers, and then calls restore_end() with the number of slots in the file. Errors are EINVAL, if
 * the block is impossible in a log with these attributes, and ENOMEM.
 */
int ptx_log_loop_restore(struct ptx_log *log, const struct ptx_log_block *block,
			 const uint8_t *records, uint32_t slot);
int ptx_log_loop_restore_end(struct ptx_log *log, uint32_t slots);
/*
 * written() and written_bytes() return how many events of the current block are in the file, and
 * their bytes; both return 0 in a sequence. overwritten() returns the counts of overwritten events.
 * At the end of the log, end() sets the sum and the offset of the tail. index() notes the places of
 * all blocks that belong to the log, and writes an INDEX block for each 1024 of them; the caller
 * writes the rest by ptx_log_index_send().
 */
uint32_t ptx_log_loop_written(const struct ptx_log *log);
size_t ptx_log_loop_written_bytes(const struct ptx_log *log);
const struct ptx_log_tally *ptx_log_loop_overwritten(const struct ptx_log *log);
void ptx_log_loop_end(struct ptx_log *log);
int ptx_log_loop_index(struct ptx_log *log);

#endif
