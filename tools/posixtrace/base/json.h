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
 * Each function takes the name of the member, which needs no escapes and has at most JSON_NAME_MAX
 * bytes; NULL in an array and at the top. The writer keeps no stack: a caller closes what it
 * opened. Errors are those of out.h. One thread uses a writer at a time.
 *
 * The functions that each event needs are inline. The compiler then knows the length of a literal
 * name, and writes name and value into the buffer without a call.
 */
#ifndef POSIXTRACE_BASE_JSON_H
#define POSIXTRACE_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/out.h"
#include "base/when.h"

#define JSON_NAME_MAX 160 /* with a number or a time behind it, a name fits out_room() */

struct json {
	struct out *out;
	bool needs_comma; /* the open object or array has a member */
};

/* Returns a writer for a JSON text that begins at the end of this output. */
static inline struct json json_begin(struct out *out)
{
	struct json json = { .out = out };

	return json;
}

/*
 * Writes the comma and the name to p, which has OUT_PIECE bytes of room, and returns the end. The
 * comma is overwritten if it is not needed, which costs less than a branch.
 */
static inline __attribute__((always_inline)) char *json_put_name(struct json *json, char *p,
								 const char *name)
{
	*p = ',';
	p += json->needs_comma;
	json->needs_comma = true;
	if (name) {
		size_t len = strlen(name);

		*p++ = '"';
		memcpy(p, name, len);
		p += len;
		*p++ = '"';
		*p++ = ':';
	}
	return p;
}

/*
 * Writes the comma and the name, for values that have a writer of their own. The caller then writes
 * the value to json->out.
 */
static inline void json_name(struct json *json, const char *name)
{
	out_done(json->out, json_put_name(json, out_room(json->out), name));
}

/* Writes the name of a member that is any text. The caller then writes a value with name NULL. */
void json_text_name(struct json *json, const void *name, size_t len);

/* Ends the line before the next member. The comma of the member before stays on its line. */
void json_new_line(struct json *json);

/* For json_object() and json_array(). */
static inline void json_open_(struct json *json, const char *name, char bracket)
{
	char *p = json_put_name(json, out_room(json->out), name);

	*p = bracket;
	out_done(json->out, p + 1);
	json->needs_comma = false;
}

/* For json_end_object() and json_end_array(). The parent has this value as a member. */
static inline void json_close_(struct json *json, char bracket)
{
	out_char(json->out, bracket);
	json->needs_comma = true;
}

/*
 * These functions open and close objects and arrays. Behind a close a further member of the parent
 * may follow.
 */
static inline void json_object(struct json *json, const char *name)
{
	json_open_(json, name, '{');
}

static inline void json_array(struct json *json, const char *name)
{
	json_open_(json, name, '[');
}

static inline void json_end_object(struct json *json)
{
	json_close_(json, '}');
}

static inline void json_end_array(struct json *json)
{
	json_close_(json, ']');
}

/* Closes an object that is a line of its own. The next line may follow. */
static inline void json_end_line(struct json *json)
{
	char *p = out_room(json->out);

	p[0] = '}';
	p[1] = '\n';
	out_done(json->out, p + 2);
	json->needs_comma = false;
}

/*
 * json_text() writes a text of len bytes, json_string_member() a text with a NUL at its end.
 * Control characters and those that reorder or hide text are escaped. A byte that is not UTF-8
 * becomes \\xNN in JSON, because JSON has no bytes. A reader gets a backslash, an x and two digits
 * for it. A reader restores all UTF-8 exactly.
 */
void json_text(struct json *json, const char *name, const void *text, size_t len);
void json_string_member(struct json *json, const char *name, const char *text);

/* A string of at most 64 bytes that needs no escapes, usually a literal. */
static inline __attribute__((always_inline)) void json_word(struct json *json, const char *name,
							    const char *word)
{
	size_t len = strlen(word);
	char *p = json_put_name(json, out_room(json->out), name);

	*p++ = '"';
	memcpy(p, word, len);
	p += len;
	*p = '"';
	out_done(json->out, p + 1);
}

