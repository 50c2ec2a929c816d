/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_append.c - the block that is being filled: adds events, and seals the block before it
 * is written. A sealed block has its header, its table of threads and its checksums.
 *
 * Appending only writes to memory. If the block has no room for an event, the functions return
 * PTX_LOG_APPEND_WRITE_FIRST. They never write to the file themselves, because the caller may hold
 * the stream's lock. The inline path in write_append.h only checks appender.room, the number of
 * bytes that may be added. So each function that changes how much may be added computes
 * appender.room again.
 */
#include <string.h>

#include <trace.h>

#include "log/writer.h"

/* average bytes of the records of a block from which on the block is not packed */
#define LARGE_RECORD 512
#define NO_PID UINT32_MAX /* no process has this id, so the entry of recent[] is not used */

/*
 * Begins a new block with an empty table of threads. The entries of recent[] refer to the old
 * table, so they become invalid. The hash is cleared only if the old table had threads.
 */
void ptx_log_block_begin(struct ptx_log *log)
{
	struct ptx_log_filling *block = &log->block;

	log->appender.at = block->bytes + sizeof(struct ptx_log_block);
	for (unsigned i = 0; i < PTX_LOG_RECENT; i++)
		log->appender.recent[i].pid = NO_PID;
	log->appender.records = 0;
	log->appender.time_min = INT64_MAX;
	log->appender.time_max = INT64_MIN;
	if (block->sources)
		memset(block->hash, 0, block->hash_size * sizeof(*block->hash));
	block->sources = 0;
	block->sealed = false;
	block->limit = block->records_max;
	/* The new block has room. */
	block->is_out_of_room = false;
	ptx_log_block_make_room(log);
}

/*
 * For UNTIL_FULL, returns how many bytes of records may still be appended if `keep` bytes must
 * remain free (FORMAT W3). The limit is for the plain size of the records, so the number of events
 * in a log does not depend on the packing. For other policies the result is UINT64_MAX.
 */
static uint64_t write_append_allowance(const struct ptx_log *log, size_t keep)
{
	/* The sum of the written records, the records in the block, and the bytes to keep. */
	uint64_t taken = log->sum.record_bytes + ptx_log_used(log) + keep;

	if (log->policy != POSIX_TRACE_UNTIL_FULL)
		return UINT64_MAX;
	return taken < log->log_size ? log->log_size - taken : 0;
}

/* Returns true if the records of the block have LARGE_RECORD bytes or more on average. */
static bool has_large_records(const struct ptx_log *log)
{
	return ptx_log_used(log) / LARGE_RECORD >= log->appender.records;
}

/*
 * Called if an event does not fit into the block, which would need room for `need` bytes of
 * records. The kernel needs less time for each byte if a write is longer, so a block of large
 * records grows. The next records may be small, and a grown block is not packed. So it grows in
 * steps.
 */
static void write_append_grow(struct ptx_log *log, size_t need)
{
	struct ptx_log_filling *block = &log->block;

	if (!has_large_records(log) || block->sealed || block->is_out_of_room)
		return;
	while (block->limit < need && block->limit < block->large_max)
		block->limit += block->records_max;
	if (block->limit > block->large_max)
		block->limit = block->large_max;
}

void ptx_log_block_make_room(struct ptx_log *log)
{
	/* An UNTIL_FULL log that is full stays full, even if a smaller event would fit. */
	uint64_t more =
		log->full && !log->loop ? 0 : write_append_allowance(log, PTX_LOG_STOP_BYTES);
	size_t used = ptx_log_used(log);

	if (log->block.sealed || used >= log->block.limit)
		log->appender.room = 0;
	else
		log->appender.room = log->block.limit - used;
	/* The limit of the log's size may leave less room than the block has. */
	if (log->appender.room > more)
		log->appender.room = (size_t)more;
}

/*
 * Stores in *source the index of the event's thread in the table, and adds the thread if it is new.
 * Returns false if the table is full; the caller then ends the block. The hash table has at least
 * twice as many places as threads, so the search ends at an empty place. The function also stores
 * the thread in recent[].
 */
