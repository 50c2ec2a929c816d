/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* diff_json.c - the result as one JSON object, with all comparisons. */
#include "diff/diff.h"

#include <math.h>
#include <string.h>

#include "base/out.h"
#include "base/text.h"

/* A log with the figures that the comparisons refer to. */
static void log_object(struct out *out, const struct sample *sample)
{
	out_str(out, "{\"log\":");
	text_json(out, sample->log.path, strlen(sample->log.path));
	out_printf(out, ",\"events\":%llu,\"seconds\":%.9f,\"lost\":%llu}",
		   (unsigned long long)sample->events, sample_seconds(sample),
		   (unsigned long long)sample->lost.total);
}

/* A comparison. Members of the test exist only if there was one. */
static void row_object(struct out *out, const struct comparison *row)
{
	out_str(out, "{\"name\":");
	text_json(out, row->name, strlen(row->name));
	out_printf(out, ",\"kind\":\"%s\",\"quantity\":\"%s\",\"a\":%.10g,\"b\":%.10g",
		   compare_kind_name(row->kind), compare_quantity_name(row->quantity), row->a,
		   row->b);
	out_printf(out, ",\"lost_a\":%llu,\"lost_b\":%llu", (unsigned long long)row->lost_a,
		   (unsigned long long)row->lost_b);
	if (row->has_interval)
		out_printf(out, ",\"ratio\":%.6g,\"low\":%.6g,\"high\":%.6g", row->ratio, row->low,
			   row->high);
	if (row->is_tested)
		out_printf(out, ",\"p\":%.6g,\"p_adjusted\":%.6g,\"differs\":%s", row->p,
			   row->adjusted, row->differs ? "true" : "false");
	out_char(out, '}');
}

void diff_json(struct out *out, const struct compare *compare, const struct sample *a,
	       const struct sample *b)
{
	out_str(out, "{\"a\":");
	log_object(out, a);
	out_str(out, ",\"b\":");
	log_object(out, b);
	out_printf(out, ",\"level\":%g,\"margin\":%g,\"common_of\":%zu,\"common\":%.6g",
		   /* The common ratio is stored as a logarithm; the output has the ratio. */
		   compare->level, compare->margin, compare->common_of, exp(compare->common));
	out_printf(out, ",\"tested\":%zu,\"differ\":%zu,\"comparisons\":[", compare->tested,
		   compare->differ);
	for (size_t i = 0; i < compare->rows; i++) {
		out_str(out, i ? "," : "");
		row_object(out, &compare->row[i]);
	}
	out_str(out, "]}\n");
}
