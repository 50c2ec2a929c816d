/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_append.c - the block being filled: where an event finds room or is told to wait.
 */
#include <string.h>

#include <trace.h>

#include "log/writer.h"

#define NO_PID UINT32_MAX /* no process has it: the thread is looked up */

void ptx_log_block_begin(struct ptx_log *log)
{
	struct ptx_log_filling *block = &log->block;

	log->hot.at = block->bytes + sizeof(struct ptx_log_block);
	for (unsigned i = 0; i < PTX_LOG_RECENT; i++)
		log->hot.recent[i].pid = NO_PID;
	log->hot.records = 0;
	log->hot.time_min = INT64_MAX;
	log->hot.time_max = INT64_MIN;
	if (block->sources)
		memset(block->hash, 0, block->hash_size * sizeof(*block->hash));
	block->sources = 0;
	block->sealed = false;
	block->crowded = false;
	ptx_log_block_make_room(log);
}

/* UNTIL_FULL: bytes of records that may still come, with keep of them left free. */
static uint64_t allowance(const struct ptx_log *log, size_t keep)
{
	uint64_t taken = log->sum.record_bytes + ptx_log_used(log) + keep;

	if (log->policy != POSIX_TRACE_UNTIL_FULL)
		return UINT64_MAX;
	return taken < log->log_size ? log->log_size - taken : 0;
}

void ptx_log_block_make_room(struct ptx_log *log)
{
	uint64_t more = log->full && !log->loop ? 0 : allowance(log, PTX_LOG_STOP_BYTES);
	size_t used = ptx_log_used(log);

	if (log->block.sealed || used >= log->block.records_max)
		log->hot.room = 0;
	else
		log->hot.room = log->block.records_max - used;
	if (log->hot.room > more)
		log->hot.room = (size_t)more;
}

static bool find_source(struct ptx_log *log, const struct ptx_log_event *event, uint32_t *source)
{
	struct ptx_log_recent *recent = &log->hot.recent[event->tid % PTX_LOG_RECENT];
	struct ptx_log_filling *block = &log->block;
	uint64_t mix = (event->thread ^ (uint64_t)event->pid << 32 ^ event->tid) *
		       UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i, mask = block->hash_size - 1;

	for (i = (uint32_t)(mix >> 32) & mask; block->hash[i]; i = (i + 1) & mask) {
		struct ptx_log_source *known = &block->source[block->hash[i] - 1];

		if (known->tid == event->tid && known->pid == event->pid &&
		    known->thread == event->thread)
			goto found;
	}
	if (block->sources == block->sources_max)
		return false;
	block->source[block->sources].pid = event->pid;
	block->source[block->sources].tid = event->tid;
	block->source[block->sources].thread = event->thread;
	block->hash[i] = (uint16_t)++block->sources;
found:
	*source = block->hash[i] - 1u;
	recent->thread = event->thread;
	recent->pid = event->pid;
	recent->tid = event->tid;
	recent->source = *source;
	return true;
}

static enum ptx_log_append write_first(struct ptx_log *log)
{
	log->block.crowded = true;
	log->hot.room = 0;
	return PTX_LOG_APPEND_WRITE_FIRST;
}

static enum ptx_log_append put(struct ptx_log *log, const struct ptx_log_event *event, size_t keep)
{
	size_t size = ptx_record_size(ptx_record_len(event->len_flags)), used = ptx_log_used(log);
	struct ptx_log_event shorter;
	uint32_t source;

	/* No stream makes such an event; its memory might, when something scribbled over it. */
	if (ptx_unlikely(size > log->block.record_max)) {
		size_t len = log->block.record_max - sizeof(struct ptx_record);

		shorter = *event;
		shorter.len_flags = (event->len_flags & ~PTX_RECORD_LEN_MAX) | (uint32_t)len |
				    PTX_RECORD_TRUNCATED;
		size = ptx_record_size(len);
		event = &shorter;
	}
	if (size > allowance(log, keep) || (log->full && !log->loop && keep)) {
		log->full = true;
		log->hot.room = 0;
		return PTX_LOG_APPEND_FULL;
	}
	if (log->block.sealed || log->block.crowded ||
	    (used && used + size > log->block.records_max) || !find_source(log, event, &source))
		return write_first(log);
	ptx_log_append_record(&log->hot, event, size, source);
	ptx_log_block_make_room(log);
	return PTX_LOG_APPEND_DONE;
}

enum ptx_log_append ptx_log_append_slow(struct ptx_log *log, const struct ptx_log_event *event)
{
	return put(log, event, PTX_LOG_STOP_BYTES);
}

enum ptx_log_append ptx_log_append(struct ptx_log *log, const struct ptx_log_event *event)
{
	return ptx_log_append_inline(log, event);
}

enum ptx_log_append ptx_log_append_last(struct ptx_log *log, const struct ptx_log_event *event)
{
	return put(log, event, 0);
}

size_t ptx_log_block_seal(struct ptx_log *log, uint64_t oldest)
{
	struct ptx_log_filling *filling = &log->block;
	struct ptx_log_block *block;
	size_t table = filling->sources * sizeof(struct ptx_log_source);
	size_t used = ptx_log_used(log), payload = 0;
	const uint8_t *records = filling->bytes + sizeof(*block);

	if (!filling->sealed) {
		if (filling->packer && used <= PTX_LOG_BLOCK_RECORDS)
			payload = ptx_log_pack(filling->packer, records, used, filling->source,
					       filling->sources, log->hot.time_min,
					       filling->packed + sizeof(*block));
		filling->out = payload ? filling->packed : filling->bytes;
		block = (struct ptx_log_block *)(void *)filling->out;
		memset(block, 0, sizeof(*block));
		if (payload) {
			block->shapes = filling->packer->shapes;
		} else {
			memcpy(log->hot.at, filling->source, table);
			payload = used + table;
		}
		block->record_bytes = (uint32_t)used;
		block->type = PTX_LOG_DATA;
		block->log_id = log->header->log_id;
		block->number = log->number[PTX_LOG_DATA];
		block->first_record = filling->first_record;
		block->oldest = oldest;
		block->time_min = log->hot.time_min;
		block->time_max = log->hot.time_max;
		block->records = log->hot.records;
		block->sources = filling->sources;
		ptx_log_seal_block(block, payload);
		filling->sealed = true;
		filling->out_bytes = sizeof(*block) + payload;
		log->hot.room = 0;
	}
	return filling->out_bytes;
}

void ptx_log_block_unseal(struct ptx_log *log)
{
	log->block.sealed = false;
	log->sent = 0;
	/* A crowded block stays so: room for a short event behind a long one that waits is none. */
	if (!log->block.crowded)
		ptx_log_block_make_room(log);
}
