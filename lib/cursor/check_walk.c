/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/check_walk.c - from block to block, in a sequence and in slots.
 */
#include <string.h>

#include "cursor/check_private.h"

/*
 * Where no block follows. A writer that still is at work, or was killed, leaves its last block cut
 * short, or what an older file had there: nothing that it wrote is missing.
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

/* Blocks from offset to the end of the file, each where the one before it ends. */
static void walk(struct ptx_check *check, uint64_t offset)
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
			bool more = ptx_log_resync(window, offset + 8, UINT64_MAX, id, &found);

			if (!more && is_where_writing_stopped(check, verdict))
				break;
			ptx_check_fault(check, offset, (more ? found.offset : size) - offset,
					"%s%s", why, ended ? ", behind the END block" : "");
			check->damaged = check->damaged || !ended;
			if (!more)
				break;
		}
		ptx_check_block(check, &found);
		ended = ended || found.block.type == PTX_LOG_END;
		offset = found.end;
	}
}

void ptx_check_sequence(struct ptx_check *check)
{
	walk(check, PTX_LOG_HEADER_BYTES);
}

static void judge_beside(void *arg, uint64_t at, const struct ptx_log_found *found, const char *why)
{
	struct ptx_check *check = arg;
	const bool damaged = check->damaged;

	if (!found) {
		ptx_check_fault(check, at, 0, "%s", why);
		return;
	}
	/* How many blocks of names were overwritten is not known: the first has any number. */
	if (found->block.type == PTX_LOG_NAMES && !check->number[PTX_LOG_NAMES])
		check->number[PTX_LOG_NAMES] = found->block.number;
	ptx_check_block(check, found);
	/* Its events are not there, and its header is good: the counts must agree none the less. */
	check->damaged = damaged;
	ptx_log_follow(check->number, &found->block);
}

/* The tail begins behind the last slot; its first block is the first INDEX block, or TOP. */
static uint64_t tail(struct ptx_check *check)
{
	const struct ptx_stored *log = check->log;

	if (!log->complete)
		return log->window.file_bytes;
	return log->tops ? log->top[0].offset : log->tail;
}

void ptx_check_slots(struct ptx_check *check)
{
	const struct ptx_stored *log = check->log;
	struct ptx_log_found found;
	const char *why;

	ptx_stored_visit_beside(check->log, judge_beside, check);
	for (size_t i = 0; !check->err && i < log->slots; i++) {
		uint64_t at = log->slot[i].offset;

		if (ptx_log_find(&check->log->window, at, at + log->header.slot_bytes,
				 log->header.log_id, &found, &why) != PTX_LOG_GOOD ||
		    found.block.type != PTX_LOG_DATA) {
			ptx_check_fault(check, at, log->header.slot_bytes, "%s", why);
			check->damaged = true;
			continue;
		}
		if (!i) {
			check->number[PTX_LOG_DATA] = found.block.number;
			check->sum.overwritten = found.block.first_record;
		}
		ptx_check_block(check, &found);
	}
	walk(check, tail(check));
}
