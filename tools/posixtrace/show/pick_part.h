/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pick_part.h - declarations for pick.c and for the files that write columns. */
#ifndef POSIXTRACE_SHOW_PICK_PART_H
#define POSIXTRACE_SHOW_PICK_PART_H

#include "show/pick.h"

/* Returns the index of the column's field in a schema, or -1 if the schema lacks the field. */
int pick_field(struct pick *pick, const struct posix_trace_schema_np *schema, unsigned column);

/* The line, log, type and event from which the value of a column is computed. */
struct pick_cell {
	const struct pick_line *line;
	const struct logfile *log;
	const struct log_type *type;
	const struct posix_trace_event_np *event;
};

/* Writes 0x and hexadecimal digits. */
void pick_put_hex(struct out *out, uint64_t value);

#define PICK_FLAGS_MAX 3

/* Stores the names of the event's flags and returns their number. */
unsigned pick_flags(const struct posix_trace_event_np *event, const char *name[PICK_FLAGS_MAX]);

/*
 * pick_next_value() gets the next value of the column's field and increments *index. It returns
 * false after the last value. pick_is_list() returns true if the column is a whole array.
 */
bool pick_next_value(const struct pick_cell *cell, const struct pick_column *column, int field,
		     unsigned *index, struct posix_trace_value_np *value);
bool pick_is_list(const struct pick_cell *cell, const struct pick_column *column, int field);

#endif
