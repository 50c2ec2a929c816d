/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_loop.c - the arrangement of slots, for LOOP: the log overwrites its oldest blocks when
 * it has reached log_size (FORMAT 2, W4).
 *
 * The newest blocks whose records together fit in log_size belong to the log. Such a block
 * "counts". Each block's header has the number of the oldest block that counts. The writer writes a
 * block only into a slot whose block does not count. If a block has grown since it was last
 * written, the writer writes it again into another slot. So the log needs one slot more than it has
 * blocks. If the writer is killed at any moment, the file shows either the state before a write or
 * the state after it.
 *
 * The ledger needs the types and threads of overwritten events. The file cannot be read, because
 * the descriptor may be write-only. So the counts of each block by type and thread are kept in
 * memory until the block is overwritten.
 *
 * Memory is reserved before a write, so that no step between the write and the new state can fail.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/write_contents.h"
#include "log/writer.h"

#define SECTOR      512u
#define LISTS_BYTES (128u * 1024)
/* The size of a names area: a NAMES block with the maximum of names, rounded up to pages. */
#define NAMES_BYTES ((sizeof(struct ptx_log_block) + PTX_TYPE_MAX * sizeof(struct ptx_log_name) + \
		      4095) & ~(size_t)4095)

/* A block that counts and gets no further event. */
struct slot_block {
	uint64_t number;
	uint64_t first_record;
	uint64_t bytes; /* bytes of records */
	int64_t time_min;
	int64_t time_max;
	uint32_t slot;
	uint32_t records;
	struct ptx_log_contents *contents;
};

/*
 * Each slot of the file either has a block in live[], or has the current block (if `placed` is
 * true), or is in spare[]. The current block is the block to which events are added.
 */
struct ptx_log_loop {
	struct slot_block *live; /* a queue, oldest first, of live_max places, a power of two */
	size_t live_max;
	size_t first;
	size_t count;
	uint64_t bytes;          /* bytes of the records of all live blocks */
	uint32_t *spare;         /* slots without a block that counts */
	size_t spares;
	size_t spares_max;
	uint32_t slots;          /* number of slots in the file */
	/* the current block is in the file, with the values of the next members */
	bool placed;
	uint32_t slot;
	uint32_t records;
	size_t record_bytes;
	int64_t time_min;
	int64_t time_max;
	struct ptx_log_tally overwritten;
	struct ptx_log_counting counting;
};

/*
 * Returns the bytes of records in a block: an eighth of log_size, but at most 64 KiB. A log thus
 * loses at most an eighth when it overwrites a block. If a 4096th of log_size is more than 64 KiB,
 * a block has a 4096th of log_size, so that the number of blocks is bounded. A block never has more
 * than 1 MiB. FORMAT W4 has these numbers.
 */
size_t ptx_log_loop_records(uint64_t log_size)
{
	uint64_t most = log_size / 4096, bytes = log_size / 8;

	if (most < PTX_LOG_BLOCK_RECORDS)
		most = PTX_LOG_BLOCK_RECORDS;
	if (most > 1024 * 1024)
		most = 1024 * 1024;
	return (size_t)(bytes < most ? bytes : most) & ~(size_t)7;
}

/*
 * Returns the block with the index i in the queue; the oldest block has the index 0. live_max is a
 * power of two.
 */
static struct slot_block *write_loop_live(const struct ptx_log_loop *loop, size_t i)
{
	return &loop->live[(loop->first + i) & (loop->live_max - 1)];
}

/*
 * Returns true if the file has all events of the current block. Events are never removed from the
 * block, so equal counts mean equal contents.
 */
static bool is_written(const struct ptx_log *log)
{
	return log->loop->placed && log->loop->records == log->appender.records;
}

/*
 * Reserves memory for one more block in live[] and for all slots in spare[], so that nothing can
 * fail after a write. Returns 0 or ENOMEM.
 */
static int write_loop_reserve(struct ptx_log_loop *loop)
{
	/*
	 * If the array is full, the queue is copied to a larger array. The queue may wrap around in
	 * the old array. In the new array the oldest block is at the beginning.
	 */
	if (loop->count == loop->live_max) {
		size_t max = loop->live_max ? 2 * loop->live_max : 16;
		struct slot_block *more = calloc(max, sizeof(*more));

		if (!more)
			return ENOMEM;
		for (size_t i = 0; i < loop->count; i++)
			more[i] = *write_loop_live(loop, i);
		free(loop->live);
		loop->live = more;
		loop->live_max = max;
		loop->first = 0;
	}
	/* At most all slots can be spare, and a write may add one. */
	if (loop->spares_max < loop->slots + 1) {
		size_t max = 2 * (size_t)loop->slots + 16;
		uint32_t *more = realloc(loop->spare, max * sizeof(*more));

		if (!more)
			return ENOMEM;
		loop->spare = more;
		loop->spares_max = max;
	}
	return 0;
}

