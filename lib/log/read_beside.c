/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_beside.c - finds the blocks in the names areas and the lists area of a log of slots, and
 * notices missing blocks.
 *
 * The areas are written in place, so they may have remains of an older log in the file. Such
 * remains are no damage: they have another log_id (FORMAT B4), or no magic. An invalid block of
 * this log is damage, and the visitor gets its offset and the reason.
 */
#include "log/read_beside.h"

bool ptx_log_is_cut(const struct ptx_log_window *window, uint64_t at)
{
	return at > window->file_bytes || window->file_bytes - at < sizeof(struct ptx_log_block);
}

/*
 * Returns true if a names area begins with a valid NAMES block. Otherwise *damaged becomes true in
 * two cases: the area begins with a valid block of another type, or with the magic of a block that
 * is not valid or cannot be read. If the file ends before the end of the block's header, the area
 * is incomplete and not damaged.
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
	*why = "an area of names has another block";
	return false;
}

/*
 * The writer alternates between the areas (FORMAT N2). So if a block has a number above 0, the
 * block before it was written to the other area, and that area must not be empty. The block with
 * number 0 is the first block. If both areas are invalid and the log has events, a block is
 * missing, because the writer writes names before events. Each damaged area is reported. If no area
 * is damaged, the missing block is reported once.
 */
void ptx_log_visit_names(struct ptx_log_window *window, const struct ptx_log_header *h,
			 bool has_events, ptx_log_visit *visit, void *arg)
{
	/* Both areas are read before the first visit: the order of the visits depends on both. */
	const uint64_t at[2] = { h->names_offset, h->names_offset + h->names_bytes };
	const char *why[2] = { NULL, NULL };
	struct ptx_log_found found[2];
	bool good[2], damaged[2];
	int first;

	for (int area = 0; area < 2; area++)
		good[area] = find_names(window, h, at[area], &found[area], &damaged[area],
					&why[area]);
	/*
	 * The numbers are compared by their signed difference, because in a hostile log they may
	 * wrap around.
	 */
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
 * Blocks follow each other without a gap, and the area may end with bytes that are no block of this
 * log. So an invalid header usually means the end of the lists. It means damage in two cases: a
 * valid block of this log follows, or the header has the magic of a block and is not a valid header
 * of another log.
 */
void ptx_log_visit_lists(struct ptx_log_window *window, const struct ptx_log_header *h,
			 ptx_log_visit *visit, void *arg)
{
	uint64_t at = h->lists_offset, end = at + h->lists_bytes;
	struct ptx_log_found found, next;
	enum ptx_log_verdict verdict;
	const char *why;

	while (at < end && end - at >= sizeof(found.block) && !ptx_log_is_cut(window, at)) {
		/* FORMAT B5: a block must end within the area. */
		verdict = ptx_log_find(window, at, end, h->log_id, &found, &why);
		if (verdict == PTX_LOG_GOOD &&
		    (found.block.type < PTX_LOG_SCHEMAS || found.block.type > PTX_LOG_MAPPINGS)) {
			verdict = PTX_LOG_WRONG;
			why = "the area of lists has another block";
		}
		if (verdict == PTX_LOG_GOOD) {
			visit(arg, at, &found, NULL);
			at = found.end;
			continue;
		}
		/*
		 * If a valid block follows, the damage is in the middle of the lists. It is
		 * reported once, and the visit continues with the valid block.
		 */
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
