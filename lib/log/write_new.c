/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_new.c - allocates the memory of a log, of sizes that follow from the attributes.
 *
 * All memory that an append needs is allocated here, so that an append needs no memory and never
 * waits for the allocator.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <trace.h>

#include "base/io.h"
#include "log/writer.h"

#define SEQUENCE_SOURCES 1024u /* threads in a block; a further thread begins a new block */
#define LARGE_RECORDS_MOST (256u << 10) /* bytes of records in a block of large records */

/*
 * System events may have more data than max_data_size, because that attribute limits the program's
 * events only. The attribute can come from a file, so it is limited to the length that a record can
 * have.
 */
size_t ptx_log_record_max(const struct ptx_attr *attr)
{
	size_t data = attr->max_data_size;

	/* Bits 0 to 27 of len_flags have the length (FORMAT 4.1). */
	if (data > PTX_RECORD_LEN_MAX)
		data = PTX_RECORD_LEN_MAX;
	if (data < PTX_SYSTEM_DATA_MAX)
		data = PTX_SYSTEM_DATA_MAX;
	return ptx_record_size(data);
}

/*
 * WITHLOG-11: log_size is a maximum, so a limit that is too small is refused and not raised. The
 * limit must be large enough for the largest event and the closing STOP (FORMAT W3). Returns 0 or
 * EINVAL.
 */
static int check_limit(const struct ptx_attr *attr)
{
	switch (attr->log_policy) {
	case POSIX_TRACE_APPEND:
		return 0;
	case POSIX_TRACE_LOOP:
	case POSIX_TRACE_UNTIL_FULL:
		return attr->log_size < ptx_log_record_max(attr) + PTX_LOG_STOP_BYTES ? EINVAL : 0;
	default:
		return EINVAL;
	}
}

/*
 * Returns how many bytes of records a block of large records may have. The chunks of these records
 * are not free before the block is written, so the block has only a part of the stream's size.
 */
static size_t large_records(const struct ptx_attr *attr)
{
	return attr->stream_size / 8 < LARGE_RECORDS_MOST ? (size_t)attr->stream_size / 8 :
							    LARGE_RECORDS_MOST;
}

/*
 * Allocates the block and computes its limits. After an error ptx_log_free() frees what exists. A
 * small LOOP block has a small table of threads, with one entry per 256 bytes of records. So the
 * table does not use most of the slot. Returns 0 or ENOMEM.
 */
static int make_block(struct ptx_log *log, const struct ptx_attr *attr)
{
	struct ptx_log_filling *block = &log->block;
	uint32_t size = 1;
	size_t table;

	/* Small logs have small blocks; see ptx_log_loop_records(). */
	if (log->policy == POSIX_TRACE_LOOP) {
		block->records_max = ptx_log_loop_records(attr->log_size);
		block->sources_max = (uint32_t)(block->records_max / 256);
		if (block->sources_max < 4)
			block->sources_max = 4;
		if (block->sources_max > SEQUENCE_SOURCES)
			block->sources_max = SEQUENCE_SOURCES;
	} else {
		block->records_max = PTX_LOG_BLOCK_RECORDS;
		if (!log->compressor.context)
			block->large_max = large_records(attr);
		block->sources_max = SEQUENCE_SOURCES;
	}
	if (block->large_max < block->records_max)
		block->large_max = block->records_max;
	/* The buffer holds a full block, or one record of maximal size. */
	block->record_max = ptx_log_record_max(attr);
	if (block->record_max < block->large_max)
		block->record_max = block->large_max;
	/* The hash table is at most half full, so that a search soon ends at an empty place. */
	while (size < 2 * block->sources_max)
		size *= 2;
	block->hash_size = size;
	table = block->sources_max * sizeof(*block->source);
	block->bytes = malloc(sizeof(struct ptx_log_block) + block->record_max + table);
	/*
	 * Blocks in slots are not packed, because all slots have the same size and nothing would be
	 * saved. A block with one large record is not packed either, because that would save
	 * little.
	 */
	if (log->policy != POSIX_TRACE_LOOP) {
		block->packed = malloc(sizeof(struct ptx_log_block) + PTX_LOG_BLOCK_RECORDS +
				       table);
		block->packer = malloc(sizeof(*block->packer));
		if (!block->packed || !block->packer)
			return ENOMEM;
	}
	if (log->compressor.context) {
		/* `most` is the length of the longest payload that is compressed. */
		size_t most = block->record_max + table;

		if (most > PTX_LOG_WHOLE_MAX)
			most = PTX_LOG_WHOLE_MAX;
		block->compressed = malloc(PTX_LOG_COMPRESSED_HEADER + most);
		if (!block->compressed)
			return ENOMEM;
	}
	block->source = calloc(block->sources_max, sizeof(*block->source));
	block->hash = calloc(size, sizeof(*block->hash));
	return block->bytes && block->source && block->hash ? 0 : ENOMEM;
}

