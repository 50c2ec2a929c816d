/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_resume.c - a log whose writer was killed, to be written on.
 *
 * Everything that the writer remembered stands in the blocks that it wrote. The log is read from
 * its beginning to its last whole block; what stands behind that was being written. It is
 * overwritten, and in a sequence cut off before that: the dead writer may have been at the end of
 * the log, whose blocks are as good as any, and would be found behind what we write until we come
 * to our own end.
 *
 * No writer that was killed leaves events behind that. Where there are some the file is damaged,
 * and left as it is: posix_trace_open_np() can read both sides of what is damaged, which nobody
 * could of what we cut. They are looked for as far as LOOK_BEYOND.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "log/read_scan.h"
#include "log/write_resume.h"
#include "log/writer.h"

#define SLOTS_WITHOUT 4096u /* so many without a block, and there are no more (R6) */
/* So far events are looked for behind damage: an older log, of any size, may be there too (W2). */
#define LOOK_BEYOND   (UINT64_C(16) << 20)

static void take_data(struct ptx_log *log, const struct ptx_log_found *found,
		      const uint8_t *records, struct ptx_log_tally *tally)
{
	const struct ptx_log_block *block = &found->block;
	struct ptx_log_sum *sum = &log->sum;

	ptx_log_index_note(log, found->offset, block->first_record, block->time_min,
			   block->time_max);
	if (!sum->blocks++)
		sum->time_first = block->time_min;
	sum->time_last = block->time_max;
	sum->records += block->records;
	sum->record_bytes += block->record_bytes;
	log->block.first_record = block->first_record + block->records;
	ptx_log_tally_records(tally, records, block->record_bytes,
			      (const void *)(records + block->record_bytes));
}

static bool is_of_the_end(const struct ptx_log_block *block)
{
	return block->type == PTX_LOG_TOP || block->type == PTX_LOG_LEDGER ||
	       block->type == PTX_LOG_END;
}

/* Whether a block is the next one of a log that is being written, and what came of taking it. */
static bool take_block(struct ptx_log *log, struct ptx_log_window *window,
		       const struct ptx_log_found *found, struct ptx_log_tally *tally, int *err)
{
	const struct ptx_log_block *block = &found->block;
	const bool known = block->type >= PTX_LOG_DATA && block->type < PTX_LOG_TYPES;
	const char *why;
	const void *payload;

	if (is_of_the_end(block) || (known && block->number != log->number[block->type]))
		return false;
	payload = ptx_log_payload(window, found, &why);
	if (!payload)
		return false;
	switch (block->type) {
	case PTX_LOG_DATA:
		if (log->index.places == PTX_LOG_INDEX_BLOCKS ||
		    block->first_record != log->block.first_record)
			return false;
		take_data(log, found, payload, tally);
		break;
	case PTX_LOG_NAMES:
		ptx_log_names_take(log, block, payload);
		break;
	case PTX_LOG_SCHEMAS:
		*err = ptx_log_schemas_take(log, block, payload);
		break;
	case PTX_LOG_OBJECTS:
		*err = ptx_log_objects_take(log, block, payload);
		break;
	case PTX_LOG_MAPPINGS:
		*err = ptx_log_mappings_take(log, block, payload);
		break;
	case PTX_LOG_INDEX:
		if (!ptx_log_index_taken(log, found->offset, payload, block->records))
			return false;
		break;
	default: /* skipped, as by any reader (3.1) */
		break;
	}
	if (*err)
		return false;
	if (known)
		log->number[block->type]++;
	log->at = found->end;
	return true;
}

/* EINVAL: whole events stand behind the last block that was taken. */
static int look_beyond(const struct ptx_log *log, struct ptx_log_window *window)
{
	const uint64_t limit = log->at + LOOK_BEYOND;
	struct ptx_log_found found;
	uint64_t at = log->at;
	const char *why;

	while (ptx_log_resync(window, at, limit, log->header->log_id, &found)) {
		const bool whole = ptx_log_payload(window, &found, &why) != NULL;

		if (whole && found.block.type == PTX_LOG_DATA)
			return EINVAL;
		at = whole ? found.end : found.offset + sizeof(found.block);
	}
	return window->no_memory ? ENOMEM : window->failed; /* what is there was not all seen */
}

static int read_blocks(struct ptx_log *log, struct ptx_log_window *window,
		       struct ptx_log_tally *tally)
{
	struct ptx_log_found found;
	const char *why;
	int err = 0;

	while (ptx_log_find(window, log->at, UINT64_MAX, log->header->log_id, &found, &why) ==
		       PTX_LOG_GOOD &&
	       take_block(log, window, &found, tally, &err))
		;
	if (!err)
		err = look_beyond(log, window);
	if (err)
		return err;
	ptx_log_block_begin(log);
	/* Where that cannot be, they are cut off when the log is completed. */
	if (window->file_bytes > log->at)
		ptx_io_truncate(log->fd, log->at);
	return 0;
}

/* A slot of a LOOP log with a good block header. */
struct slot {
	uint64_t number;
	uint64_t oldest;
	uint64_t first_record;
	uint32_t slot;
	uint32_t records;
};

struct slots {
	struct slot *slot;
	size_t count, room;
	uint32_t numbered; /* of the file, those in between too */
};

static int by_number(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->records > y->records) - (x->records < y->records);
}

static bool find_slot(const struct ptx_log *log, struct ptx_log_window *window, uint32_t slot,
		      struct ptx_log_found *found)
{
	uint64_t at = log->header->slots_offset + slot * log->header->slot_bytes;
	const char *why;

