/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/ledger_part.c - sums and differences of ledgers, for a stream whose events are in several
 * logs, one after the other.
 *
 * The difference of two totals is exact, because counts only grow. The lines need not agree: a
 * writer counts a loss by type before it counts the loss by thread, and a guardian does not know
 * the types and threads of losses that the killed reader has counted. So a column of a line may be
 * less than in an earlier ledger. Then the same events are in other lines, from which they are
 * subtracted.
 */
#include "record/ledger.h"

/*
 * Subtracts `part` from the column, as far as the column suffices, and adds the rest to `missing`.
 */
static void take_column(uint64_t *column, uint64_t part, uint64_t *missing)
{
	const uint64_t taken = part < *column ? part : *column;

	*column -= taken;
	*missing += part - taken;
}

static void take_line(struct ptx_ledger_line *line, const struct ptx_ledger_line *part,
		      struct ptx_ledger_line *missing)
{
	take_column(&line->reported, part->reported, &missing->reported);
	take_column(&line->unread, part->unread, &missing->unread);
	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		take_column(&line->lost[cause], part->lost[cause], &missing->lost[cause]);
}

/*
 * Subtracts from the line the events that were missing in other lines, as far as this line has so
 * many.
 */
static void take_missing(struct ptx_ledger_line *line, struct ptx_ledger_line *missing)
{
	const struct ptx_ledger_line part = *missing;

	*missing = (struct ptx_ledger_line){ 0 };
	take_line(line, &part, missing);
}

static void take_types(struct ptx_ledger *ledger, const struct ptx_ledger *part)
{
	struct ptx_ledger_line missing = { 0 };

	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		take_line(&ledger->type[type], &part->type[type], &missing);
	/* The loop begins with type 0, which has the events of no known type. */
	for (unsigned type = 0; type < PTX_TYPE_MAX && ptx_ledger_sum(&missing); type++)
		take_missing(&ledger->type[type], &missing);
}

static void take_threads(struct ptx_ledger *ledger, const struct ptx_ledger *part)
{
	struct ptx_ledger_line missing = { 0 };

	for (size_t i = 0; i < part->threads; i++) {
		const struct ptx_ledger_thread *from = &part->thread[i];

		take_line(ptx_ledger_thread(ledger, from->pid, from->tid, from->thread),
			  &from->line, &missing);
	}
	take_missing(ptx_ledger_thread(ledger, 0, 0, 0), &missing);
	for (size_t i = 0; i < ledger->threads && ptx_ledger_sum(&missing); i++)
		take_missing(&ledger->thread[i].line, &missing);
}

void ptx_ledger_subtract(struct ptx_ledger *ledger, const struct ptx_ledger *part)
{
	struct ptx_ledger_line missing = { 0 };

	take_column(&ledger->total.called, part->total.called, &missing.called);
	take_line(&ledger->total, &part->total, &missing);
	take_types(ledger, part);
	take_threads(ledger, part);
	ptx_ledger_close(ledger);
	ptx_ledger_drop_empty(ledger);
}

static void add_line(struct ptx_ledger_line *line, const struct ptx_ledger_line *part)
{
	line->called += part->called;
	line->reported += part->reported;
	line->unread += part->unread;
	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		line->lost[cause] += part->lost[cause];
}

/* If there is no memory for a thread, its events are added to the line of pid 0. */
void ptx_ledger_add(struct ptx_ledger *ledger, const struct ptx_ledger *part)
{
	add_line(&ledger->total, &part->total);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		add_line(&ledger->type[type], &part->type[type]);
	for (size_t i = 0; i < part->threads; i++)
		add_line(ptx_ledger_thread(ledger, part->thread[i].pid, part->thread[i].tid,
					   part->thread[i].thread),
			 &part->thread[i].line);
}
