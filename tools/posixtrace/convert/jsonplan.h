/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonplan.h - the fields of a type of integers as JSON, prepared once for the type.
 *
 * The text is that of json_fields_object(), which needs a call of the library for each field. Most
 * types have integers only, whose names and places never change.
 */
#ifndef POSIXTRACE_CONVERT_JSONPLAN_H
#define POSIXTRACE_CONVERT_JSONPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#define JSONPLAN_PIECE 16 /* keys are copied in pieces of a constant length */

struct jsonplan_field {
	char key[2 * POSIX_TRACE_FIELD_NAME_MAX_NP]; /* {"first": or ,"next": */
	uint8_t len;           /* of key */
	uint8_t size;          /* of the value in the data */
	bool is_signed, is_hexadecimal;
};

struct jsonplan {
	struct jsonplan_field *field;
	unsigned fields;
	size_t bytes;          /* of the data that has all fields and nothing else */
	size_t most;           /* of the text */
};

/*
 * Prepares a type. Returns false without memory. A type that is not of integers alone, or whose
 * values may have names, gets no fields.
 */
bool jsonplan_init(struct jsonplan *plan, const struct posix_trace_schema_np *schema);
void jsonplan_fini(struct jsonplan *plan);

/* Whether the plan writes data of this length. */
static inline bool jsonplan_fits(const struct jsonplan *plan, size_t len)
{
	return plan->fields && plan->bytes == len;
}

/* Writes the object for data of plan->bytes to p, which has plan->most bytes. Returns its end. */
char *jsonplan_put(const struct jsonplan *plan, char *p, const void *data);

#endif
