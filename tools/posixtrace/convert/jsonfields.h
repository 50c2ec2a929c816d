/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonfields.h - the fields of an event's data as a JSON object, by the schema of its type.
 *
 * Integers beyond JSON_EXACT, which a double may not represent exactly, nan and the infinities are
 * strings. Numbers that the schema shows in hexadecimal are strings of hexadecimal digits. Arrays
 * are arrays; bytes are strings of hexadecimal digits. If the data is too short for a field, the
 * object ends before this field.
 */
#ifndef POSIXTRACE_CONVERT_JSONFIELDS_H
#define POSIXTRACE_CONVERT_JSONFIELDS_H

#include "base/json.h"
#include "convert/format.h"
#include "log/fieldplan.h"

#define JSON_EXACT (UINT64_C(1) << 53) /* a double represents each integer up to this one */

/* Returns whether a reader expects the field in hexadecimal: pointers and the types x8 to x64. */
bool json_field_is_hexadecimal(const struct posix_trace_field_np *field);

/*
 * Writes a number to p, which has room for 22 bytes, and returns the end. The arguments are a
 * magnitude and a sign, because the least signed number has no positive counterpart.
 */
static inline char *json_put_number(char *p, uint64_t magnitude, bool is_negative)
{
	bool is_big = magnitude > JSON_EXACT;

	/*
	 * The quote and the sign are always stored. If one of them is not needed, a later store
	 * overwrites it.
	 */
	*p = '"';
	p += is_big;
	*p = '-';
	p = put_unsigned(p + is_negative, magnitude);
	*p = '"';
	return p + is_big;
}

/*
 * Writes the member "fields" if the type has a schema with fields. Also writes the member "names"
 * for the values that have names: pointers to named objects, file descriptors, error numbers,
 * signals, results of wait(), and values with names in the schema.
 */
void json_fields(struct json *json, struct fmt_flow *flow, const struct fmt_event *event);

/*
 * Writes only the object of the names. If the parameter "member" is not NULL, the object is a JSON
 * member with this name. Returns false and writes nothing if no value has a name. The type must
 * have fields.
 */
bool json_names(struct json *json, const char *member, struct fmt_flow *flow,
		const struct fmt_event *event);

/*
 * json_plan() prepares the object of the fields of a type, which json_plan_put() then writes
 * without a call of the library for each field. It stores NULL if "schema" is NULL, or if a field
 * is not an integer, or if values of a field may have names. Returns false if memory is lacking.
 * The caller frees the plan by free().
 *
 * json_plan_put() writes the text of json_fields_object() for data that fits the plan to p, which
 * has room for plan->most bytes, and returns the end.
 */
bool json_plan(struct fieldplan **plan, const struct posix_trace_schema_np *schema);
char *json_plan_put(const struct fieldplan *plan, char *p, const void *data);

/* Writes only the object of the fields. The type must have fields. */
void json_fields_object(struct json *json, const char *name, const struct fmt_event *event);

#endif
