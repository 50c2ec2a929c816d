/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_resume.c - continues a log whose writer was killed (FORMAT W2).
 *
 * The state of the writer can be computed from the blocks. The guardian reads the log from its
 * beginning to the last whole block before the tail. Behind this block may be the bytes of an
 * unfinished write, blocks of a tail, or remains of an older log. The guardian overwrites all of
 * them. If the log is a sequence, the guardian first truncates the file behind the last whole
 * block. Otherwise readers would find valid blocks of the old tail behind the new blocks, until the
 * new tail is written.
 *
 * A killed writer leaves no whole block of events behind that block. If the guardian finds such a
 * block, the file was damaged in another way, and the guardian leaves the file unchanged.
 * posix_trace_open_np() can then salvage the events on both sides of the damage. The guardian
 * searches for such events only in the next SEARCH_BEYOND bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/zstd.h"
#include "log/read_scan.h"
#include "log/write_resume.h"
#include "log/writer.h"

/* after this number of successive slots without a block, the file has no more blocks (FORMAT R6) */
#define SLOTS_WITHOUT 4096u
/*
 * How many bytes behind the last whole block the guardian searches for events. The search is
 * limited, because an older log of any size may follow (FORMAT W2).
 */
#define SEARCH_BEYOND (UINT64_C(16) << 20)

/* Updates the sum and the index as the dead writer did after it wrote this block. */
static void restore_data(struct ptx_log *log, const struct ptx_log_found *found,
			 const uint8_t *records, struct ptx_log_tally *tally)
{
	const struct ptx_log_block *block = &found->block;
	struct ptx_log_sum *sum = &log->sum;

	ptx_log_index_note(log, found->offset, block->first_record, block->time_min,
			   block->time_max);
	/* The first block gives the time of the first event (FORMAT 3.8). */
	if (!sum->blocks++)
		sum->time_first = block->time_min;
	sum->time_last = block->time_max;
	/*
	 * The caller has compared first_record with the number of events before this block, so the
	 * counts are right.
	 */
	sum->records += block->records;
	sum->record_bytes += block->record_bytes;
	log->block.first_record = block->first_record + block->records;
	/* The guardian counts the events of the tally as reported in its ledger. */
	ptx_log_tally_records(tally, records, block->record_bytes,
			      (const void *)(records + block->record_bytes));
}

/*
 * Returns true for TOP, LEDGER and END blocks, which occur only in a tail. A writer that is killed
 * while it completes the log leaves such blocks. The guardian writes a new tail behind the last
 * events, so it reads up to the old tail. For INDEX blocks the result is false, because they also
 * occur before the tail. SKIPS blocks need no test, because a LEDGER block precedes them.
 */
static bool is_of_the_end(const struct ptx_log_block *block)
{
	return block->type == PTX_LOG_TOP || block->type == PTX_LOG_LEDGER ||
	       block->type == PTX_LOG_END;
}

/*
 * If the block is the next block of the log, adds its content to the state and returns true.
 * Otherwise returns false: the block belongs to a tail, its number is not the next number (FORMAT
 * D3), or it is damaged. The function also returns false, and sets *err to ENOMEM, if there is no
 * memory.
 */
static bool restore_block(struct ptx_log *log, struct ptx_log_window *window,
			  const struct ptx_log_found *found, struct ptx_log_tally *tally, int *err)
{
	const struct ptx_log_block *block = &found->block;
	const bool known = block->type >= PTX_LOG_DATA && block->type < PTX_LOG_TYPES;
	const char *why;
	const void *payload;

	/* FORMAT D3: numbers of a type rise by one. */
	if (is_of_the_end(block) || (known && block->number != log->number[block->type]))
		return false;
	/*
	 * A valid header with an invalid payload shows that the write of this block was not
	 * finished.
	 */
	payload = ptx_log_payload(window, found, &why);
	if (!payload)
		return false;
	switch (block->type) {
	case PTX_LOG_DATA:
		/*
		 * After PTX_LOG_INDEX_BLOCKS blocks the writer writes an INDEX block before the
		 * next DATA block. If the INDEX block is missing, the file is forged.
		 */
		if (log->index.places == PTX_LOG_INDEX_BLOCKS ||
		    block->first_record != log->block.first_record)
			return false;
		restore_data(log, found, payload, tally);
		break;
	case PTX_LOG_NAMES:
		ptx_log_names_restore(log, block, payload);
		break;
	case PTX_LOG_SCHEMAS:
		/*
		 * Entries that break FORMAT S2 are ignored, so the only possible error is ENOMEM.
		 */
		*err = ptx_log_schemas_restore(log, block, payload);
		break;
	case PTX_LOG_OBJECTS:
		*err = ptx_log_objects_restore(log, block, payload);
		break;
	case PTX_LOG_MAPPINGS:
		*err = ptx_log_mappings_restore(log, block, payload);
		break;
	case PTX_LOG_INDEX:
		if (!ptx_log_index_restore(log, found->offset, payload, block->records))
			return false;
		break;
	default: /* every reader skips unknown types (FORMAT 3.1) */
		break;
	}
	if (*err)
		return false;
	/* This version writes no blocks of unknown types, so it does not need their numbers. */
	if (known)
		log->number[block->type]++;
	log->at = found->end;
	return true;
}

