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
 * A function that writes a value takes the name of the member. The name must need no escapes and
 * have at most JSON_NAME_MAX bytes. In an array and at the top level the name is NULL. The writer
 * keeps no stack of open objects and arrays, so the caller must close each of them. Errors are
 * handled as described in out.h. One thread uses a writer at a time.
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

/*
 * The greatest length of a member's name. The room of out_room() is enough for such a name with a
 * number or a time behind it.
 */
#define JSON_NAME_MAX 160

struct json {
	struct out *out;
	bool needs_comma; /* the open object or array already has a member */
};

/* Returns a writer for a JSON text that begins at the end of this output. */
static inline struct json json_begin(struct out *out)
{
	struct json json = { .out = out };

	return json;
}

/*
 * Writes the comma and the name to p, which has OUT_PIECE bytes of room, and returns the end. The
 * comma is always stored. If it is not needed, the next byte overwrites it, which costs less than a
 * branch.
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
 * Writes an address as a string of 0x and hexadecimal digits to p, which has room for 20 bytes, and
 * returns the end.
 */
static inline char *json_put_address(char *p, uint64_t value)
{
	memcpy(p, "\"0x", 3);
	p = put_hex(p + 3, value, 1);
	*p = '"';
	return p + 1;
}

/*
 * Writes only the comma and the name. The caller then writes the value to json->out itself.
 */
static inline void json_name(struct json *json, const char *name)
{
	out_done(json->out, json_put_name(json, out_room(json->out), name));
}

/*
 * Writes a member's name that may contain any bytes, with the necessary escapes. The caller then
 * writes the value by a further function and passes NULL as the name.
 */
void json_text_name(struct json *json, const void *name, size_t len);

/*
 * Begins a new line for the next member. The comma behind the last member remains on the old line.
 */
void json_new_line(struct json *json);

/* The common part of json_object() and json_array(). */
static inline void json_open_(struct json *json, const char *name, char bracket)
{
	char *p = json_put_name(json, out_room(json->out), name);

	*p = bracket;
	out_done(json->out, p + 1);
	json->needs_comma = false;
}

/* The common part of json_end_object() and json_end_array(). The parent now has a member. */
static inline void json_close_(struct json *json, char bracket)
{
	out_char(json->out, bracket);
	json->needs_comma = true;
}

/*
 * These functions open and close objects and arrays. After it closed an object or array, the caller
 * may write a further member of the parent.
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

/* Closes an object at the top level and ends the line. The next object may follow. */
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
 * Control characters and characters that reorder or hide text are escaped. A program that parses
 * the JSON restores all UTF-8 characters exactly. JSON has no strings of bytes, so a byte that is
 * not UTF-8 is written as \\xNN: the parsed string has a backslash, an x and two hexadecimal digits
 * in its place.
 */
void json_text(struct json *json, const char *name, const void *text, size_t len);
void json_string_member(struct json *json, const char *name, const char *text);

/* Writes a string of at most 64 bytes that needs no escapes. It usually is a literal. */
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

/*
 * Writes only the quoted string that json_text() would write, for outputs of which only a part is
 * JSON.
 */
void json_quoted(struct out *out, const void *text, size_t len);

/*
 * These functions write a string as json_text() does, but a byte that is not UTF-8 becomes U+FFFD.
 * If there is such a byte, json_exact_text() adds the member NAME_hex, which has all bytes of the
 * text in hexadecimal digits.
 */
void json_unicode(struct json *json, const char *name, const void *text, size_t len);
void json_exact_text(struct json *json, const char *name, const void *text, size_t len);

/*
 * json_keep_text() returns the members that json_exact_text() would write, without the comma before
 * them. It stores their length in *kept. The caller frees the returned memory. json_kept() writes
 * such members later. json_keep_text() returns NULL if memory is lacking. It uses a static buffer,
 * so only one thread at a time may call it. A text of more than 4096 bytes loses its end.
 */
char *json_keep_text(const char *name, const void *text, size_t len, size_t *kept);
static inline void json_kept(struct json *json, const char *members, size_t len)
{
	json_name(json, NULL);
	out_bytes(json->out, members, len);
}

/* Writes bytes as a string of hexadecimal digits. */
void json_hex(struct json *json, const char *name, const void *bytes, size_t len);

/* These functions are for numbers below 2^53, which every JSON parser restores exactly. */
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
 * These functions write numbers as strings, because a JSON parser may use a double, which cannot
 * hold each 64-bit number exactly. json_exact() and json_exact_unsigned() write decimal digits;
 * json_address() writes 0x and hexadecimal digits.
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

	out_done(json->out, json_put_address(p, value));
}

/*
 * json_when() writes a time as a string. json_time() writes two such members: the time in UTC for
 * people, and the time in nanoseconds.
 */
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

/* Writes a finite number in a format of printf(), such as "%.3f". */
void json_real(struct json *json, const char *name, const char *format, double value);

/*
 * Writes a number with the fewest digits that restore it exactly. The negative zero is -0.0. nan
 * and the infinities become strings.
 */
void json_double(struct json *json, const char *name, double value);
/* Writes a float as json_double() writes a double, with only as many digits as a float needs. */
void json_single(struct json *json, const char *name, float value);

#endif
