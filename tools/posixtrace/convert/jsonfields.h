/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsonfields.h - the fields of an event's data, as its schema says, as a JSON object.
 *
 * Numbers that a double cannot hold, and what a double cannot be, are strings; so are numbers that
 * the schema shows in hexadecimal. Arrays are arrays, bytes are digits. Fields that the data is too
 * short for are left out.
 */
#ifndef POSIXTRACE_CONVERT_JSONFIELDS_H
#define POSIXTRACE_CONVERT_JSONFIELDS_H

#include "convert/format.h"

/*
 * ,"fields":{...} if the type has a schema that means anything, and ,"names":{...} of those whose
 * values have one: what a pointer points to, what a number stands for.
 */
void json_fields(struct out *out, struct fmt_flow *flow, const struct fmt_event *event);

/* {...} alone, of a type that has fields. */
void json_fields_object(struct out *out, const struct fmt_event *event);

#endif