/*
 * Searches for a valid DATA block behind the last block that was read. Returns EINVAL if there is
 * such a block, because the file is damaged. Also returns an error if a read fails or memory is
 * short: after an incomplete search, the truncation of the file could destroy events.
 */
static int find_data_beyond(const struct ptx_log *log, struct ptx_log_window *window)
{
	const uint64_t limit = log->at + SEARCH_BEYOND;
	struct ptx_log_found found;
	uint64_t at = log->at;
	const char *why;

	while (ptx_log_resync(window, at, limit, log->header->log_id, &found)) {
		const bool whole = ptx_log_payload(window, &found, &why) != NULL;

		if (whole && found.block.type == PTX_LOG_DATA)
			return EINVAL;
		/*
		 * If the block is invalid, the next header may be anywhere behind this header
		 * (FORMAT R7).
		 */
		at = whole ? found.end : found.offset + sizeof(found.block);
	}
	/* In these two cases the search is incomplete. */
	return window->no_memory ? ENOMEM : window->failed;
}

/*
 * Reads a sequence block after block, then truncates the file behind the last whole block. Returns
 * 0, ENOMEM, or an error of find_data_beyond().
 */
static int read_blocks(struct ptx_log *log, struct ptx_log_window *window,
		       struct ptx_log_tally *tally)
{
	struct ptx_log_found found;
	const char *why;
	int err = 0;

	/* log->at moves to the end of each block that was read. */
	while (ptx_log_find(window, log->at, UINT64_MAX, log->header->log_id, &found, &why) ==
		       PTX_LOG_GOOD &&
	       restore_block(log, window, &found, tally, &err))
		;
	if (!err)
		err = find_data_beyond(log, window);
	if (err)
		return err;
	ptx_log_block_begin(log);
	/* The file may end with bytes of an unfinished write, or with blocks of a tail. */
	/* If the truncation fails, ptx_log_complete() truncates the file later. */
	if (window->file_bytes > log->at)
		ptx_io_truncate(log->fd, log->at);
	return 0;
}

/* A slot with a valid block header. */
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
	uint32_t numbered; /* slots of the file, including those without a block */
};

/*
 * Orders by number. If two blocks have the same number, the block with more events is behind the
 * other block.
 */
static int by_number(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->records > y->records) - (x->records < y->records);
}

/*
 * Reads the block header in a slot. The block must end within the slot (FORMAT B5). The product
 * cannot overflow, because gather_slots() stops SLOTS_WITHOUT slots behind the last block. Returns
 * false if the slot has no DATA block with a valid header.
 */
static bool find_slot(const struct ptx_log *log, struct ptx_log_window *window, uint32_t slot,
		      struct ptx_log_found *found)
{
	uint64_t at = log->header->slots_offset + slot * log->header->slot_bytes;
	const char *why;

	return ptx_log_find(window, at, at + log->header->slot_bytes, log->header->log_id, found,
			    &why) == PTX_LOG_GOOD &&
	       found->block.type == PTX_LOG_DATA;
}

/*
 * Collects the headers of all slots, and sorts them. The search ends after SLOTS_WITHOUT slots
 * without a header, because writers skip no slot (FORMAT R6). Without this limit, a hostile header
 * could cause 2^32 reads. Returns 0 or ENOMEM.
 */
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
		/* The last slot with a block so far. */
		slots->numbered = i + 1;
		slots->slot[slots->count++] =
			(struct slot){ found.block.number, found.block.oldest,
				       found.block.first_record, i, found.block.records };
	}
	/* qsort() must not get a null pointer. */
	if (slots->count)
		qsort(slots->slot, slots->count, sizeof(*slots->slot), by_number);
	return 0;
}