/*
 * Removes the oldest block: its events count as overwritten, and its slot becomes spare. The bytes
 * of the block remain in the slot until the slot is used again. The block does not count, because
 * the field `oldest` in newer headers is greater than its number.
 */
static void drop_oldest(struct ptx_log_loop *loop)
{
	struct slot_block *old = write_loop_live(loop, 0);

	/* The total is counted here. The next call counts by type and thread. */
	loop->overwritten.events += old->records;
	ptx_log_contents_tally(old->contents, &loop->overwritten);
	free(old->contents);
	/* The slot is free from the next write on. */
	loop->bytes -= old->bytes;
	loop->spare[loop->spares++] = old->slot;
	loop->first = (loop->first + 1) & (loop->live_max - 1);
	loop->count--;
}

/*
 * Returns how many of the oldest blocks must be removed from the log so that the others and the
 * current block fit in log_size. The current block always stays, so the result is at most the
 * number of all other blocks.
 */
static size_t too_many(const struct ptx_log *log)
{
	const struct ptx_log_loop *loop = log->loop;
	uint64_t bytes = loop->bytes + ptx_log_used(log);
	size_t n = 0;

	while (bytes > log->log_size && n < loop->count)
		bytes -= write_loop_live(loop, n++)->bytes;
	return n;
}

/*
 * Returns the offset of a slot in the file. The product cannot overflow: all slots before this slot
 * are in the file, and slot_bytes is less than 2^48, also in a log that was read (FORMAT H5).
 */
static uint64_t slot_offset(const struct ptx_log *log, uint32_t slot)
{
	return log->header->slots_offset + slot * log->header->slot_bytes;
}

/*
 * Writes the current block to a free slot. Until the write has succeeded, a reader finds the
 * block's former state in its former slot. Afterwards the former slot becomes spare, and the oldest
 * blocks that no longer fit are removed from the log. Returns 0, or the error of the write.
 */
static int write_loop_place(struct ptx_log *log)
{
	struct ptx_log_loop *loop = log->loop;
	size_t gone = too_many(log), bytes;
	uint64_t oldest = gone < loop->count ? write_loop_live(loop, gone)->number
					     : log->number[PTX_LOG_DATA];
	/*
	 * The writer uses the slot that became free last, because it is likely to be in the page
	 * cache.
	 */
	uint32_t slot = loop->spares ? loop->spare[loop->spares - 1] : loop->slots;
	int err;

	/*
	 * A failed attempt may have sealed the block with another value of `oldest`, so the block
	 * is sealed again.
	 */
	ptx_log_block_unseal(log);
	bytes = ptx_log_block_seal(log, oldest);
	/* The whole block is written by one write (FORMAT W1). */
	err = ptx_log_send(log, log->block.out, bytes, slot_offset(log, slot));
	ptx_log_block_unseal(log);
	if (err)
		return err;
	if (loop->spares)
		loop->spares--;
	else
		loop->slots++;
	/*
	 * These blocks no longer count, because of the field `oldest` in the block that was just
	 * written.
	 */
	while (gone--) {
		drop_oldest(loop);
		/* A LOOP log is full when it overwrites for the first time. */
		log->full = true;
	}
	/*
	 * If the block was in the file before, its former state no longer counts, because the new
	 * state has the same number (FORMAT R6).
	 */
	if (loop->placed)
		loop->spare[loop->spares++] = loop->slot;
	/* Notes the state of the block in the file. The block may grow further in memory. */
	loop->placed = true;
	loop->slot = slot;
	loop->records = log->appender.records;
	loop->record_bytes = ptx_log_used(log);
	loop->time_min = log->appender.time_min;
	loop->time_max = log->appender.time_max;
	/*
	 * If the log is exactly at its limit, the next event overwrites a block, so the log counts
	 * as full from now on.
	 */
	if (loop->bytes + loop->record_bytes == log->log_size)
		log->full = true;
	return 0;
}

/*
 * Ends the current block and adds it to the queue. The whole block is in the file. Then an empty
 * block begins. After ENOMEM nothing has changed, and the caller may try again.
 * write_loop_reserve() has made room in the queue before.
 */
