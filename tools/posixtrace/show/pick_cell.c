/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pick_cell.c - the code for a column's value that both text and JSON need. */
#include <string.h>

#include "base/text.h"
#include "show/line.h"
#include "show/pick_part.h"

/* Returns whether the writer or the reader truncated the data. */
static bool is_truncated(const struct posix_trace_event_np *event)
{
	return event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;
}

/* The function is used for addresses and thread identifiers. */
void pick_put_hex(struct out *out, uint64_t value)
{
	char *p = out_room(out);

	memcpy(p, "0x", 2);
	out_done(out, put_hex(p + 2, value, 1));
}

/* The flags are always in this order, because programs may compare the output. */
unsigned pick_flags(const struct posix_trace_event_np *event, const char *name[PICK_FLAGS_MAX])
{
	unsigned count = 0;

	if (is_truncated(event))
		name[count++] = "truncated";
	if (event->flags & POSIX_TRACE_EVENT_LATE_NP)
		name[count++] = "late";
	if (event->flags & LINE_UNORDERED)
		name[count++] = "unordered";
	return count;
}

/*
 * A column for a whole array has several values. A column for one element of an array, or for
 * another field, has one value.
 */
bool pick_next_value(const struct pick_cell *cell, const struct pick_column *column, int field,
		     unsigned *index, struct posix_trace_value_np *value)
{
	unsigned element = column->has_index ? column->index : *index;

	if (field < 0 || (column->has_index && *index) ||
	    !posix_trace_field_get_np(cell->type->schema, (unsigned)field, element,
				      cell->event->data, cell->event->data_len, 0, value))
		return false;
	++*index;
	return true;
}

bool pick_is_list(const struct pick_cell *cell, const struct pick_column *column, int field)
{
	return field >= 0 && !column->has_index && cell->type->schema->field[field].is_array;
}