/*
 * Returns the payload of a slot's block, or NULL if it is not valid. Two slots may have blocks with
 * the same number: an earlier and a later state of one block. The later state has more events, and
 * the caller tries it first (FORMAT R6).
 */
static const void *write_resume_whole(const struct ptx_log *log, struct ptx_log_window *window,
				      const struct slot *slot, struct ptx_log_found *found)
{
	const char *why;

	return find_slot(log, window, slot->slot, found) ? ptx_log_payload(window, found, &why)
							 : NULL;
}

/*
 * Adds the blocks that belong to the log, in the order of numbers. The newest valid block has the
 * number of the oldest block that belongs to the log (FORMAT R6). Damaged blocks are omitted, so
 * their events are missing (FORMAT W2). Returns 0 or an error of ptx_log_loop_restore().
 */
static int restore_slots(struct ptx_log *log, struct ptx_log_window *window, struct slots *slots,
			 struct ptx_log_tally *tally)
{
	struct ptx_log_found found;
	uint64_t oldest = UINT64_MAX;
	int err = 0;

	/*
	 * Finds the newest block with a valid payload. After a torn write, a valid header may have
	 * an invalid payload.
	 */
	for (size_t i = slots->count; i-- > 0 && oldest == UINT64_MAX;)
		if (write_resume_whole(log, window, &slots->slot[i], &found))
			/* Blocks with lower numbers do not belong to the log (FORMAT W4). */
			oldest = slots->slot[i].oldest;
	for (size_t i = 0; !err && i < slots->count; i++) {
		size_t best = i;
		const uint8_t *records = NULL;

		/* Moves i to the last slot with the same number, which has the most events. */
		while (i + 1 < slots->count &&
		       slots->slot[i + 1].number == slots->slot[best].number)
			i++;
		/*
		 * If the block is older than the oldest block of the log, its events count as
		 * overwritten, although the block is still in the file.
		 */
		if (slots->slot[i].number < oldest)
			continue;
		for (size_t j = i + 1; !records && j-- > best;)
			records = write_resume_whole(log, window, &slots->slot[j], &found);
		/*
		 * first_record must not decrease from block to block. So a block is skipped if its
		 * first_record is too small. A block is also skipped if the next block has a
		 * smaller first_record that agrees with the older blocks. A file with right
		 * checksums may still have forged counts.
		 */
		if (!records || found.block.first_record < log->block.first_record ||
		    (i + 1 < slots->count &&
		     slots->slot[i + 1].first_record >= log->block.first_record &&
		     slots->slot[i + 1].first_record < found.block.first_record))
			continue;
		ptx_log_tally_records(tally, records, found.block.record_bytes,
				      (const void *)(records + found.block.record_bytes));
		err = ptx_log_loop_restore(log, &found.block, records,
					   (uint32_t)((found.offset - log->header->slots_offset) /
						      log->header->slot_bytes));
	}
	return err;
}

/*
 * Adds the overwritten events to the tally, so that the guardian counts them as reported.
 * ptx_log_account() later moves them from reported to lost.
 */
static void add_overwritten(const struct ptx_log *log, struct ptx_log_tally *tally)
{
	const struct ptx_log_tally *overwritten = ptx_log_loop_overwritten(log);

	tally->events += overwritten->events;
	tally->type[0] += overwritten->events;
	tally->unattributed += overwritten->events;
}

/*
 * Reads a log of slots: first the areas for names and lists, and then the blocks that belong to the
 * log. Returns 0, ENOMEM, or an error of ptx_log_loop_restore().
 */
static int read_slots(struct ptx_log *log, struct ptx_log_window *window,
		      struct ptx_log_tally *tally)
{
	struct slots slots = { NULL, 0, 0, 0 };
	int err;

	err = gather_slots(log, window, &slots);
	if (!err)
		err = ptx_log_resume_beside(log, window, slots.count != 0);
	if (!err)
		err = restore_slots(log, window, &slots, tally);
	if (!err)
		err = ptx_log_loop_restore_end(log, slots.numbered);
	/* The log has its own list of the slots. */
	free(slots.slot);
	add_overwritten(log, tally);
	/*
	 * If memory was short, some slots may only seem to be damaged, so the result is an error.
	 */
	return !err && window->no_memory ? ENOMEM : err;
}

/*
 * Returns true if a log with this header can be continued. A log in a pipe has the state "streamed"
 * and cannot be continued.
 */
