/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_resume_beside.c - the names areas and the lists area of a LOOP log whose writer was
 * killed.
 *
 * Blocks that remain in an area keep their numbers, and the next block of their type has the number
 * behind the last of them, as a check expects it (log/read_beside.h). What cannot be read:
 *
 * - A names area is written again: all names are in memory.
 * - A last block of lists that is not whole is removed. It may be half written, and nothing may
 *   follow to overwrite it.
 * - If the file ends within the areas, it is cut behind the last whole block: a longer file must
 *   not make a block of the bytes behind that.
 * - Any other damage in the lists area stays, because good blocks follow it. A reader does not read
 *   beyond it (FORMAT R6, R7), so no block is added there: the tail has them all.
 */
#include "base/io.h"
#include "log/read_beside.h"
#include "log/writer.h"

struct beside {
	struct ptx_log *log;
	struct ptx_log_window *window;
	/* Of lists, the last block that was visited: where it is, and whether it is not whole. */
	uint64_t last_at;
	bool last_is_bad;
	bool is_damaged;
	uint64_t whole_end; /* behind the last whole block of the areas */
	int err;
};

static const void *payload_of(struct beside *beside, const struct ptx_log_found *found)
{
	const char *why;
	const void *payload = found ? ptx_log_payload(beside->window, found, &why) : NULL;

	if (payload && found->end > beside->whole_end)
		beside->whole_end = found->end;
	return payload;
}

static void take_names(void *arg, uint64_t at, const struct ptx_log_found *found, const char *why)
{
	struct beside *beside = arg;
	struct ptx_log *log = beside->log;
	const unsigned area = at != log->header->names_offset;
	const void *names = payload_of(beside, found);

	(void)why;
	if (!names) {
		log->names.damaged |= 1u << area;
		return;
	}
	ptx_log_names_take(log, &found->block, names);
	ptx_log_follow(log->number, &found->block);
	log->names.area = !area;
}

static void see_lists(void *arg, uint64_t at, const struct ptx_log_found *found, const char *why)
{
	struct beside *beside = arg;

	(void)why;
	beside->last_at = at;
	beside->last_is_bad = !payload_of(beside, found);
}

static void remove_last(struct beside *beside, uint64_t end)
{
	static const char nothing[sizeof(struct ptx_log_block)];
	const struct ptx_log *log = beside->log;
	struct ptx_log_found found;
	size_t done = 0;

	if (ptx_log_resync(beside->window, beside->last_at + 8, end, log->header->log_id,
			   &found) ||
	    ptx_log_check_file(log))
		return;
	ptx_io_write_at(log->fd, nothing, sizeof(nothing), beside->last_at, &done);
	ptx_log_window_forget(beside->window);
}

static void take_lists(void *arg, uint64_t at, const struct ptx_log_found *found, const char *why)
{
	struct beside *beside = arg;
	struct ptx_log *log = beside->log;
	const void *payload = payload_of(beside, found);

	(void)at;
	(void)why;
	if (!payload || found->block.number != log->number[found->block.type])
		beside->is_damaged = true;
	if (found)
		ptx_log_follow(log->number, &found->block);
	if (beside->is_damaged || beside->err)
		return;
	switch (found->block.type) {
	case PTX_LOG_SCHEMAS:
		beside->err = ptx_log_schemas_take(log, &found->block, payload);
		break;
	case PTX_LOG_OBJECTS:
		beside->err = ptx_log_objects_take(log, &found->block, payload);
		break;
	default:
		beside->err = ptx_log_mappings_take(log, &found->block, payload);
		break;
	}
	log->lists.at = found->end;
}

static void cut(struct beside *beside)
{
	const struct ptx_log *log = beside->log;

	if (ptx_log_check_file(log))
		return;
	ptx_io_truncate(log->fd, beside->whole_end);
	ptx_log_window_measure(beside->window);
	ptx_log_window_forget(beside->window);
}

int ptx_log_resume_beside(struct ptx_log *log, struct ptx_log_window *window, bool has_events)
{
	const struct ptx_log_header *h = log->header;
	const uint64_t end = h->lists_offset + h->lists_bytes;
	struct beside beside = { .log = log, .window = window, .whole_end = h->names_offset };

	ptx_log_visit_names(window, h, has_events, take_names, &beside);
	if (log->names.damaged)
		log->names.area = !(log->names.damaged & 1);
	log->lists.at = h->lists_offset;
	ptx_log_visit_lists(window, h, see_lists, &beside);
	if (window->file_bytes <= h->slots_offset && window->file_bytes > beside.whole_end)
		cut(&beside);
	else if (beside.last_is_bad)
		remove_last(&beside, end);
	ptx_log_visit_lists(window, h, take_lists, &beside);
	if (beside.is_damaged)
		log->lists.at = end;
	return beside.err;
}