static int close_block(struct ptx_log *log)
{
	struct ptx_log_loop *loop = log->loop;
	struct ptx_log_contents *contents = ptx_log_contents_of(log, &loop->counting);
	struct slot_block *block;

	if (!contents)
		return ENOMEM;
	/* The members of `loop` describe the block in the file, which is the whole block. */
	block = write_loop_live(loop, loop->count++);
	block->number = log->number[PTX_LOG_DATA]++;
	block->first_record = log->block.first_record;
	block->bytes = loop->record_bytes;
	block->records = loop->records;
	block->time_min = loop->time_min;
	block->time_max = loop->time_max;
	block->slot = loop->slot;
	block->contents = contents;
	/* loop->bytes is the sum that too_many() compares with log_size. */
	loop->bytes += block->bytes;
	log->block.first_record += block->records;
	/* The new block has no slot yet. */
	loop->placed = false;
	loop->records = 0;
	loop->record_bytes = 0;
	ptx_log_block_begin(log);
	return 0;
}

/*
 * Writes names and lists first, because a reader of an event needs the name and the schema of its
 * type (FORMAT 3.5, 3.10). A block ends only if an event has found no room in it. Otherwise it
 * stays the current block, and is written again when it has grown.
 */
int ptx_log_write_loop(struct ptx_log *log)
{
	int saved = errno, err = ptx_log_meta_send(log);

	if (!err)
		err = ptx_log_names_write_slots(log);
	if (!err)
		err = ptx_log_lists_write(log);
	if (!err)
		err = write_loop_reserve(log->loop);
	if (!err && log->appender.records && !is_written(log))
		err = write_loop_place(log);
	/* An empty block does not end. */
	if (!err && log->block.is_out_of_room && log->loop->placed)
		err = close_block(log);
	errno = saved;
	return err;
}

/*
 * Restores the state that the dead writer had after this block. The effect is as if the block had
 * just been filled and written. The records are copied into the block's memory, because
 * ptx_log_contents_of() counts them there. The sizes come from the log, so they are first compared
 * with the size of that memory.
 */
int ptx_log_loop_restore(struct ptx_log *log, const struct ptx_log_block *block,
			 const uint8_t *records, uint32_t slot)
{
	struct ptx_log_loop *loop = log->loop;
	/*
	 * The number of events between this block and the block that was restored before. These
	 * events were in damaged blocks, or in older blocks that the log has overwritten.
	 */
	uint64_t missing = block->first_record - log->block.first_record;

	if (block->record_bytes > log->block.record_max || block->sources > log->block.sources_max)
		return EINVAL;
	memcpy(log->block.bytes + sizeof(*block), records, block->record_bytes);
	log->appender.at = log->block.bytes + sizeof(*block) + block->record_bytes;
	log->appender.records = loop->records = block->records;
	/* ptx_log_contents_of() computes the counts of the block with this table. */
	memcpy(log->block.source, records + block->record_bytes,
	       block->sources * sizeof(*log->block.source));
	log->block.sources = block->sources;
	log->block.first_record = block->first_record;
	/* close_block() uses this number and increases it. */
	log->number[PTX_LOG_DATA] = block->number;
	loop->placed = true;
	loop->slot = slot;
	loop->record_bytes = block->record_bytes;
	loop->time_min = block->time_min;
	loop->time_max = block->time_max;
	/*
	 * Types and threads of the missing events are unknown: they count as events of type 0 and
	 * of no thread (FORMAT L2).
	 */
	if (missing) {
		loop->overwritten.events += missing;
		loop->overwritten.type[0] += missing;
		loop->overwritten.unattributed += missing;
		log->full = true;
	}
	return write_loop_reserve(loop) ? ENOMEM : close_block(log);
}

/*
 * Each slot without a block that counts becomes spare, also a slot with a damaged block. The
 * quadratic search is acceptable: a log has some thousand slots, and this function runs only once
 * after a writer was killed.
 */
int ptx_log_loop_restore_end(struct ptx_log *log, uint32_t slots)
{
	struct ptx_log_loop *loop = log->loop;

	/* When all spare slots are used, new blocks are written behind these slots. */
	loop->slots = slots;
	if (write_loop_reserve(loop))
		return ENOMEM;
	for (uint32_t slot = 0; slot < slots; slot++) {
		size_t i = 0;

		while (i < loop->count && write_loop_live(loop, i)->slot != slot)
			i++;
		if (i == loop->count)
			loop->spare[loop->spares++] = slot;
	}
	return 0;
}

/*
 * ptx_log_loop_written() and ptx_log_loop_written_bytes() return the part of the current block that
 * is in the file, in events and in bytes. lose_block() does not count this part as lost.
 */
uint32_t ptx_log_loop_written(const struct ptx_log *log)
{
	return log->loop ? log->loop->records : 0;
}

size_t ptx_log_loop_written_bytes(const struct ptx_log *log)
{
	return log->loop ? log->loop->record_bytes : 0;
}

const struct ptx_log_tally *ptx_log_loop_overwritten(const struct ptx_log *log)
{
	return &log->loop->overwritten;
}