/*
 * log_size is compared with the limits first, so that an impossible attribute gives EINVAL before
 * any memory is allocated. All pointers are NULL at first, so that ptx_log_free() can also free a
 * log of which only a part was allocated.
 */
int ptx_log_new(const struct ptx_log_facts *facts, const struct ptx_log_origin *origin,
		struct ptx_log **result)
{
	struct ptx_log *log;
	int err = check_limit(&facts->attr);

	if (err)
		return err;
	log = calloc(1, sizeof(*log));
	if (!log)
		return ENOMEM;
	log->fd = -1;
	log->wait_ms = PTX_IO_NO_LIMIT;
	log->policy = facts->attr.log_policy;
	log->log_size = facts->attr.log_size;
	/* The first block of a sequence follows the header. */
	log->at = PTX_LOG_HEADER_BYTES;
	/* The log has no event yet, so the maximum of the times begins with the least value. */
	log->index.time_top = INT64_MIN;
	log->header = malloc(sizeof(*log->header));
	log->names.name = calloc(PTX_TYPE_MAX, sizeof(*log->names.name));
	log->index.place = calloc(PTX_LOG_INDEX_BLOCKS, sizeof(*log->index.place));
	/*
	 * A LOOP log is not compressed: its slots have fixed sizes, so nothing would be saved.
	 * Without libzstd the log is not compressed either; posix_trace_attr_setlogcompression_np()
	 * returns an error in that case.
	 */
	if (log->policy != POSIX_TRACE_LOOP && facts->attr.log_compression &&
	    ptx_attr_is_level(facts->attr.log_compression))
		ptx_log_compressor_begin(&log->compressor, facts->attr.log_compression);
	/* The buffers of the block depend on the attributes; the others have constant sizes. */
	err = make_block(log, &facts->attr);
	/* One check for several allocations: ptx_log_free() frees those that succeeded. */
	if (!log->header || !log->names.name || !log->index.place)
		err = ENOMEM;
	if (!err) {
		ptx_log_encode_header(log->header, facts, origin);
		log->header->arrangement = PTX_LOG_SEQUENCE;
		if (log->compressor.context)
			ptx_log_mark_compressed(log->header, log->compressor.level);
		if (log->policy == POSIX_TRACE_LOOP)
			err = ptx_log_loop_create(log);
	}
	if (err) {
		ptx_log_free(log);
		return err;
	}
	/* Events can be appended before the log has a file. */
	ptx_log_block_begin(log);
	*result = log;
	return 0;
}

/*
 * Each member may be NULL. The descriptor stays open: if ptx_log_resume() fails, its caller keeps
 * `fd`.
 */
void ptx_log_free(struct ptx_log *log)
{
	if (log->loop)
		ptx_log_loop_destroy(log);
	ptx_log_lists_free(log);
	/* The loop's state and the lists have their own functions; the rest is plain memory. */
	free(log->index.top);
	free(log->index.place);
	free(log->names.name);
	free(log->meta.compressed);
	free(log->meta.bytes);
	free(log->block.hash);
	free(log->block.source);
	free(log->block.packer);
	free(log->block.compressed);
	free(log->block.packed);
	ptx_log_compressor_end(&log->compressor);
	free(log->block.bytes);
	/* calloc() has made every pointer NULL before the first allocation. */
	free(log->header);
	free(log);
}
