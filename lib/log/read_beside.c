/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log/read_beside.h"

bool ptx_log_is_cut(const struct ptx_log_window *window, uint64_t at)
{
	return at > window->file_bytes || window->file_bytes - at < sizeof(struct ptx_log_block);
}

/*
 * Of a names area: true if it begins with a good block of names. *damaged: it began with one
 * before.
 */
static bool find_names(struct ptx_log_window *window, const struct ptx_log_header *h, uint64_t at,
		       struct ptx_log_found *found, bool *damaged, const char **why)
{
	const enum ptx_log_verdict verdict =
		ptx_log_find(window, at, at + h->names_bytes, h->log_id, found, why);

	*damaged = verdict == PTX_LOG_DAMAGED || verdict == PTX_LOG_WRONG ||
		   (verdict == PTX_LOG_SHORT && !ptx_log_is_cut(window, at));
	if (verdict != PTX_LOG_GOOD || found->block.type == PTX_LOG_NAMES)
		return verdict == PTX_LOG_GOOD;
	*damaged = true;
	*why = "a block that is not of names stands in an area of names";
	return false;
}

/*
 * Blocks of names go to the areas in turn, so the older of two comes first here. A block with a
 * number above 0 follows one in the other area, and a writer writes names before events.
 */
void ptx_log_visit_names(struct ptx_log_window *window, const struct ptx_log_header *h,
			 bool has_events, ptx_log_visit *visit, void *arg)
{
	const uint64_t at[2] = { h->names_offset, h->names_offset + h->names_bytes };
	const char *why[2] = { NULL, NULL };
	struct ptx_log_found found[2];
	bool good[2], damaged[2];
	int first;

	for (int area = 0; area < 2; area++)
		good[area] = find_names(window, h, at[area], &found[area], &damaged[area],
					&why[area]);
	/* The numbers of a hostile log may be so great that the next one begins again with 0. */
	first = good[0] && good[1] &&
		(int64_t)(found[1].block.number - found[0].block.number) < 0;
	for (int i = 0; i < 2; i++) {
		const int area = i ? !first : first;

		if (good[area])
			visit(arg, at[area], &found[area], NULL);
		else if (damaged[area] ||
			 (!ptx_log_is_cut(window, at[area]) &&
			  (good[!area] ? found[!area].block.number > 0 :
					 !i && !damaged[!area] && has_events)))
			visit(arg, at[area], NULL, why[area]);
	}
}

/*
 * Blocks follow each other without a gap; the bytes behind the last one are no block of this log.
 */
void ptx_log_visit_lists(struct ptx_log_window *window, const struct ptx_log_header *h,
			 ptx_log_visit *visit, void *arg)
{
	uint64_t at = h->lists_offset, end = at + h->lists_bytes;
	struct ptx_log_found found, next;
	enum ptx_log_verdict verdict;
	const char *why;

	while (at < end && end - at >= sizeof(found.block) && !ptx_log_is_cut(window, at)) {
		verdict = ptx_log_find(window, at, end, h->log_id, &found, &why);
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
		if (ptx_log_resync(window, at + 8, end, h->log_id, &next)) {
			visit(arg, at, NULL, why);
			at = next.offset;
			continue;
		}
		if (verdict != PTX_LOG_NO_MAGIC && verdict != PTX_LOG_FOREIGN)
			visit(arg, at, NULL, why);
		return;
	}
}
