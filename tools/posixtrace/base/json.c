/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json.c - writes JSON as a stream. */
#include "base/json.h"

#include <string.h>

#include "base/text.h"

void json_name(struct json *json, const char *name)
{
	if (json->needs_comma)
		out_char(json->out, ',');
	json->needs_comma = true;
	if (!name)
		return;
	out_char(json->out, '"');
	out_str(json->out, name);
	out_str(json->out, "\":");
}

void json_object(struct json *json, const char *name)
{
	json_name(json, name);
	out_char(json->out, '{');
	json->needs_comma = false;
}

void json_array(struct json *json, const char *name)
{
	json_name(json, name);
	out_char(json->out, '[');
	json->needs_comma = false;
}

/* The parent has this object as a member, so one flag is enough for all levels. */
void json_end_object(struct json *json)
{
	out_char(json->out, '}');
	json->needs_comma = true;
}

void json_end_array(struct json *json)
{
	out_char(json->out, ']');
	json->needs_comma = true;
}

void json_text(struct json *json, const char *name, const void *text, size_t len)
{
	json_name(json, name);
	text_json(json->out, text, len);
}

void json_string_member(struct json *json, const char *name, const char *text)
{
	json_text(json, name, text, strlen(text));
}

void json_unsigned(struct json *json, const char *name, uint64_t value)
{
	json_name(json, name);
	out_unsigned(json->out, value);
}

void json_signed(struct json *json, const char *name, int64_t value)
{
	json_name(json, name);
	out_signed(json->out, value);
}

void json_exact(struct json *json, const char *name, int64_t value)
{
	json_name(json, name);
	out_char(json->out, '"');
	out_signed(json->out, value);
	out_char(json->out, '"');
}

void json_address(struct json *json, const char *name, uint64_t value)
{
	json_name(json, name);
	out_printf(json->out, "\"0x%llx\"", (unsigned long long)value);
}

void json_bool(struct json *json, const char *name, bool value)
{
	json_name(json, name);
	out_str(json->out, value ? "true" : "false");
}

void json_null(struct json *json, const char *name)
{
	json_name(json, name);
	out_str(json->out, "null");
}

void json_real(struct json *json, const char *name, const char *format, double value)
{
	json_name(json, name);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	out_printf(json->out, format, value);
#pragma GCC diagnostic pop
}