	return ptx_log_find(window, at, at + log->header->slot_bytes, log->header->log_id, found,
			    &why) == PTX_LOG_GOOD &&
	       found->block.type == PTX_LOG_DATA;
}

static int gather_slots(const struct ptx_log *log, struct ptx_log_window *window,
			struct slots *slots)
{
	for (uint32_t i = 0; i - slots->numbered < SLOTS_WITHOUT; i++) {
		struct ptx_log_found found;
		struct slot *more;

		if (!find_slot(log, window, i, &found))
			continue;
		if (slots->count == slots->room) {
			slots->room = slots->room ? 2 * slots->room : 64;
			more = realloc(slots->slot, slots->room * sizeof(*more));
			if (!more)
				return ENOMEM;
			slots->slot = more;
		}
		slots->numbered = i + 1;
		slots->slot[slots->count++] =
			(struct slot){ found.block.number, found.block.oldest,
				       found.block.first_record, i, found.block.records };
	}
	if (slots->count)
		qsort(slots->slot, slots->count, sizeof(*slots->slot), by_number);
	return 0;
}

/* Of blocks with one number the one with more events counts, if it is whole. */
static const void *whole(const struct ptx_log *log, struct ptx_log_window *window,
			 const struct slot *slot, struct ptx_log_found *found)
{
	const char *why;

	return find_slot(log, window, slot->slot, found) ? ptx_log_payload(window, found, &why)
							 : NULL;
}

static int take_slots(struct ptx_log *log, struct ptx_log_window *window, struct slots *slots,
		      struct ptx_log_tally *tally)
{
	struct ptx_log_found found;
	uint64_t oldest = UINT64_MAX;
	int err = 0;

	for (size_t i = slots->count; i-- > 0 && oldest == UINT64_MAX;)
		if (whole(log, window, &slots->slot[i], &found))
			oldest = slots->slot[i].oldest;
	for (size_t i = 0; !err && i < slots->count; i++) {
		size_t best = i;
		const uint8_t *records = NULL;

		while (i + 1 < slots->count &&
		       slots->slot[i + 1].number == slots->slot[best].number)
			i++;
		if (slots->slot[i].number < oldest)
			continue;
		for (size_t j = i + 1; !records && j-- > best;)
			records = whole(log, window, &slots->slot[j], &found);
		/*
		 * Nor one that counts events which an older one has, or the next that agrees with
		 * those.
		 */
		if (!records || found.block.first_record < log->block.first_record ||
		    (i + 1 < slots->count &&
		     slots->slot[i + 1].first_record >= log->block.first_record &&
		     slots->slot[i + 1].first_record < found.block.first_record))
			continue;
		ptx_log_tally_records(tally, records, found.block.record_bytes,
				      (const void *)(records + found.block.record_bytes));
		err = ptx_log_loop_take(log, &found.block, records, (uint32_t)((found.offset -
					log->header->slots_offset) / log->header->slot_bytes));
	}
	return err;
}

/* What was overwritten in the file counts as reported until it is accounted for. */
static void add_overwritten(const struct ptx_log *log, struct ptx_log_tally *tally)
{
	const struct ptx_log_tally *overwritten = ptx_log_loop_overwritten(log);

	tally->events += overwritten->events;
	tally->type[0] += overwritten->events;
	tally->nobody += overwritten->events;
}

static int read_slots(struct ptx_log *log, struct ptx_log_window *window,
		      struct ptx_log_tally *tally)
{
	struct slots slots = { NULL, 0, 0, 0 };
	int err;

	err = gather_slots(log, window, &slots);
	if (!err)
		err = ptx_log_resume_beside(log, window, slots.count != 0);
	if (!err)
		err = take_slots(log, window, &slots, tally);
	if (!err)
		err = ptx_log_loop_taken(log, slots.numbered);
	free(slots.slot);
	add_overwritten(log, tally);
	/* A slot that cannot be read is given up as one that is damaged. */
	return !err && window->no_memory ? ENOMEM : err;
}

int ptx_log_resume(int fd, struct ptx_log **result, struct ptx_log_facts *facts,
		   struct ptx_log_tally *tally)
{
	struct ptx_log_origin nowhere = { .log_id = 0 };
	struct ptx_log_window window;
	struct ptx_log_header header;
	struct ptx_log *log = NULL;
	const char *why;
	const void *bytes;
	int err = ptx_log_window_open(&window, fd);

	if (err)
		return err;
	bytes = ptx_log_window_at(&window, 0, sizeof(header));
	err = EINVAL;
	if (!bytes || ptx_log_decode_header(bytes, sizeof(header), &header, &why) != PTX_LOG_GOOD ||
	    memcmp(header.closing.state, PTX_LOG_WRITING, sizeof(header.closing.state)))
		goto out;
	ptx_log_decode_facts(&header, facts);
	err = ptx_log_new(facts, &nowhere, &log);
	if (err)
		goto out;
	if ((header.arrangement == PTX_LOG_SLOTS) != (log->loop != NULL)) {
		ptx_log_free(log);
		err = EINVAL;
		goto out;
	}
	*log->header = header;
	log->fd = fd;
	if (!ptx_file_know(fd, &log->file)) {
		ptx_log_free(log);
		err = EBADF;
		goto out;
	}
	log->positional = log->regular = true;
	err = log->loop ? read_slots(log, &window, tally) : read_blocks(log, &window, tally);
	if (err)
		ptx_log_free(log);
	else
		*result = log;
out:
	ptx_log_window_close(&window);
	return err;
}
