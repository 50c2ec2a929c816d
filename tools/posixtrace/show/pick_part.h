/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pick_part.h - the interface between pick.c and the files that write columns. */
#ifndef POSIXTRACE_SHOW_PICK_PART_H
#define POSIXTRACE_SHOW_PICK_PART_H

#include "show/pick.h"

/* Returns the index of the column's field in a schema, -1 if it has none. */
int pick_field(struct pick *pick, const struct posix_trace_schema_np *schema, unsigned column);

/* The sources of a column's value. */
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
 * Gets the next value of the column's field and advances *index. Returns false after the last one.
 * pick_is_list() returns true for a whole array.
 */
bool pick_next_value(const struct pick_cell *cell, const struct pick_column *column, int field,
		     unsigned *index, struct posix_trace_value_np *value);
bool pick_is_list(const struct pick_cell *cell, const struct pick_column *column, int field);

#endif