static bool can_continue(const struct ptx_log_header *header, bool reopen)
{
	const struct ptx_log_closing *closing = &header->closing;

	return !memcmp(closing->state, PTX_LOG_WRITING, sizeof(closing->state)) ||
	       (reopen && !memcmp(closing->state, PTX_LOG_CLOSED, sizeof(closing->state)));
}

/*
 * Returns true if the areas of the file are those that this writer creates for the same attributes.
 * In other areas, a names area or a slot could be too small for the blocks that this writer adds,
 * or the next slot could be at an offset that readers refuse (FORMAT W2). In a log of version 1.0,
 * the slots begin where this writer creates the lists area.
 */
static bool has_own_areas(const struct ptx_log_header *file, const struct ptx_log_header *own)
{
	if (file->names_offset != own->names_offset || file->names_bytes != own->names_bytes ||
	    file->slot_bytes != own->slot_bytes)
		return false;
	if (!file->lists_bytes)
		return file->slots_offset == own->lists_offset;
	return file->lists_offset == own->lists_offset && file->lists_bytes == own->lists_bytes &&
	       file->slots_offset == own->slots_offset;
}

/*
 * A log with the state "closed" is continued only if `reopen` is true. The header is copied from
 * the file, so uuid, log_id and areas are unchanged. ptx_log_new() checks the attributes in the
 * header and allocates the memory for them. After an error the caller still owns `fd`. The errors
 * are those of ptx_log_resume().
 */
static int resume_log(int fd, bool reopen, struct ptx_log **result, struct ptx_log_facts *facts,
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
	/* A file without a valid header has no log to continue (EINVAL). */
	bytes = ptx_log_window_at(&window, 0, sizeof(header));
	err = EINVAL;
	if (!bytes || ptx_log_decode_header(bytes, sizeof(header), &header, &why) != PTX_LOG_GOOD ||
	    !can_continue(&header, reopen))
		goto out;
	/*
	 * Without libzstd every compressed block would seem to be damaged, and the log would be
	 * truncated.
	 */
	err = ENOTSUP;
	if (header.flags_incompatible & PTX_LOG_COMPRESSED_LOG && !ptx_zstd_load())
		goto out;
	/* The caller continues the stream with these attributes. */
	ptx_log_decode_facts(&header, facts);
	err = ptx_log_new(facts, &nowhere, &log);
	if (err)
		goto out;
	/* The arrangement, the areas and the attributes come from fields of a hostile header. */
	if ((header.arrangement == PTX_LOG_SLOTS) != (log->loop != NULL) ||
	    (log->loop && !has_own_areas(&header, log->header))) {
		ptx_log_free(log);
		err = EINVAL;
		goto out;
	}
	/* The log keeps the identity of the dead writer's log. */
	*log->header = header;
	log->fd = fd;
	if (!ptx_file_identify(fd, &log->file)) {
		ptx_log_free(log);
		err = EBADF;
		goto out;
	}
	/* The state is not "streamed", so the log is in a regular file. */
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

int ptx_log_resume(int fd, struct ptx_log **result, struct ptx_log_facts *facts,
		   struct ptx_log_tally *tally)
{
	return resume_log(fd, false, result, facts, tally);
}

int ptx_log_reopen(int fd, struct ptx_log **result, struct ptx_log_facts *facts,
		   struct ptx_log_tally *tally)
{
	return resume_log(fd, true, result, facts, tally);
}

/*
 * A creator in another namespace of process ids cannot know the guardian's id, and stores zeros
 * (posix/guard_start.c).
 */
bool ptx_log_may_be_guarded_by(int fd, uint32_t pid, uint64_t start)
{
	struct ptx_log_closing closing;
	size_t got = 0;

	if (ptx_io_read_at(fd, &closing, sizeof(closing), PTX_LOG_CLOSING_AT, &got) ||
	    got < sizeof(closing) || !ptx_log_closing_is_valid(&closing) || !closing.guardian_pid)
		return true;
	return closing.guardian_pid == pid && (!start || closing.guardian_start == start);
}

bool ptx_log_has_uuid(int fd, const uint8_t *uuid)
{
	struct ptx_log_header header;
	size_t got = 0;

	return !ptx_io_read_at(fd, &header, sizeof(header), 0, &got) && got == sizeof(header) &&
	       !memcmp(header.magic, PTX_LOG_MAGIC, sizeof(header.magic)) &&
	       !memcmp(header.uuid, uuid, sizeof(header.uuid));
}
