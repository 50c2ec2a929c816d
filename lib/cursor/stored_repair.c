/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_repair.c - salvage of a log whose header is damaged (FORMAT 6, R8).
 *
 * The header says three things that the blocks cannot be read without: the id of the log, how
 * the blocks are arranged, and where the slots are. The blocks tell the same: each has the id; in
 * a sequence one begins where the other ends, and the first where the header ends; in slots they
 * stand at equal distances. So what a header says is believed as far as the blocks agree.
 */
#include <string.h>

#include "cursor/stored_private.h"

#define SECTOR 512u

/* What the blocks of the log have in common. */
struct survey {
	size_t adjacent; /* blocks, of DATA and names, with another one right behind them */
	size_t apart;    /* and without */
	bool fits;       /* all stand where the areas in the header want them */
	uint64_t first;  /* offset of the first DATA block, 0 none */
	uint64_t stride; /* greatest common divisor of the distances from it to the others */
	uint64_t longest;
	uint64_t names;  /* offset of a second block of names, before the first DATA block */
};

/* The header's, if there is a block of it; else that of the first block which is sound. */
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

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

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

/* Those behind the first DATA block are of the tail, which is found by its end. */
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

static void look(struct ptx_stored *stored, struct survey *survey)
{
	const struct ptx_log_header *h = &stored->header;
	uint64_t offset = PTX_LOG_HEADER_BYTES;
	struct ptx_log_found found;
	bool counts = false;
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
			survey->adjacent += counts;
		else if (counts || offset == PTX_LOG_HEADER_BYTES)
			survey->apart++;
		/* The tail is in one piece in any log: it tells nothing. */
		counts = found.block.type == PTX_LOG_DATA || found.block.type == PTX_LOG_NAMES;
		if (found.block.type == PTX_LOG_DATA)
			note_data(survey, h, &found);
		else if (found.block.type == PTX_LOG_NAMES)
			note_names(survey, h, &found);
	}
}

/* What breaks a sequence may be damage; but then the blocks do not fit in with equal distances. */
static bool is_sequence(const struct ptx_log_header *h, const struct survey *survey)
{
	return survey->adjacent > survey->apart ||
	       (survey->stride && survey->stride < survey->longest) || ptx_log_check_areas(h);
}

/* Where the areas must be, from where the blocks are. Slots in which none stands do not matter. */
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

void ptx_stored_repair(struct ptx_stored *stored)
{
	struct ptx_log_header *h = &stored->header;
	struct survey survey;

	h->log_id = find_id(stored);
	h->arrangement = PTX_LOG_SLOTS;
	look(stored, &survey);
	if (!survey.fits) {
		place_areas(h, &survey);
		if (is_sequence(h, &survey))
			h->arrangement = PTX_LOG_SEQUENCE;
	}
	ptx_log_repair_header(h);
}