/*
 * Sets the areas of the header, in the order of FORMAT 2. A slot has room for the largest block,
 * with records of maximal size and a full table of threads. The size of a slot is a multiple of a
 * disk's sector, so that a torn write damages only one slot.
 */
int ptx_log_loop_create(struct ptx_log *log)
{
	struct ptx_log_header *header = log->header;
	size_t payload =
		log->block.record_max + log->block.sources_max * sizeof(*log->block.source);

	log->loop = calloc(1, sizeof(*log->loop));
	if (!log->loop)
		return ENOMEM;
	ptx_log_tally_init(&log->loop->overwritten);
	/* So far the header is that of a sequence. */
	header->arrangement = PTX_LOG_SLOTS;
	header->names_offset = PTX_LOG_HEADER_BYTES;
	header->names_bytes = NAMES_BYTES;
	header->lists_offset = log->lists.at = header->names_offset + 2 * NAMES_BYTES;
	header->lists_bytes = LISTS_BYTES;
	header->slots_offset = header->lists_offset + LISTS_BYTES;
	header->slot_bytes = (sizeof(struct ptx_log_block) + payload + SECTOR - 1) &
			     ~(uint64_t)(SECTOR - 1);
	log->at = 0; /* not used before the tail; ptx_log_loop_end() sets it */
	return 0;
}

/*
 * Forgets all blocks and all slots. The file is not truncated, but the caller changes log_id, which
 * makes the old blocks invalid. New blocks are written from slot 0 on. The arrays keep their
 * memory.
 */
void ptx_log_loop_clear(struct ptx_log *log)
{
	struct ptx_log_loop *loop = log->loop;

	for (size_t i = 0; i < loop->count; i++)
		free(write_loop_live(loop, i)->contents);
	loop->first = loop->count = 0;
	loop->bytes = 0;
	loop->spares = 0;
	loop->slots = 0;
	loop->placed = false;
	loop->records = 0;
	loop->record_bytes = 0;
	/* Before this, ptx_log_clear() has moved the counts of overwritten events to the ledger. */
	ptx_log_tally_fini(&loop->overwritten);
}

void ptx_log_loop_destroy(struct ptx_log *log)
{
	ptx_log_loop_clear(log);
	free(log->loop->live);
	free(log->loop->spare);
	free(log->loop);
}

/*
 * Computes the sum (FORMAT 3.8). first_record is the number of all events of ended blocks,
 * including overwritten events. So sum->records is the number of all written events, less the
 * overwritten events (FORMAT L3). The tail begins behind the last slot.
 */
void ptx_log_loop_end(struct ptx_log *log)
{
	const struct ptx_log_loop *loop = log->loop;
	struct ptx_log_sum *sum = &log->sum;

	/* The current block counts if it is in the file. */
	sum->blocks = loop->count + loop->placed;
	sum->record_bytes = loop->bytes + loop->record_bytes;
	sum->overwritten = loop->overwritten.events;
	sum->records = log->block.first_record + loop->records - sum->overwritten;
	sum->time_first = sum->time_last = 0;
	if (loop->count) {
		sum->time_first = write_loop_live(loop, 0)->time_min;
		sum->time_last = write_loop_live(loop, loop->count - 1)->time_max;
	}
	/* The current block is the newest block; it counts like the other blocks. */
	if (loop->placed) {
		sum->time_first = loop->count ? sum->time_first : loop->time_min;
		sum->time_last = loop->time_max;
	}
	log->at = slot_offset(log, loop->slots);
}

/*
 * A log of slots has no INDEX blocks while it is written, because the set of blocks that count
 * changes all the time. The tail gets the INDEX blocks, with the places in the order of numbers,
 * the current block last. This function leaves the last places, for which ptx_log_index_send()
 * makes the last INDEX block.
 */
int ptx_log_loop_index(struct ptx_log *log)
{
	const struct ptx_log_loop *loop = log->loop;
	int err = 0;

	for (size_t i = 0; !err && i < loop->count + loop->placed; i++) {
		if (i < loop->count)
			ptx_log_index_note(log, slot_offset(log, write_loop_live(loop, i)->slot),
					   write_loop_live(loop, i)->first_record,
					   write_loop_live(loop, i)->time_min,
					   write_loop_live(loop, i)->time_max);
		else
			ptx_log_index_note(log, slot_offset(log, loop->slot),
					   log->block.first_record, loop->time_min,
					   loop->time_max);
		/* As in a sequence, there is one INDEX block for every 1024 places. */
		if (log->index.places == PTX_LOG_INDEX_BLOCKS)
			err = ptx_log_index_send(log);
	}
	return err;
}
