/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fieldplan.h - a plan by which the fields of a type's events are printed without a call of the
 * library. The plan has the place of each value and the text before it. A plan is possible if all
 * fields are integers and none is an array, because the places of such fields never change. Many
 * types have only such fields.
 *
 * Users of the plan: fields_text() for lines of text, and json_plan_put() for JSON.
 */
#ifndef POSIXTRACE_LOG_FIELDPLAN_H
#define POSIXTRACE_LOG_FIELDPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#include "base/put.h"
#include "log/integer.h"

#define FIELDPLAN_NUMBER 22 /* 20 digits, a sign and 19 digits, or 0x and 16 digits, in quotes */

enum fieldplan_kind {
	FIELDPLAN_UNSIGNED,    /* decimal digits */
	FIELDPLAN_SIGNED,
	FIELDPLAN_HEX,         /* 0x and hexadecimal digits */
	FIELDPLAN_OTHER        /* the user of the plan writes the value in its own way */
};

struct fieldplan_field {
	/* the text before the value */
	char key[POSIX_TRACE_FIELD_NAME_MAX_NP + 5 + PUT_PIECE];
	uint8_t len;           /* of key */
	uint8_t size;          /* of the value in the data */
	bool is_signed;
	uint8_t kind;          /* enum fieldplan_kind */
};

struct fieldplan {
	size_t bytes;          /* length of data that has exactly these fields */
	/* greatest number of bytes of all keys and numbers together, plus PUT_PIECE */
	size_t most;
	unsigned fields;
	struct fieldplan_field field[];
};

/* The form of the text around the names, and how each value is written. */
struct fieldplan_style {
	/* the texts before the first name and before each other name; at most 2 bytes each */
	const char *first, *next;
	const char *behind;       /* the text behind each name; at most 2 bytes */
	enum fieldplan_kind (*kind)(const struct posix_trace_field_np *field);
};

/* Returns whether the schema has fields, and all of them are integers and not arrays. */
bool fieldplan_is_possible(const struct posix_trace_schema_np *schema);

/*
 * Makes the plan of a schema for which fieldplan_is_possible() is true. Returns NULL if memory is
 * lacking. The caller frees the plan by free().
 */
struct fieldplan *fieldplan_new(const struct posix_trace_schema_np *schema,
				const struct fieldplan_style *style);

/* Returns whether data of this length has exactly the fields of the plan. "plan" may be NULL. */
static inline bool fieldplan_fits(const struct fieldplan *plan, size_t len)
{
	return plan && plan->bytes == len;
}

/* Reads the value of the field at *from, and moves *from behind it. */
static inline uint64_t fieldplan_load(const struct fieldplan_field *field, const uint8_t **from)
{
	uint64_t value = integer_load(*from, field->size, field->is_signed);

	*from += field->size;
	return value;
}

#endif
