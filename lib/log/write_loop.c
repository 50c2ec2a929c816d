/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_loop.c - LOOP: blocks in slots, the oldest given up when the limit asks for it.
 *
 * What counts are the newest blocks whose records fit in log_size together; each block's header
 * says how far back that is. A block, also one that grew since it was last written, goes to a slot
 * that holds nothing that counts. So there is always one slot more than blocks, and the file
 * shows either the state before a write or the one after it, wherever the writer died.
 *
 * The file cannot be read back (the descriptor may be write-only), so what an overwritten block
 * held, by type and thread, is remembered from when it was closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/write_contents.h"
#include "log/writer.h"

#define SECTOR      512u
#define LISTS_BYTES (128u * 1024)
#define NAMES_BYTES ((sizeof(struct ptx_log_block) + PTX_TYPE_MAX * sizeof(struct ptx_log_name) + \
		      4095) & ~(size_t)4095)

/* A block that counts and has ended. */
struct slot_block {
	uint64_t number;
	uint64_t first_record;
	uint64_t bytes; /* of records */
	int64_t time_min;
	int64_t time_max;
	uint32_t slot;
	uint32_t records;
	struct ptx_log_contents *contents;
};

struct ptx_log_loop {
	struct slot_block *live; /* a queue, oldest first, of live_max places, a power of two */
	size_t live_max;
	size_t first;
	size_t count;
	uint64_t bytes;          /* of their records */
	uint32_t *spare;         /* slots that hold nothing that counts */
	size_t spares;
	size_t spares_max;
	uint32_t slots;          /* in the file so far */
	bool placed;             /* the current block is in the file, in this state: */
	uint32_t slot;
	uint32_t records;
	size_t record_bytes;
	int64_t time_min;
	int64_t time_max;
	struct ptx_log_tally overwritten;
	struct ptx_log_counting counting;
};

size_t ptx_log_loop_records(uint64_t log_size)
{
	uint64_t most = log_size / 4096, bytes = log_size / 8;

	if (most < PTX_LOG_BLOCK_RECORDS)
		most = PTX_LOG_BLOCK_RECORDS;
	if (most > 1024 * 1024)
		most = 1024 * 1024;
	return (size_t)(bytes < most ? bytes : most) & ~(size_t)7;
}

static struct slot_block *live(const struct ptx_log_loop *loop, size_t i)
{
	return &loop->live[(loop->first + i) & (loop->live_max - 1)];
}

static bool is_written(const struct ptx_log *log)
{
	return log->loop->placed && log->loop->records == log->hot.records;
}

