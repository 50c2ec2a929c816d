/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_beside.c - the two names areas and the lists area of a log of slots.
 *
 * A completed log repeats in its tail what these areas hold, so a reader of events never needs
 * them. They serve readers of a log that was cut. Damage there must be reported while the tail
 * still has everything.
 *
 * What an area may hold besides blocks of this log is what the file held before the log began:
 * anything, but no block header of this log. A writer that is killed leaves at most one block half
 * written. No reader can tell that block from damage; the process that completes the log removes
 * it (log/write_resume.c).
 */
#include "cursor/stored_private.h"

/*
 * Whether the file ends before a block at this offset: a log that was cut, or has no blocks
 * there yet.
 */
static bool is_cut(const struct ptx_stored *stored, uint64_t at)
{
	return at > stored->window.file_bytes ||
	       stored->window.file_bytes - at < sizeof(struct ptx_log_block);
}

/*
 * Of a names area: true if a good block of names stands there. *damaged: what stands there was
 * one.
 */
static bool find_names(struct ptx_stored *stored, uint64_t at, struct ptx_log_found *found,
		       bool *damaged, const char **why)
{
	const struct ptx_log_header *h = &stored->header;
	enum ptx_log_verdict verdict =
		ptx_log_find(&stored->window, at, at + h->names_bytes, h->log_id, found, why);

	*damaged = verdict == PTX_LOG_DAMAGED || verdict == PTX_LOG_WRONG ||
		   (verdict == PTX_LOG_SHORT && !is_cut(stored, at));
	if (verdict != PTX_LOG_GOOD || found->block.type == PTX_LOG_NAMES)
		return verdict == PTX_LOG_GOOD;
	*damaged = true;
	*why = "a block that is not of names stands in an area of names";
	return false;
}

/*
 * Blocks of names go to the areas in turn, so the older of two comes first here. A block with a
 * number above 0 follows one that stands in the other area, and a writer writes names before
 * events.
 */
static void visit_names(struct ptx_stored *stored, ptx_stored_visit *visit, void *arg)
{
	const struct ptx_log_header *h = &stored->header;
	uint64_t at[2] = { h->names_offset, h->names_offset + h->names_bytes };
	const char *why[2] = { NULL, NULL };
	struct ptx_log_found found[2];
	bool good[2], damaged[2];
	int first;

	for (int area = 0; area < 2; area++)
		good[area] = find_names(stored, at[area], &found[area], &damaged[area], &why[area]);
	first = good[0] && good[1] && found[1].block.number < found[0].block.number;
	for (int i = 0; i < 2; i++) {
		const int area = i ? !first : first;

		if (good[area])
			visit(arg, at[area], &found[area], NULL);
		else if (damaged[area] ||
			 (!is_cut(stored, at[area]) &&
			  (good[!area] ? found[!area].block.number > 0 :
					 !i && !damaged[!area] && stored->slots)))
			visit(arg, at[area], NULL, why[area]);
	}
}

/*
 * Blocks follow each other without a gap; what stands behind the last one is no block of this
 * log.
 */
static void visit_lists(struct ptx_stored *stored, ptx_stored_visit *visit, void *arg)
{
	const struct ptx_log_header *h = &stored->header;
	uint64_t at = h->lists_offset, end = at + h->lists_bytes;
	struct ptx_log_found found, next;
	enum ptx_log_verdict verdict;
	const char *why;

	while (at < end && end - at >= sizeof(found.block) && !is_cut(stored, at)) {
		verdict = ptx_log_find(&stored->window, at, end, h->log_id, &found, &why);
		if (verdict == PTX_LOG_GOOD &&
		    (found.block.type < PTX_LOG_SCHEMAS || found.block.type > PTX_LOG_MAPPINGS)) {
			verdict = PTX_LOG_WRONG;
			why = "a block that is not of lists stands in the area of lists";
		}
		if (verdict == PTX_LOG_GOOD) {
			visit(arg, at, &found, NULL);
			at = found.end;
			continue;
		}
		if (ptx_log_resync(&stored->window, at + 8, end, h->log_id, &next)) {
			visit(arg, at, NULL, why);
			at = next.offset;
			continue;
		}
		if (verdict != PTX_LOG_NO_MAGIC && verdict != PTX_LOG_FOREIGN)
			visit(arg, at, NULL, why);
		return;
	}
}

void ptx_stored_visit_beside(struct ptx_stored *stored, ptx_stored_visit *visit, void *arg)
{
	visit_names(stored, visit, arg);
	visit_lists(stored, visit, arg);
}
