/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * textplan.h - prepares, once for each type, how fields_text() prints the type's fields. This is
 * possible if all fields are integers. The plan has the names of the fields, and says which fields
 * are always printed as decimal numbers. For the other fields fields_text() calls value_text().
 */
#ifndef POSIXTRACE_LOG_TEXTPLAN_H
#define POSIXTRACE_LOG_TEXTPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#define TEXTPLAN_PIECE 16 /* keys are copied in pieces of this constant length, which is fast */

struct textplan_field {
	char key[POSIX_TRACE_FIELD_NAME_MAX_NP + 3 + TEXTPLAN_PIECE]; /* " name=" */
	uint8_t len;           /* length of key */
	uint8_t size;          /* size of the value in the data */
	bool is_signed, is_decimal;
};

struct textplan {
	size_t bytes;          /* length of data that has exactly these fields */
	unsigned fields;
	struct textplan_field field[];
};

/*
 * Makes the plan of a type. Returns NULL if not all fields are integers, if the type has a format,
 * or if memory is lacking. The caller frees the plan by free().
 */
struct textplan *textplan_new(const struct posix_trace_schema_np *schema);

#endif