/* Writes the string of json_text() alone, for texts that are JSON only in part. */
void json_quoted(struct out *out, const void *text, size_t len);

/*
 * These do the same as json_text(), but a byte that is not UTF-8 becomes U+FFFD. If there is such a
 * byte, json_exact_text() adds the member NAME_hex, which has all bytes of the text in hexadecimal
 * digits.
 */
void json_unicode(struct json *json, const char *name, const void *text, size_t len);
void json_exact_text(struct json *json, const char *name, const void *text, size_t len);

/*
 * json_keep_text() returns what json_exact_text() writes, without a comma, as memory that the
 * caller frees, and its length in *kept. Returns NULL without memory. It uses a static buffer, and
 * a text of more than 4096 bytes loses its end. json_kept() writes such members.
 */
char *json_keep_text(const char *name, const void *text, size_t len, size_t *kept);
static inline void json_kept(struct json *json, const char *members, size_t len)
{
	json_name(json, NULL);
	out_bytes(json->out, members, len);
}

/* Bytes as a string of hexadecimal digits. */
void json_hex(struct json *json, const char *name, const void *bytes, size_t len);

/* Numbers below 2^53, which every reader restores exactly. */
static inline void json_unsigned(struct json *json, const char *name, uint64_t value)
{
	char *p = json_put_name(json, out_room(json->out), name);

	out_done(json->out, put_unsigned(p, value));
}

static inline void json_signed(struct json *json, const char *name, int64_t value)
{
	char *p = json_put_name(json, out_room(json->out), name);

	out_done(json->out, put_signed(p, value));
}

/*
 * Numbers as strings, because a double cannot hold them exactly: decimal, with or without a sign,
 * and 0x with hexadecimal digits.
 */
static inline void json_exact(struct json *json, const char *name, int64_t value)
{
	char *p = json_put_name(json, out_room(json->out), name);

	*p = '"';
	p = put_signed(p + 1, value);
	*p = '"';
	out_done(json->out, p + 1);
}

static inline void json_exact_unsigned(struct json *json, const char *name, uint64_t value)
{
	char *p = json_put_name(json, out_room(json->out), name);

	*p = '"';
	p = put_unsigned(p + 1, value);
	*p = '"';
	out_done(json->out, p + 1);
}

static inline void json_address(struct json *json, const char *name, uint64_t value)
{
	char *p = json_put_name(json, out_room(json->out), name);

	memcpy(p, "\"0x", 3);
	p = put_hex(p + 3, value, 1);
	*p = '"';
	out_done(json->out, p + 1);
}

/* A time as a string. json_time() writes two members: in UTC for people, and in nanoseconds. */
static inline void json_when(struct json *json, const char *name, int64_t time_ns,
			     enum when_form form)
{
	char *p = json_put_name(json, out_room(json->out), name);

	*p = '"';
	p = when_put(p + 1, time_ns, form);
	*p = '"';
	out_done(json->out, p + 1);
}

static inline void json_time(struct json *json, const char *name, const char *name_ns,
			     int64_t time_ns)
{
	json_when(json, name, time_ns, WHEN_UTC);
	json_when(json, name_ns, time_ns, WHEN_RAW);
}

static inline void json_bool(struct json *json, const char *name, bool value)
{
	char *p = json_put_name(json, out_room(json->out), name);

	memcpy(p, value ? "true" : "false", 5);
	out_done(json->out, p + (value ? 4 : 5));
}

static inline void json_null(struct json *json, const char *name)
{
	char *p = json_put_name(json, out_room(json->out), name);

	memcpy(p, "null", 4);
	out_done(json->out, p + 4);
}

/* A finite number in a format of printf, such as "%.3f". */
void json_real(struct json *json, const char *name, const char *format, double value);

/* A number with the fewest digits that restore it exactly. nan and the infinities are strings. */
void json_double(struct json *json, const char *name, double value);
/* The same with as many digits as a float needs. */
void json_single(struct json *json, const char *name, float value);

#endif
