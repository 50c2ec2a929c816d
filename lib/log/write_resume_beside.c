/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_resume_beside.c - the names areas and the lists area of a LOOP log whose writer was
 * killed.
 *
 * Blocks that remain in an area keep their numbers. The next block of a type gets the number after
 * the last number of this type in the area, as a check expects (log/read_beside.h). The guardian
 * handles parts that cannot be read as follows:
 *
 * - A names area is written again: all names are in memory.
 * - A last block of lists that is not whole is removed. It may be half written, and it is possible
 *   that no later block overwrites it.
 * - If the file ends within the areas, it is truncated behind the last whole block: when the file
 *   grows later, the bytes behind that block must not become part of another block.
 * - Any other damage in the lists area stays, because good blocks follow it. A reader does not read
 *   beyond the damage (FORMAT R6, R7), so no block is added to the area: the tail has all entries.
 */
#include "base/io.h"
#include "log/read_beside.h"
#include "log/writer.h"

/* The state of one pass over the areas; visitors have one argument. */
struct beside {
	struct ptx_log *log;
	struct ptx_log_window *window;
	/* The last block of lists that was visited: its offset, and whether it is invalid. */
	uint64_t last_at;
	bool last_is_invalid;
	bool is_damaged;
	uint64_t whole_end; /* behind the last whole block of the areas */
	int err;
};

/* Returns the payload if it is valid, else NULL, and moves whole_end behind a valid block. */
static const void *payload_of(struct beside *beside, const struct ptx_log_found *found)
{
	const char *why;
	const void *payload = found ? ptx_log_payload(beside->window, found, &why) : NULL;

	if (payload && found->end > beside->whole_end)
		beside->whole_end = found->end;
	return payload;
}

/*
 * Reads a NAMES block. The areas are visited with the older block first, so at the end log->names
 * has the newest names, and the next block goes to the other area (FORMAT N2).
 */
static void restore_names(void *arg, uint64_t at, const struct ptx_log_found *found,
			  const char *why)
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
	ptx_log_names_restore(log, &found->block, names);
	ptx_log_follow(log->number, &found->block);
	log->names.area = !area;
}

/* The first pass over lists only finds the last block and whether it is valid. */
static void find_last_block(void *arg, uint64_t at, const struct ptx_log_found *found,
			    const char *why)
{
	struct beside *beside = arg;

	(void)why;
	beside->last_at = at;
	beside->last_is_invalid = !payload_of(beside, found);
}

/*
 * Overwrites the header of an invalid last block with zeros, so that a reader's search ends there
 * and a new block can be written at its place. If a valid block of this log follows, the invalid
 * block is not the last one, and the damage stays (FORMAT W2). A failed write does no harm: the
 * block stays invalid.
 */
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

/*
 * The second pass reads the valid blocks up to the first damage. Behind the damage it only notes
 * the numbers of blocks, because the tail's blocks continue them (FORMAT N2). It does not add their
 * entries: no reader reads them (FORMAT R6), and without the damaged block the order of entries is
 * unknown.
 */
static void restore_lists(void *arg, uint64_t at, const struct ptx_log_found *found,
			  const char *why)
{
	struct beside *beside = arg;
	struct ptx_log *log = beside->log;
	const void *payload = payload_of(beside, found);

	(void)at;
	(void)why;
	if (!payload || found->block.number != log->number[found->block.type])
		beside->is_damaged = true;
	/* A block with a valid header has used its number, whatever its payload is. */
	if (found)
		ptx_log_follow(log->number, &found->block);
	if (beside->is_damaged || beside->err)
		return;
	switch (found->block.type) {
	case PTX_LOG_SCHEMAS:
		beside->err = ptx_log_schemas_restore(log, &found->block, payload);
		break;
	case PTX_LOG_OBJECTS:
		beside->err = ptx_log_objects_restore(log, &found->block, payload);
		break;
	default:
		beside->err = ptx_log_mappings_restore(log, &found->block, payload);
		break;
	}
	log->lists.at = found->end;
}

/*
 * If the file ends within the areas, truncates it behind its last whole block. Errors do no
 * harm.
 */
static void write_resume_beside_cut(struct beside *beside)
{
	const struct ptx_log *log = beside->log;

	if (ptx_log_check_file(log))
		return;
	ptx_io_truncate(log->fd, beside->whole_end);
	ptx_log_window_measure(beside->window);
	ptx_log_window_forget(beside->window);
}

/*
 * Both passes over the lists are necessary. After the first pass the last block may be removed or
 * truncated. Only then the offset for the next block is known. If both areas of names are damaged,
 * area 0 is written first.
 */
int ptx_log_resume_beside(struct ptx_log *log, struct ptx_log_window *window, bool has_events)
{
	const struct ptx_log_header *h = log->header;
	const uint64_t end = h->lists_offset + h->lists_bytes;
	struct beside beside = { .log = log, .window = window, .whole_end = h->names_offset };

	ptx_log_visit_names(window, h, has_events, restore_names, &beside);
	if (log->names.damaged)
		log->names.area = !(log->names.damaged & 1);
	log->lists.at = h->lists_offset;
	ptx_log_visit_lists(window, h, find_last_block, &beside);
	/*
	 * If the file ends before the first slot, no slot was written yet, so the truncation loses
	 * no events.
	 */
	if (window->file_bytes <= h->slots_offset && window->file_bytes > beside.whole_end)
		write_resume_beside_cut(&beside);
	else if (beside.last_is_invalid)
		remove_last(&beside, end);
	ptx_log_visit_lists(window, h, restore_lists, &beside);
	/* From here on the area counts as full: only the tail gets further blocks. */
	if (beside.is_damaged)
		log->lists.at = end;
	return beside.err;
}