/* Memory for one more block and one more slot, so that nothing can fail after a write. */
static int reserve(struct ptx_log_loop *loop)
{
	if (loop->count == loop->live_max) {
		size_t max = loop->live_max ? 2 * loop->live_max : 16;
		struct slot_block *more = calloc(max, sizeof(*more));

		if (!more)
			return ENOMEM;
		for (size_t i = 0; i < loop->count; i++)
			more[i] = *live(loop, i);
		free(loop->live);
		loop->live = more;
		loop->live_max = max;
		loop->first = 0;
	}
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

static void give_up(struct ptx_log_loop *loop)
{
	struct slot_block *old = live(loop, 0);

	loop->overwritten.events += old->records;
	ptx_log_contents_tally(old->contents, &loop->overwritten);
	free(old->contents);
	loop->bytes -= old->bytes;
	loop->spare[loop->spares++] = old->slot;
	loop->first = (loop->first + 1) & (loop->live_max - 1);
	loop->count--;
}

/* How many blocks must go so that the current one fits in with the others. */
static size_t too_many(const struct ptx_log *log)
{
	const struct ptx_log_loop *loop = log->loop;
	uint64_t bytes = loop->bytes + ptx_log_used(log);
	size_t n = 0;

	while (bytes > log->log_size && n < loop->count)
		bytes -= live(loop, n++)->bytes;
	return n;
}

static uint64_t slot_offset(const struct ptx_log *log, uint32_t slot)
{
	return log->header->slots_offset + slot * log->header->slot_bytes;
}

static int place(struct ptx_log *log)
{
	struct ptx_log_loop *loop = log->loop;
	size_t gone = too_many(log), bytes;
	uint64_t oldest = gone < loop->count ? live(loop, gone)->number :
					       log->number[PTX_LOG_DATA];
	uint32_t slot = loop->spares ? loop->spare[loop->spares - 1] : loop->slots;
	int err;

	ptx_log_block_unseal(log); /* a try that failed had another end */
	bytes = ptx_log_block_seal(log, oldest);
	err = ptx_log_send(log, log->block.out, bytes, slot_offset(log, slot));
	ptx_log_block_unseal(log);
	if (err)
		return err;
	if (loop->spares)
		loop->spares--;
	else
		loop->slots++;
	while (gone--) {
		give_up(loop);
		log->full = true;
	}
	if (loop->placed)
		loop->spare[loop->spares++] = loop->slot;
	loop->placed = true;
	loop->slot = slot;
	loop->records = log->hot.records;
	loop->record_bytes = ptx_log_used(log);
	loop->time_min = log->hot.time_min;
	loop->time_max = log->hot.time_max;
	if (loop->bytes + loop->record_bytes == log->log_size)
		log->full = true;
	return 0;
}

/* The current block, all of it in the file, takes its place among the others. */
static int close_block(struct ptx_log *log)
{
	struct ptx_log_loop *loop = log->loop;
	struct ptx_log_contents *contents = ptx_log_contents_of(log, &loop->counting);
	struct slot_block *block;

	if (!contents)
		return ENOMEM;
	block = live(loop, loop->count++);
	block->number = log->number[PTX_LOG_DATA]++;
	block->first_record = log->block.first_record;
	block->bytes = loop->record_bytes;
	block->records = loop->records;
	block->time_min = loop->time_min;
	block->time_max = loop->time_max;
	block->slot = loop->slot;
	block->contents = contents;
	loop->bytes += block->bytes;
	log->block.first_record += block->records;
	loop->placed = false;
	loop->records = 0;
	loop->record_bytes = 0;
	ptx_log_block_begin(log);
	return 0;
}

int ptx_log_write_loop(struct ptx_log *log)
{
	int saved = errno, err = ptx_log_side_send(log);

	if (!err)
		err = ptx_log_names_write_slots(log);
	if (!err)
		err = ptx_log_lists_write(log);
	if (!err)
		err = reserve(log->loop);
	if (!err && log->hot.records && !is_written(log))
		err = place(log);
	if (!err && log->block.crowded && log->loop->placed)
		err = close_block(log);
	errno = saved;
	return err;
}

/* As if it had just been filled and placed. */
int ptx_log_loop_take(struct ptx_log *log, const struct ptx_log_block *block,
		      const uint8_t *records, uint32_t slot)
{
	struct ptx_log_loop *loop = log->loop;
	uint64_t missing = block->first_record - log->block.first_record; /* since the one before */

	if (block->record_bytes > log->block.record_max || block->sources > log->block.sources_max)
		return EINVAL;
	memcpy(log->block.bytes + sizeof(*block), records, block->record_bytes);
	log->hot.at = log->block.bytes + sizeof(*block) + block->record_bytes;
	log->hot.records = loop->records = block->records;
	memcpy(log->block.source, records + block->record_bytes,
	       block->sources * sizeof(*log->block.source));
	log->block.sources = block->sources;
	log->block.first_record = block->first_record;
	log->number[PTX_LOG_DATA] = block->number;
	loop->placed = true;
	loop->slot = slot;
	loop->record_bytes = block->record_bytes;
	loop->time_min = block->time_min;
	loop->time_max = block->time_max;
	if (missing) {
		loop->overwritten.events += missing;
		loop->overwritten.type[0] += missing;
		loop->overwritten.nobody += missing;
		log->full = true;
	}
	return reserve(loop) ? ENOMEM : close_block(log);
}

int ptx_log_loop_taken(struct ptx_log *log, uint32_t slots)
{
	struct ptx_log_loop *loop = log->loop;

	loop->slots = slots;
	if (reserve(loop))
		return ENOMEM;
	for (uint32_t slot = 0; slot < slots; slot++) {
		size_t i = 0;

		while (i < loop->count && live(loop, i)->slot != slot)
			i++;
		if (i == loop->count)
			loop->spare[loop->spares++] = slot;
	}
	return 0;
}

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

int ptx_log_loop_create(struct ptx_log *log)
{
	struct ptx_log_header *header = log->header;
	size_t payload =
		log->block.record_max + log->block.sources_max * sizeof(*log->block.source);

	log->loop = calloc(1, sizeof(*log->loop));
	if (!log->loop)
		return ENOMEM;
	ptx_log_tally_init(&log->loop->overwritten);
	header->arrangement = PTX_LOG_SLOTS;
	header->names_offset = PTX_LOG_HEADER_BYTES;
	header->names_bytes = NAMES_BYTES;
	header->lists_offset = log->lists.at = header->names_offset + 2 * NAMES_BYTES;
	header->lists_bytes = LISTS_BYTES;
	header->slots_offset = header->lists_offset + LISTS_BYTES;
	header->slot_bytes = (sizeof(struct ptx_log_block) + payload + SECTOR - 1) &
			     ~(uint64_t)(SECTOR - 1);
	log->at = 0; /* until the end there is no such place */
	return 0;
}

void ptx_log_loop_clear(struct ptx_log *log)
{
	struct ptx_log_loop *loop = log->loop;

	for (size_t i = 0; i < loop->count; i++)
		free(live(loop, i)->contents);
	loop->first = loop->count = 0;
	loop->bytes = 0;
	loop->spares = 0;
	loop->slots = 0;
	loop->placed = false;
	loop->records = 0;
	loop->record_bytes = 0;
	ptx_log_tally_fini(&loop->overwritten);
}

void ptx_log_loop_destroy(struct ptx_log *log)
{
	ptx_log_loop_clear(log);
	free(log->loop->live);
	free(log->loop->spare);
	free(log->loop);
}

void ptx_log_loop_end(struct ptx_log *log)
{
	const struct ptx_log_loop *loop = log->loop;
	struct ptx_log_sum *sum = &log->sum;

	sum->blocks = loop->count + loop->placed;
	sum->record_bytes = loop->bytes + loop->record_bytes;
	sum->overwritten = loop->overwritten.events;
	sum->records = log->block.first_record + loop->records - sum->overwritten;
	sum->time_first = sum->time_last = 0;
	if (loop->count) {
		sum->time_first = live(loop, 0)->time_min;
		sum->time_last = live(loop, loop->count - 1)->time_max;
	}
	if (loop->placed) {
		sum->time_first = loop->count ? sum->time_first : loop->time_min;
		sum->time_last = loop->time_max;
	}
	log->at = slot_offset(log, loop->slots);
}

int ptx_log_loop_index(struct ptx_log *log)
{
	const struct ptx_log_loop *loop = log->loop;
	int err = 0;

	for (size_t i = 0; !err && i < loop->count + loop->placed; i++) {
		if (i < loop->count)
			ptx_log_index_note(log, slot_offset(log, live(loop, i)->slot),
					   live(loop, i)->first_record, live(loop, i)->time_min,
					   live(loop, i)->time_max);
		else
			ptx_log_index_note(log, slot_offset(log, loop->slot),
					   log->block.first_record, loop->time_min,
					   loop->time_max);
		if (log->index.places == PTX_LOG_INDEX_BLOCKS)
			err = ptx_log_index_send(log);
	}
	return err;
}
