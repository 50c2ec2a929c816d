/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/writer.h - what the files of this room that write a log share: struct ptx_log.
 *
 * An event's way: write_append.c gathers events in the block, which format_pack.c packs;
 * write_file.c sends bytes to the file and remembers where it stopped; write_sequence.c and
 * write_loop.c decide what goes where, for the two arrangements; write_complete.c ends the log.
 *
 * Two things wait to be sent: the block, and the side, a buffer for one block of another type.
 * A thing that is part sent to a pipe must be finished before anything else can go.
 */
#ifndef PTX_LOG_WRITER_H
#define PTX_LOG_WRITER_H

#include <stdatomic.h>

#include "base/file.h"
#include "log/format_pack.h"
#include "log/format_tally.h"
#include "log/read_decode.h"
#include "log/write_append.h"
#include "log/write_encode.h"

#define PTX_LOG_STOP_BYTES 32u /* the closing STOP: a record with an int */

/* The block being filled. */
struct ptx_log_filling {
	uint8_t *bytes;       /* header, records, then room for the table of threads */
	uint8_t *packed;      /* the same packed, of PTX_LOG_BLOCK_RECORDS at most */
	struct ptx_log_packer *packer; /* NULL: the blocks of this log are not packed */
	uint8_t *out;         /* sealed: bytes or packed, and how much of it there is */
	size_t out_bytes;
	size_t records_max;   /* bytes of records in a block, */
	size_t record_max;    /* but one record alone may take this much */
	uint32_t sources_max;
	uint32_t sources;
	struct ptx_log_source *source;
	uint16_t *hash;       /* index into source[] + 1, or 0 */
	uint32_t hash_size;
	uint64_t first_record;
	bool sealed;          /* header and table stand; no event may follow */
	bool crowded;         /* put found no room: the block is to be closed */
};

struct ptx_log_side {
	uint8_t *bytes;
	size_t room;
	size_t len; /* 0: nothing waits */
	uint64_t offset;
};

struct ptx_log_names {
	char (*name)[PTX_TYPE_NAME_BYTES];
	uint64_t known[PTX_TYPE_MAX / 64];
	uint64_t written[PTX_TYPE_MAX / 64];
	uint64_t waiting[PTX_TYPE_MAX / 64]; /* in the side */
	/* Slots: the area of the next block, and a bit for each area with a damaged block. */
	unsigned area;
	unsigned damaged;
};

struct ptx_log_lists {
	char *schema[PTX_TYPE_MAX]; /* NULL: none */
	uint64_t known[PTX_TYPE_MAX / 64];
	uint64_t written[PTX_TYPE_MAX / 64];
	uint64_t waiting[PTX_TYPE_MAX / 64]; /* in the side */
	struct ptx_object *object;
	size_t objects;
	size_t objects_room;
	size_t objects_written;
	size_t objects_waiting;
	size_t objects_taken; /* of a log that is gone on with: they are not put again */
	uint8_t *mapping;     /* entries as they stand in the file */
	size_t mapping_bytes, mapping_room;
	size_t path_bytes;    /* of them all */
	uint32_t mappings;
	bool mappings_ended;  /* the last says that no more is known */
	struct ptx_log_mappings {
		size_t bytes;
		uint32_t count;
	} mappings_written, mappings_waiting; /* from the first on */
	uint64_t at;          /* slots: where the next block goes in their area */
};

struct ptx_log_index {
	struct ptx_log_place *place; /* of PTX_LOG_INDEX_BLOCKS */
	uint32_t places;
	struct ptx_log_place *top;
	size_t tops;
	size_t tops_max;
	int64_t time_top;
};

struct ptx_log_loop;

struct ptx_log {
	struct ptx_log_hot hot;
	struct ptx_log_filling block;
	uint32_t policy;
	_Atomic bool full;    /* asked for by others than who writes, too */
	bool positional;      /* the file can seek: writes name their place */
	bool regular;
	bool header_waits;    /* clear could not write it */
	int fd;
	struct ptx_file file;    /* what fd is */
	uint64_t file_bytes;     /* so far it was written */
	uint64_t log_size;    /* UNTIL_FULL, LOOP */
	uint64_t at;          /* where the next block of a sequence begins */
	size_t sent;          /* of the block or the side, whichever is on its way */
	struct ptx_log_side side;
	struct ptx_log_names names;
	struct ptx_log_lists lists;
	struct ptx_log_index index;
	uint32_t guardian_pid;   /* 0: none */
	uint64_t guardian_start;
	struct ptx_log_sum sum; /* of what was written */
	uint64_t number[PTX_LOG_TYPES];
	struct ptx_log_header *header;
	struct ptx_log_loop *loop; /* NULL: a sequence */
};

static inline size_t ptx_log_used(const struct ptx_log *log)
{
	return (size_t)(log->hot.at - (log->block.bytes + sizeof(struct ptx_log_block)));
}

/* write_new.c: memory only. The largest record of a stream with these attributes. */
int ptx_log_new(const struct ptx_log_facts *facts, const struct ptx_log_origin *origin,
		struct ptx_log **log);
void ptx_log_free(struct ptx_log *log);
size_t ptx_log_record_max(const struct ptx_attr *attr);

/* As ptx_log_create(), with a given origin. */
int ptx_log_create_from(int fd, const struct ptx_log_facts *facts,
			const struct ptx_log_origin *origin, struct ptx_log **log);

