/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * json.h - writes JSON as a stream: objects, arrays and their members, with commas where they
 * belong.
 *
 *     struct json json = json_begin(&out_stdout);
 *
 *     json_object(&json, NULL);
 *     json_string_member(&json, "log", path);
 *     json_array(&json, "types");
 *     json_unsigned(&json, NULL, 7);
 *     json_end_array(&json);
 *     json_end_object(&json);
 *
 * Each function takes the name of the member, which needs no escapes; NULL in an array and at the
 * top. The writer keeps no stack: a caller closes what it opened. Errors are those of out.h. For
 * strings with bytes that are not UTF-8, see text_json() in text.h.
 */
#ifndef POSIXTRACE_BASE_JSON_H
#define POSIXTRACE_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"

struct json {
	struct out *out;
	bool needs_comma; /* the open object or array has a member */
};

static inline struct json json_begin(struct out *out)
{
	struct json json = { .out = out };

	return json;
}

/*
 * Writes the comma and the name. The caller writes the value to json->out, for values that have a
 * writer of their own.
 */
void json_name(struct json *json, const char *name);

/* Open and close. A member of the parent may follow the close. */
void json_object(struct json *json, const char *name);
void json_array(struct json *json, const char *name);
void json_end_object(struct json *json);
void json_end_array(struct json *json);

/* A text of len bytes, and one with a NUL at its end. */
void json_text(struct json *json, const char *name, const void *text, size_t len);
void json_string_member(struct json *json, const char *name, const char *text);

/* Numbers below 2^53, which every reader restores exactly. */
void json_unsigned(struct json *json, const char *name, uint64_t value);
void json_signed(struct json *json, const char *name, int64_t value);

/* A number as a string, because a double cannot hold it exactly: decimal, and 0x and hex digits. */
void json_exact(struct json *json, const char *name, int64_t value);
void json_address(struct json *json, const char *name, uint64_t value);

void json_bool(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);

/* A number in a format of printf, such as "%.3f". */
void json_real(struct json *json, const char *name, const char *format, double value);

#endif
