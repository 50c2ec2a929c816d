/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pick_part.h - what pick.c knows and those that write columns ask. */
#ifndef POSIXTRACE_SHOW_PICK_PART_H
#define POSIXTRACE_SHOW_PICK_PART_H

#include "show/pick.h"

/* The number of a column's field in a schema, -1: it does not have it. */
int pick_field(struct pick *pick, const struct posix_trace_schema_np *schema, unsigned column);

/* All that the value of a column is made from. */
struct pick_cell {
	const struct pick_line *line;
	const struct logfile *log;
	const struct log_type *type;
	const struct posix_trace_event_np *event;
};

void pick_put_hex(struct out *out, uint64_t value);

/* With quotes as JSON has them, or without. False: there are none. */
bool pick_put_flags(struct out *out, const struct posix_trace_event_np *event, const char *quote);

/* The next value of a column's field; index counts on. An array without index has several. */
bool pick_next_value(const struct pick_cell *cell, const struct pick_column *column, int field,
		     unsigned *index, struct posix_trace_value_np *value);
bool pick_is_list(const struct pick_cell *cell, const struct pick_column *column, int field);

#endif
