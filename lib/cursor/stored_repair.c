/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_repair.c - salvages a log whose header is damaged (rule R8 of log/FORMAT 6).
 *
 * Blocks cannot be read without three facts of the header: the id of the log, the arrangement
 * (sequence or slots), and the places of the slots. The blocks show the same facts. Each block has
 * the id. In a sequence the first block is behind the header, and each other block begins where the
 * previous block ends. Slots are at equal distances. So this file uses a fact of the damaged header
 * only if the blocks agree with it.
 */
#include <string.h>

#include "cursor/stored_private.h"

#define SECTOR 512u

/* Properties of all blocks of the log. */
struct survey {
	size_t adjacent; /* DATA and NAMES blocks with another block directly behind them */
	/*
	 * DATA and NAMES blocks without another block directly behind them, and one more if no
	 * block is directly behind the header
	 */
	size_t apart;
	/*
	 * each DATA block, and each NAMES block before the first DATA block, is at a place that the
	 * header permits: in a slot or an area
	 */
	bool fits;
	uint64_t first;  /* offset of the first DATA block; 0: there is none */
	/* greatest common divisor of the distances from `first` to the other DATA blocks */
	uint64_t stride;
	uint64_t longest; /* length of the longest DATA block */
	uint64_t names;  /* offset of a block of names that is not directly behind the header */
};

/*
 * Returns the header's id if some block has this id or if no block is valid; otherwise the id of
 * the first valid block. For a block with another id the function also checks the payload, because
 * bytes that look like the header of a block may be the data of an event.
 */
static uint64_t find_id(struct ptx_stored *stored)
{
	struct ptx_log_window *window = &stored->window;
	uint64_t offset = PTX_LOG_HEADER_BYTES;
	struct ptx_log_found found;
	const char *why;

	if (ptx_log_resync(window, offset, UINT64_MAX, stored->header.log_id, &found))
		return stored->header.log_id;
	for (; ptx_log_resync_any(window, offset, UINT64_MAX, &found); offset = found.offset + 8)
		if (ptx_log_payload(window, &found, &why))
			return found.block.log_id;
	return stored->header.log_id;
}

/*
 * Euclid's algorithm. If `a` is 0, the result is `b`. So the stride, which is 0 at first, becomes
 * the first distance that is not 0.
 */
static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * Notes a DATA block: updates the common divisor of the distances, and compares the place of the
 * block with the header's slots. While `fits` is true, slot_bytes is not 0, since
 * ptx_log_check_areas() has accepted the areas.
 */
static void note_data(struct survey *survey, const struct ptx_log_header *h,
		      const struct ptx_log_found *found)
{
	uint64_t len = found->end - found->offset;

	if (!survey->first)
		survey->first = found->offset;
	survey->stride = common_divisor(survey->stride, found->offset - survey->first);
	if (len > survey->longest)
		survey->longest = len;
	if (survey->fits && (found->offset < h->slots_offset || len > h->slot_bytes ||
			     (found->offset - h->slots_offset) % h->slot_bytes))
		survey->fits = false;
}

/*
 * Notes a NAMES block before the first DATA block: in a log of slots, such a block is in one of the
 * two areas for names. Later NAMES blocks belong to the tail, so they are ignored.
 */
static void note_names(struct survey *survey, const struct ptx_log_header *h,
		       const struct ptx_log_found *found)
{
	if (survey->first)
		return;
	if (found->offset > PTX_LOG_HEADER_BYTES)
		survey->names = found->offset;
	if (survey->fits && found->offset < h->slots_offset &&
	    found->offset != h->names_offset && found->offset != h->names_offset + h->names_bytes)
		survey->fits = false;
}

/*
 * Visits all blocks with the id of the log. In a sequence each block is directly behind the
 * previous block. In a log of slots, there is usually free room behind a block. Damage affects only
 * few pairs of neighbours, so the majority of the pairs decides (FORMAT R8).
 */
static void survey_blocks(struct ptx_stored *stored, struct survey *survey)
{
	const struct ptx_log_header *h = &stored->header;
	uint64_t offset = PTX_LOG_HEADER_BYTES;
	struct ptx_log_found found;
	bool follows_counted = false; /* the previous block is a DATA or NAMES block */
	const char *why;

	memset(survey, 0, sizeof(*survey));
	survey->fits = h->arrangement == PTX_LOG_SLOTS && !ptx_log_check_areas(h);
	for (;; offset = found.end) {
		bool adjacent = ptx_log_find(&stored->window, offset, UINT64_MAX, h->log_id,
					     &found, &why) == PTX_LOG_GOOD;

		if (!adjacent && !ptx_log_resync(&stored->window, offset, UINT64_MAX, h->log_id,
						 &found))
			break;
		if (adjacent)
			survey->adjacent += follows_counted;
		else if (follows_counted || offset == PTX_LOG_HEADER_BYTES)
			survey->apart++;
		/*
		 * The blocks of the tail, apart from NAMES, do not count: they follow each other
		 * directly in both arrangements, so they show no difference.
		 */
		follows_counted = found.block.type == PTX_LOG_DATA ||
				  found.block.type == PTX_LOG_NAMES;
		if (found.block.type == PTX_LOG_DATA)
			note_data(survey, h, &found);
		else if (found.block.type == PTX_LOG_NAMES)
			note_names(survey, h, &found);
	}
}

/*
 * Returns true if the log is a sequence: most blocks are directly behind each other. Damage can
 * separate many blocks of a sequence. The function recognizes such a sequence in two cases: if the
 * common divisor of the distances is less than the longest block, or if the areas that
 * place_areas() has derived are impossible.
 */
static bool is_sequence(const struct ptx_log_header *h, const struct survey *survey)
{
	return survey->adjacent > survey->apart ||
	       (survey->stride && survey->stride < survey->longest) || ptx_log_check_areas(h);
}

/*
 * Derives the areas from the places of the blocks. The lists area is not used: only the damaged
 * header has its place, and the events can be read without the lists. The distance of the slots may
 * be a multiple of the real one, because a reader needs only slots with a block. If there is a
 * single DATA block, there is no distance, and the length of that block is used instead.
 */
static void place_areas(struct ptx_log_header *h, const struct survey *survey)
{
	h->names_offset = PTX_LOG_HEADER_BYTES;
	h->lists_offset = h->lists_bytes = 0;
	if (survey->names)
		h->names_bytes = survey->names - PTX_LOG_HEADER_BYTES;
	else
		h->names_bytes = (survey->first - PTX_LOG_HEADER_BYTES) / 2 & ~UINT64_C(7);
	h->slots_offset = survey->first;
	h->slot_bytes = survey->stride;
	if (!survey->stride)
		h->slot_bytes = (survey->longest + SECTOR - 1) & ~(uint64_t)(SECTOR - 1);
}

/*
 * During the survey the arrangement is set to slots, so that the survey compares the header's areas
 * with the blocks. If all blocks are at places that these areas permit, the arrangement stays, and
 * otherwise the function sets the arrangement that the blocks show. ptx_log_repair_header()
 * replaces the other fields of the header that are impossible.
 */
void ptx_stored_repair(struct ptx_stored *stored)
{
	struct ptx_log_header *h = &stored->header;
	struct survey survey;

	h->log_id = find_id(stored);
	h->arrangement = PTX_LOG_SLOTS;
	survey_blocks(stored, &survey);
	if (!survey.fits) {
		place_areas(h, &survey);
		if (is_sequence(h, &survey))
			h->arrangement = PTX_LOG_SEQUENCE;
	}
	ptx_log_repair_header(h);
}