static bool find_source(struct ptx_log *log, const struct ptx_log_event *event, uint32_t *source)
{
	struct ptx_log_recent *recent = &log->appender.recent[event->tid % PTX_LOG_RECENT];
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
	/* If the table of the block is full, the thread has no place in it. */
	if (block->sources == block->sources_max)
		return false;
	/* A new thread gets the next index. */
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

/*
 * Ends the block, because an event has found no room. This event must be the next event of the log,
 * since the log keeps the order of the events. So no other event is added to the block, not even a
 * shorter one. Returns PTX_LOG_APPEND_WRITE_FIRST.
 */
static enum ptx_log_append write_first(struct ptx_log *log)
{
	log->block.is_out_of_room = true;
	log->appender.room = 0;
	return PTX_LOG_APPEND_WRITE_FIRST;
}

static enum ptx_log_append write_append_put(struct ptx_log *log, const struct ptx_log_event *event,
					    size_t keep)
{
	size_t size = ptx_record_size(ptx_record_len(event->len_flags)), used = ptx_log_used(log);
	struct ptx_log_event shorter;
	uint32_t source;

	/*
	 * A stream does not record an event that is larger than record_max. But a hostile traced
	 * process may have changed the stream's memory, so the size is checked again. A larger
	 * record is shortened and gets the flag TRUNCATED.
	 */
	if (ptx_unlikely(size > log->block.record_max)) {
		size_t len = log->block.record_max - sizeof(struct ptx_record);

		shorter = *event;
		shorter.len_flags = (event->len_flags & ~PTX_RECORD_LEN_MAX) | (uint32_t)len |
				    PTX_RECORD_TRUNCATED;
		size = ptx_record_size(len);
		event = &shorter;
	}
	/*
	 * FORMAT W3. `keep` is 0 for the closing STOP, which may use the room that other events
	 * must leave. In a LOOP log `full` may be true, too, but the log makes room by overwriting
	 * its oldest events.
	 */
	if (size > write_append_allowance(log, keep) || (log->full && !log->loop && keep)) {
		log->full = true;
		log->appender.room = 0;
		return PTX_LOG_APPEND_FULL;
	}
	if (used && used + size > log->block.limit)
		write_append_grow(log, used + size);
	/* A block without records accepts one record of any size up to record_max. */
	if (log->block.sealed || log->block.is_out_of_room ||
	    (used && used + size > log->block.limit) || !find_source(log, event, &source))
		return write_first(log);
	ptx_log_append_record(&log->appender, event, size, source);
	ptx_log_block_make_room(log);
	return PTX_LOG_APPEND_DONE;
}

/* Leaves room for the closing STOP. */
enum ptx_log_append ptx_log_append_slow(struct ptx_log *log, const struct ptx_log_event *event)
{
	return write_append_put(log, event, PTX_LOG_STOP_BYTES);
}

/* The inline path as a function, for callers that append only few events. */
enum ptx_log_append ptx_log_append(struct ptx_log *log, const struct ptx_log_event *event)
{
	return ptx_log_append_inline(log, event);
}

enum ptx_log_append ptx_log_append_last(struct ptx_log *log, const struct ptx_log_event *event)
{
	return write_append_put(log, event, 0);
}

/*
 * Returns true if the block is to be packed. A block may have one record that is larger than
 * PTX_LOG_BLOCK_RECORDS. Such a block is not packed, because filling->packed has no room for it. A
 * block of large records is not packed either: packing would copy all data, and save about 20 bytes
 * of each record. If the block is compressed, the copy costs little beside the compression.
 */
static bool is_worth_packing(const struct ptx_log *log, size_t used)
{
	return log->block.packer && used <= PTX_LOG_BLOCK_RECORDS &&
	       (log->compressor.context || !has_large_records(log));
}

/*
 * A sealed block does not change before it is unsealed, so a second attempt after a failed write
 * sends the same bytes (FORMAT W1). In a sequence `oldest` is 0.
 */
size_t ptx_log_block_seal(struct ptx_log *log, uint64_t oldest)
{
	struct ptx_log_filling *filling = &log->block;
	struct ptx_log_block *block;
	size_t table = filling->sources * sizeof(struct ptx_log_source);
	size_t used = ptx_log_used(log), payload = 0;
	const uint8_t *records = filling->bytes + sizeof(*block);

	if (!filling->sealed) {
		if (is_worth_packing(log, used))
			payload = ptx_log_pack(filling->packer, records, used, filling->source,
					       filling->sources, log->appender.time_min,
					       filling->packed + sizeof(*block));
		block = (struct ptx_log_block *)(void *)(payload ? filling->packed
								  : filling->bytes);
		memset(block, 0, sizeof(*block));
		if (payload) {
			block->shapes = filling->packer->shapes;
		} else {
			/* The plain form: appender.at is the end of the records. */
			memcpy(log->appender.at, filling->source, table);
			payload = used + table;
		}
		block->record_bytes = (uint32_t)used;
		block->type = PTX_LOG_DATA;
		block->log_id = log->header->log_id;
		block->number = log->number[PTX_LOG_DATA];
		block->first_record = filling->first_record;
		block->oldest = oldest;
		block->time_min = log->appender.time_min;
		block->time_max = log->appender.time_max;
		block->records = log->appender.records;
		block->sources = filling->sources;
		/* The result is valid until the block is unsealed. */
		filling->out_bytes = ptx_log_finish_block(&log->compressor, block, payload,
							  filling->compressed, &filling->out);
		filling->sealed = true;
		log->appender.room = 0;
	}
	return filling->out_bytes;
}

/*
 * The sealed bytes become invalid. When the block is sealed again, it is sent from its beginning.
 */
void ptx_log_block_unseal(struct ptx_log *log)
{
	log->block.sealed = false;
	log->sent = 0;
	/*
	 * An event that has found no room must be the next event of the log. So the block gets no
	 * room for other events.
	 */
	if (!log->block.is_out_of_room)
		ptx_log_block_make_room(log);
}
