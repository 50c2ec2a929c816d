/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * textplan.h - prepares, once for a type, how fields_text() prints the type's fields. This is
 * possible if all fields are integers. The plan has the names of the fields and says which fields
 * are plain decimal numbers. value_text() prints the other fields.
 */
#ifndef POSIXTRACE_LOG_TEXTPLAN_H
#define POSIXTRACE_LOG_TEXTPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#define TEXTPLAN_PIECE 16 /* keys are copied in pieces of a constant length */

struct textplan_field {
	char key[POSIX_TRACE_FIELD_NAME_MAX_NP + 3 + TEXTPLAN_PIECE]; /* " name=" */
	uint8_t len;           /* of key */
	uint8_t size;          /* of the value in the data */
	bool is_signed, is_decimal;
};

struct textplan {
	size_t bytes;          /* length of data that has all fields and nothing else */
	unsigned fields;
	struct textplan_field field[];
};

/* Returns NULL if not all fields are integers, or without memory. The caller frees the plan. */
struct textplan *textplan_new(const struct posix_trace_schema_np *schema);

#endif
