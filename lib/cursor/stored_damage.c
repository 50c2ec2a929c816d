/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored_damage.c - how much of a log is damaged, as far as it was read.
 *
 * In a sequence a reader of events passes every block. In slots it passes neither what stands
 * beside them nor the tail, so both are read when the end was reached. Their blocks are numbered:
 * where a number is left out, a block was there.
 */
#include "cursor/stored_private.h"

struct survey {
	struct ptx_stored *stored;
	uint64_t next[PTX_LOG_TYPES]; /* the number expected of the next block of a type */
	uint64_t parts;
};

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

/* From the index to END, each block where the one before it ends. */
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

uint64_t ptx_stored_damaged_parts(struct ptx_stored *stored)
{
	uint64_t parts = stored->damaged_parts +
			 !ptx_log_closing_is_valid(&stored->header.closing) +
			 (stored->header_damage != NULL);
	struct survey survey = { .stored = stored };

	/* Where the end was reached, the window has no block that is being read. */
	if (!stored->ended || ptx_stored_is_sequence(stored) || stored->live)
		return parts;
	ptx_stored_visit_beside(stored, survey_beside, &survey);
	if (stored->complete)
		survey_tail(&survey);
	return parts + survey.parts;
}
