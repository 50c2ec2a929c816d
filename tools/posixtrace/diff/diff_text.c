/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * diff_text.c - prints the result as a table. An asterisk marks a difference that is greater than
 * chance explains.
 */
#include "diff/diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/brief.h"
#include "base/out.h"
#include "base/text.h"

/* Prints the name of a log, its number of events, its time and its losses. */
static void print_log(struct out *out, char which, const struct sample *sample)
{
	out_printf(out, "%c: ", which);
	text_safe(out, sample->log.path, strlen(sample->log.path));
	out_printf(out, ": %llu event%s, %.3f s", (unsigned long long)sample->events,
		   text_plural(sample->events), sample_seconds(sample));
	if (sample->lost.total)
		out_printf(out, ", %llu event%s of the compared types lost",
			   (unsigned long long)sample->lost.total, text_plural(sample->lost.total));
	if (sample->lost.untraced)
		out_printf(out, ", %llu call%s of the compared types not traced",
			   (unsigned long long)sample->lost.untraced,
			   text_plural(sample->lost.untraced));
	out_char(out, '\n');
}

/* Writes a figure in the unit of its quantity. */
static void put_value(struct out *out, const struct comparison *row, double number)
{
	char text[BRIEF_BYTES];

	if (row->quantity == COMPARE_COUNT)
		snprintf(text, sizeof(text), "%.0f", number);
	else if (row->quantity == COMPARE_RATE)
		snprintf(text, sizeof(text), "%.1f/s", number);
	else
		brief_ns(text, number);
	out_printf(out, " %12s", text);
}

/*
 * Writes a comparison as a row. If the comparison has no interval or no test, the columns of the
 * interval or of the test have "-".
 */
static void print_row(struct out *out, const struct comparison *row)
{
	out_str(out, row->differs ? "* " : "  ");
	out_printf(out, "%-5s", compare_quantity_name(row->quantity));
	put_value(out, row, row->a);
	put_value(out, row, row->b);
	if (row->has_interval)
		out_printf(out, " %9.4g %9.4g to %-9.4g", row->ratio, row->low, row->high);
	else
		out_printf(out, " %9s %9s    %-9s", "-", "-", "-");
	if (row->is_tested)
		out_printf(out, " %8.2g", row->adjusted);
	else
		out_printf(out, " %8s", "-");
	out_printf(out, "  %s ", compare_kind_name(row->kind));
	text_name(out, row->name, strlen(row->name));
	if (row->lost_a || row->lost_b)
		out_printf(out, " (lost: %llu in A, %llu in B)", (unsigned long long)row->lost_a,
			   (unsigned long long)row->lost_b);
	out_char(out, '\n');
}

/*
 * The last line has the number of tests, because without tests nothing can be marked. A line before
 * it says whether rows are hidden, so that the user does not mistake a missing row for an equal
 * one.
 */
void diff_text(struct out *out, const struct compare *compare, const struct sample *a,
	       const struct sample *b, bool all)
{
	bool is_table = false;
	size_t hidden = 0;

	print_log(out, 'A', a);
	print_log(out, 'B', b);
	if (compare->common_of)
		out_printf(out,
			   "%zu spans together took %.4g times as long in B; the ratios of"
			   " durations are without this factor\n",
			   compare->common_of, exp(compare->common));
	for (size_t i = 0; i < compare->rows; i++) {
		if (!all && !compare->row[i].has_interval && !compare->row[i].lost_a &&
		    !compare->row[i].lost_b) {
			hidden++;
			continue;
		}
		if (!is_table)
			out_str(out, "\n  what             A            B       B/A 95 % of B/A"
				     "            p (Holm)\n");
		is_table = true;
		print_row(out, &compare->row[i]);
	}
	if (!is_table)
		out_printf(out, "\nNo event type and no span is frequent enough to be compared%s\n",
			   compare->rows ? "; --all prints their figures" : "");
	else if (hidden)
		out_str(out, "\nOther event types, spans and percentiles are too rare to be"
			     " compared; --all prints their figures\n");
	out_printf(out, "\n%zu of %zu comparisons differ by more than %g %% at the level %g\n",
		   compare->differ, compare->tested, 100 * compare->margin, compare->level);
}
