/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* diff_json.c - prints the result as one JSON object, with all comparisons. */
#include "diff/diff.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/out.h"
#include "base/text.h"

/* Writes the name of a log, its number of events, its time and its losses. */
static void log_object(struct json *json, const char *name, const struct sample *sample)
{
	json_object(json, name);
	json_string_member(json, "log", sample->log.path);
	json_unsigned(json, "events", sample->events);
	json_real(json, "seconds", "%.9f", sample_seconds(sample));
	json_unsigned(json, "lost", sample->lost.total);
	json_unsigned(json, "not_traced", sample->lost.untraced);
	json_end_object(json);
}

/* Writes a comparison. It has the members of the test only if it was tested. */
static void row_object(struct json *json, const struct comparison *row)
{
	json_object(json, NULL);
	json_string_member(json, "name", row->name);
	json_string_member(json, "kind", compare_kind_name(row->kind));
	json_string_member(json, "quantity", compare_quantity_name(row->quantity));
	json_real(json, "a", "%.10g", row->a);
	json_real(json, "b", "%.10g", row->b);
	json_unsigned(json, "lost_a", row->lost_a);
	json_unsigned(json, "lost_b", row->lost_b);
	if (row->has_interval) {
		json_real(json, "ratio", "%.6g", row->ratio);
		json_real(json, "low", "%.6g", row->low);
		json_real(json, "high", "%.6g", row->high);
	}
	if (row->is_tested) {
		json_real(json, "p", "%.6g", row->p);
		json_real(json, "p_adjusted", "%.6g", row->adjusted);
		json_bool(json, "differs", row->differs);
	}
	json_end_object(json);
}

void diff_json(struct out *out, const struct compare *compare, const struct sample *a,
	       const struct sample *b)
{
	struct json json = json_begin(out);

	json_object(&json, NULL);
	log_object(&json, "a", a);
	log_object(&json, "b", b);
	json_real(&json, "level", "%g", compare->level);
	json_real(&json, "margin", "%g", compare->margin);
	json_unsigned(&json, "common_of", compare->common_of);
	/* compare->common is a logarithm, but the ratio itself is written. */
	json_real(&json, "common", "%.6g", exp(compare->common));
	json_unsigned(&json, "tested", compare->tested);
	json_unsigned(&json, "differ", compare->differ);
	json_array(&json, "comparisons");
	for (size_t i = 0; i < compare->rows; i++)
		row_object(&json, &compare->row[i]);
	json_end_array(&json);
	json_end_line(&json);
}
