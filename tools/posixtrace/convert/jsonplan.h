/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonplan.h - writes the fields of an event as JSON, if the type has integer fields only. The
 * names are prepared once for the type.
 *
 * The text is the same as that of json_fields_object(), which calls the library for each field.
 * Most types have integers only, whose names and places never change.
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
	size_t bytes;          /* of data that has exactly all fields */
	size_t most;           /* the most bytes of the text */
};

/*
 * Prepares a type. Returns false without memory. If the type has other fields than integers, or
 * values that may have names, the plan has no fields and is never used.
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
