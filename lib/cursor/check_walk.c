/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/check_walk.c - visits all blocks of a log that is checked, in both arrangements.
 *
 * In a sequence the visit does not use the index: it looks for each block where the previous block
 * ends. If no valid block is there, the visit searches for the next block and reports the bytes
 * between, so that a fault has an offset and a length. stored_private.h explains the words of
 * log/FORMAT, such as sequence, slot and tail.
 */
#include <string.h>

#include "cursor/check_private.h"

/*
 * Called where no valid block follows. Returns true if this is no fault, because the writer still
 * works or was killed: the last block may be unfinished, or bytes of an older file may follow it.
 * Returns false if the log was completed or closed. A wrong checksum is no fault only while the
 * writer works: a writer that was killed leaves no block with a wrong checksum.
 */
static bool is_where_writing_stopped(const struct ptx_check *check, enum ptx_log_verdict verdict)
{
	const struct ptx_log_closing *closing = &check->log->header.closing;

	if (check->log->live)
		return true;
	if (check->log->complete || (ptx_log_closing_is_valid(closing) &&
				     !memcmp(closing->state, PTX_LOG_CLOSED,
					     sizeof(closing->state))))
		return false;
	return verdict == PTX_LOG_SHORT || verdict == PTX_LOG_NO_MAGIC ||
	       verdict == PTX_LOG_FOREIGN;
}

/*
 * Visits the blocks from `offset` to the end of the file. Each block begins where the previous
 * block ends. Bytes behind END are a fault (FORMAT E1), but do not count as damage of the log. Each
 * round moves `offset` forward, because a block has at least its header, so the loop ends.
 */
static void check_blocks_from(struct ptx_check *check, uint64_t offset)
{
	struct ptx_log_window *window = &check->log->window;
	const uint64_t id = check->log->header.log_id;
	uint64_t size = window->file_bytes;
	struct ptx_log_found found;
	bool ended = false;
	const char *why;

	while (!check->err && offset < size) {
		enum ptx_log_verdict verdict =
			ptx_log_find(window, offset, UINT64_MAX, id, &found, &why);

		if (verdict != PTX_LOG_GOOD) {
			/*
			 * FORMAT R7: searches for the next multiple of 8 with a valid header of
			 * this log.
			 */
			bool more = ptx_log_resync(window, offset + 8, UINT64_MAX, id, &found);

			if (!more && is_where_writing_stopped(check, verdict))
				break;
			ptx_check_fault(check, offset, (more ? found.offset : size) - offset,
					"%s%s", why, ended ? ", behind the END block" : "");
			/* Readers need no block behind END, so damage there does not count. */
			check->damaged = check->damaged || !ended;
			if (!more)
				break;
		}
		ptx_check_block(check, &found);
		ended = ended || found.block.type == PTX_LOG_END;
		offset = found.end;
	}
}

/* The first block of a sequence is directly behind the header (FORMAT 2). */
void ptx_check_sequence(struct ptx_check *check)
{
	check_blocks_from(check, PTX_LOG_HEADER_BYTES);
}

/*
 * Checks a block of the names areas or of the lists area. The parameter `found` is NULL if a block
 * is missing; `why` is then the reason.
 */
static void judge_beside(void *arg, uint64_t at, const struct ptx_log_found *found, const char *why)
{
	struct ptx_check *check = arg;
	const bool damaged = check->damaged;

	if (!found) {
		ptx_check_fault(check, at, 0, "%s", why);
		return;
	}
	/*
	 * Earlier blocks of names were overwritten, so the first block here may have any number.
	 * The numbers of the other types begin with 0.
	 */
	if (found->block.type == PTX_LOG_NAMES && !check->number[PTX_LOG_NAMES])
		check->number[PTX_LOG_NAMES] = found->block.number;
	ptx_check_block(check, found);
	/*
	 * Damage in this block must not set check->damaged. The block has no events, and its number
	 * is in its valid header, so all other counts must still agree.
	 */
	check->damaged = damaged;
	ptx_log_follow(check->number, &found->block);
}

/*
 * Returns the offset of the tail, which is behind the last slot. The first block of the tail is the
 * first INDEX block, or TOP if the log has no events. A log that is not complete has no tail.
 */
static uint64_t tail_offset(struct ptx_check *check)
{
	const struct ptx_stored *log = check->log;

	if (!log->complete)
		return log->window.file_bytes;
	return log->tops ? log->top[0].offset : log->tail;
}

/*
 * Checks the areas first, since the blocks of the tail continue the numbers of the blocks in the
 * areas (FORMAT N2). Then the function checks the DATA blocks that belong to the log, in the order
 * of their numbers. ptx_stored_open() has made the list of these blocks. Other slots do not belong
 * to the log (FORMAT 2). The function checks the tail last.
 */
void ptx_check_slots(struct ptx_check *check)
{
	const struct ptx_stored *log = check->log;
	struct ptx_log_found found;
	bool begun = false;
	const char *why;

	ptx_stored_visit_beside(check->log, judge_beside, check);
	for (size_t i = 0; !check->err && i < log->slots; i++) {
		uint64_t at = log->slot[i].offset;

		if (ptx_log_find(&check->log->window, at, at + log->header.slot_bytes,
				 log->header.log_id, &found, &why) == PTX_LOG_GOOD &&
		    found.block.type != PTX_LOG_DATA)
			why = "a slot holds another block than it should";
		/*
		 * The list was made from the index or from the headers of the blocks, so a DATA
		 * block must be here. `why` is NULL if one is here.
		 */
		if (why) {
			ptx_check_fault(check, at, log->header.slot_bytes, "%s", why);
			check->damaged = true;
			continue;
		}
		/*
		 * The first block of the list is the oldest block. The comparison of numbers
		 * (FORMAT D3) begins with its number and its first_record, or with those of the
		 * first intact block.
		 */
		if (!begun) {
			begun = true;
			check->number[PTX_LOG_DATA] = found.block.number;
			check->sum.overwritten = found.block.first_record;
			check->next_record = found.block.first_record;
		}
		ptx_check_block(check, &found);
	}
	check_blocks_from(check, tail_offset(check));
}
