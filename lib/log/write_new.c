/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_new.c - the memory of a log that is written, and how much of it the attributes ask for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <trace.h>

#include "log/writer.h"

#define SEQUENCE_SOURCES 1024u /* threads in a block; one more begins the next block */

size_t ptx_log_record_max(const struct ptx_attr *attr)
{
	size_t data = attr->max_data_size;

	if (data > PTX_RECORD_LEN_MAX)
		data = PTX_RECORD_LEN_MAX;
	if (data < PTX_SYSTEM_DATA_MAX)
		data = PTX_SYSTEM_DATA_MAX;
	return ptx_record_size(data);
}

/* WITHLOG-11: a limit that is too small is refused, not raised; it is a maximum. */
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

static int make_block(struct ptx_log *log, const struct ptx_attr *attr)
{
	struct ptx_log_filling *block = &log->block;
	uint32_t size = 1;
	size_t table;

	if (log->policy == POSIX_TRACE_LOOP) {
		block->records_max = ptx_log_loop_records(attr->log_size);
		block->sources_max = (uint32_t)(block->records_max / 256);
		if (block->sources_max < 4)
			block->sources_max = 4;
		if (block->sources_max > SEQUENCE_SOURCES)
			block->sources_max = SEQUENCE_SOURCES;
	} else {
		block->records_max = PTX_LOG_BLOCK_RECORDS;
		block->sources_max = SEQUENCE_SOURCES;
	}
	block->record_max = ptx_log_record_max(attr);
	if (block->record_max < block->records_max)
		block->record_max = block->records_max;
	while (size < 2 * block->sources_max)
		size *= 2;
	block->hash_size = size;
	table = block->sources_max * sizeof(*block->source);
	block->bytes = malloc(sizeof(struct ptx_log_block) + block->record_max + table);
	/* A slot has its size anyway; and of one record that fills a block little can be saved. */
	if (log->policy != POSIX_TRACE_LOOP) {
		block->packed = malloc(sizeof(struct ptx_log_block) + PTX_LOG_BLOCK_RECORDS +
				       table);
		block->packer = malloc(sizeof(*block->packer));
		if (!block->packed || !block->packer)
			return ENOMEM;
	}
	block->source = calloc(block->sources_max, sizeof(*block->source));
	block->hash = calloc(size, sizeof(*block->hash));
	return block->bytes && block->source && block->hash ? 0 : ENOMEM;
}

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
	log->policy = facts->attr.log_policy;
	log->log_size = facts->attr.log_size;
	log->at = PTX_LOG_HEADER_BYTES;
	log->index.time_top = INT64_MIN;
	log->header = malloc(sizeof(*log->header));
	log->names.name = calloc(PTX_TYPE_MAX, sizeof(*log->names.name));
	log->index.place = calloc(PTX_LOG_INDEX_BLOCKS, sizeof(*log->index.place));
	err = make_block(log, &facts->attr);
	if (!log->header || !log->names.name || !log->index.place)
		err = ENOMEM;
	if (!err) {
		ptx_log_encode_header(log->header, facts, origin);
		log->header->arrangement = PTX_LOG_SEQUENCE;
		if (log->policy == POSIX_TRACE_LOOP)
			err = ptx_log_loop_create(log);
	}
	if (err) {
		ptx_log_free(log);
		return err;
	}
	ptx_log_block_begin(log);
	*result = log;
	return 0;
}

void ptx_log_free(struct ptx_log *log)
{
	if (log->loop)
		ptx_log_loop_destroy(log);
	ptx_log_lists_free(log);
	free(log->index.top);
	free(log->index.place);
	free(log->names.name);
	free(log->side.bytes);
	free(log->block.hash);
	free(log->block.source);
	free(log->block.packer);
	free(log->block.packed);
	free(log->block.bytes);
	free(log->header);
	free(log);
}