/*
 * write_append.c. Begins an empty block.
 * make_room computes again how many bytes the block may hold.
 * seal ends the block with its table and checksums and returns its size; unseal undoes that.
 */
void ptx_log_block_begin(struct ptx_log *log);
void ptx_log_block_make_room(struct ptx_log *log);
size_t ptx_log_block_seal(struct ptx_log *log, uint64_t oldest);
void ptx_log_block_unseal(struct ptx_log *log);

/*
 * write_file.c: the descriptor still is the log's file, else EBADF: the program has closed it, and
 * may have another file there. Every use of the descriptor asks first.
 */
int ptx_log_check_file(const struct ptx_log *log);

/* write_file.c: sends bytes, or the rest of them. The side: room for a payload behind its header,
 * NULL without memory; ready to go; gone. */
int ptx_log_send(struct ptx_log *log, const void *bytes, size_t len, uint64_t offset);
void *ptx_log_side_payload(struct ptx_log *log, size_t payload_bytes);
void ptx_log_side_ready(struct ptx_log *log, enum ptx_log_type type, size_t payload_bytes,
			uint64_t offset);
int ptx_log_side_send(struct ptx_log *log);
int ptx_log_write_header(struct ptx_log *log);

/*
 * write_names.c: some were not written, or their block is damaged; puts names into the side, those
 * not yet written or all; in slots, writes all into the areas that need them; a block was sent; of
 * a log that is gone on with: what a block has; all of them wait again.
 */
bool ptx_log_names_wait(const struct ptx_log *log);
int ptx_log_names_prepare(struct ptx_log *log, bool all, uint64_t offset);
int ptx_log_names_write_slots(struct ptx_log *log);
void ptx_log_names_sent(struct ptx_log *log);
void ptx_log_names_take(struct ptx_log *log, const struct ptx_log_block *block,
			const struct ptx_log_name *name);
void ptx_log_names_clear(struct ptx_log *log);

/*
 * write_lists.c: is there anything; what was not written yet goes to the file; a block of either
 * type was sent; all of it waits again; for the end: into the side. Of a log that is gone on with:
 * what a block has.
 */
bool ptx_log_lists_any(const struct ptx_log *log);
int ptx_log_lists_write(struct ptx_log *log);
void ptx_log_lists_sent(struct ptx_log *log, unsigned type);
void ptx_log_lists_clear(struct ptx_log *log);
void ptx_log_lists_free(struct ptx_log *log);
int ptx_log_schemas_prepare(struct ptx_log *log, bool all, uint64_t offset);
int ptx_log_objects_prepare(struct ptx_log *log, bool all, uint64_t offset);
/* write_mappings.c: likewise; some were not written, and in slots, there is room for them. */
bool ptx_log_mappings_wait(const struct ptx_log *log);
int ptx_log_mappings_prepare(struct ptx_log *log, bool all, uint64_t offset);
int ptx_log_mappings_take(struct ptx_log *log, const struct ptx_log_block *block,
			  const void *payload);
int ptx_log_schemas_take(struct ptx_log *log, const struct ptx_log_block *block,
			 const void *payload);
int ptx_log_objects_take(struct ptx_log *log, const struct ptx_log_block *block,
			 const void *payload);

/* write_index.c: room for one more INDEX block to be remembered; a DATA block at offset; what was
 * noted goes out as an INDEX block, all INDEX blocks as TOP. */
int ptx_log_index_reserve(struct ptx_log *log);
void ptx_log_index_note(struct ptx_log *log, uint64_t offset, uint64_t first_record,
			int64_t time_min, int64_t time_max);
int ptx_log_index_send(struct ptx_log *log);
/* The same of an INDEX block that is in the file already; false: it cannot be. */
bool ptx_log_index_taken(struct ptx_log *log, uint64_t offset, const struct ptx_log_place *place,
			 size_t count);
int ptx_log_top_send(struct ptx_log *log);
void ptx_log_index_clear(struct ptx_log *log);

int ptx_log_write_sequence(struct ptx_log *log);

/* write_resume_beside.c, of slots: takes what the names areas and the lists area have. ENOMEM. */
struct ptx_log_window;
int ptx_log_resume_beside(struct ptx_log *log, struct ptx_log_window *window, bool has_events);

/*
 * write_loop.c. records_max for a limit; events of the block that are in the file, and their bytes;
 * for the end: the index of what counts is sent, the tail's place and the sum are set.
 */
size_t ptx_log_loop_records(uint64_t log_size);
int ptx_log_loop_create(struct ptx_log *log);
void ptx_log_loop_destroy(struct ptx_log *log);
void ptx_log_loop_clear(struct ptx_log *log);
int ptx_log_write_loop(struct ptx_log *log);

/*
 * Of a log that is gone on with: a block that counts, of slot, after those before it; then what
 * slots there are. ENOMEM.
 */
int ptx_log_loop_take(struct ptx_log *log, const struct ptx_log_block *block,
		      const uint8_t *records, uint32_t slot);
int ptx_log_loop_taken(struct ptx_log *log, uint32_t slots);
uint32_t ptx_log_loop_written(const struct ptx_log *log);
size_t ptx_log_loop_written_bytes(const struct ptx_log *log);
const struct ptx_log_tally *ptx_log_loop_overwritten(const struct ptx_log *log);
void ptx_log_loop_end(struct ptx_log *log);
int ptx_log_loop_index(struct ptx_log *log);

#endif
