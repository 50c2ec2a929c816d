/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_damage.c - counts the damaged parts of a log.
 *
 * In a sequence the cursor passes every block, so it counts the damaged blocks on its way. In a log
 * of slots (policy LOOP), the cursor reads only the slots. It reads neither the areas for names and
 * lists before the slots nor the tail behind the slots. So this file reads the areas and the tail
 * when the cursor has reached the end. The blocks of each type are numbered, so a missing number
 * shows that a block is missing.
 */
#include "cursor/stored_private.h"

/* The state of one pass over the areas and the tail. */
struct survey {
	struct ptx_stored *stored;
	uint64_t next[PTX_LOG_TYPES]; /* the number that the next block of each type should have */
	uint64_t parts;
};

/*
 * A damaged payload and a missing number count as one part each. The number of a DATA block is not
 * compared, because the cursor has read the DATA blocks.
 */
static void survey_block(struct survey *survey, const struct ptx_log_found *found)
{
	const unsigned type = found->block.type;
	const char *why;

	survey->parts += ptx_log_payload(&survey->stored->window, found, &why) == NULL;
	if (type < PTX_LOG_NAMES || type >= PTX_LOG_TYPES)
		return;
	survey->parts += found->block.number != survey->next[type];
	ptx_log_follow(survey->next, &found->block);
}

/*
 * Examines one block of the areas. Earlier NAMES blocks were overwritten, so the first NAMES block
 * may have any number (FORMAT N2).
 */
static void survey_beside(void *arg, uint64_t at, const struct ptx_log_found *found,
			  const char *why)
{
	struct survey *survey = arg;

	(void)at;
	(void)why;
	if (!found) {
		survey->parts++;
		return;
	}
	if (found->block.type == PTX_LOG_NAMES && !survey->next[PTX_LOG_NAMES])
		survey->next[PTX_LOG_NAMES] = found->block.number;
	survey_block(survey, found);
}

/*
 * Visits the tail from its first INDEX block to END. Each block begins where the previous block
 * ends. A damaged block header counts as one part and ends the visit, because it does not show
 * where the next block begins.
 */
static void survey_tail(struct survey *survey)
{
	struct ptx_stored *stored = survey->stored;
	uint64_t at = stored->tops ? stored->top[0].offset : stored->tail;
	struct ptx_log_found found;
	const char *why;

	for (; at <= stored->data_end; at = found.end) {
		if (ptx_log_find(&stored->window, at, UINT64_MAX, stored->header.log_id, &found,
				 &why) != PTX_LOG_GOOD) {
			survey->parts++;
			return;
		}
		survey_block(survey, &found);
	}
}

/*
 * Damage of the header and of its closing area is always counted. Each call reads the areas and the
 * tail again. The cost does not matter, because programs call the function once, at the end.
 */
uint64_t ptx_stored_damaged_parts(struct ptx_stored *stored)
{
	uint64_t parts = stored->damaged_parts +
			 !ptx_log_closing_is_valid(&stored->header.closing) +
			 (stored->header_damage != NULL);
	struct survey survey = { .stored = stored };

	/*
	 * At the end of the log the cursor does not need its window any more, so the code below may
	 * move the window.
	 */
	if (!stored->ended || ptx_stored_is_sequence(stored) || stored->live)
		return parts;
	ptx_stored_visit_beside(stored, survey_beside, &survey);
	if (stored->complete)
		survey_tail(&survey);
	return parts + survey.parts;
}
