/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errnames.h"
#include "base/text.h"

static void hex(struct out *out, uint64_t value)
{
	char *p = out_room(out);

	*p++ = '0';
	*p++ = 'x';
	out_done(out, put_hex(p, value, 1));
}

/* As short as it can be without being another number when it is read again. */
static void floating(struct out *out, const struct posix_trace_value_np *value)
{
	const bool is_float = value->field->type == POSIX_TRACE_TYPE_F32_NP;
	char text[40];

	snprintf(text, sizeof(text), "%.*g", is_float ? 6 : 15, value->f64);
	if (is_float ? strtof(text, NULL) != (float)value->f64 : strtod(text, NULL) != value->f64)
		snprintf(text, sizeof(text), "%.*g", is_float ? 9 : 17, value->f64);
	out_str(out, text);
}

/* Exact, in the unit that leaves a digit before the point. */
static void duration(struct out *out, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		unsigned digits;
		const char *name;
	} units[] = {
		{ 1000000000, 9, "s" }, { 1000000, 6, "ms" }, { 1000, 3, "us" }, { 1, 0, "ns" }
	};
	unsigned unit = 0, digits;
	uint64_t rest;
	char *p;

	while (ns < units[unit].ns && units[unit].digits)
		unit++;
	rest = ns % units[unit].ns;
	digits = units[unit].digits;
	p = put_unsigned(out_room(out), ns / units[unit].ns);
	if (rest) {
		for (; rest % 10 == 0; rest /= 10)
			digits--;
		*p++ = '.';
		p = put_digits(p, rest, digits);
	}
	out_done(out, p);
	out_str(out, units[unit].name);
}

static void character(struct out *out, unsigned char c)
{
	const char text = (char)c;

	out_char(out, '\'');
	if (c)
		text_safe(out, &text, 1);
	else
		out_str(out, "\\0");
	out_char(out, '\'');
}

/* Of a negative number that of its absolute value; NULL: there is none. */
static const char *error_name(int64_t value)
{
	return errno_name(value < 0 ? -value : value); /* of 32 bits */
}

static void error_number(struct out *out, int64_t value, const char *name)
{
	if (value < 0)
		out_char(out, '-');
	out_str(out, name);
}

static void bits(struct out *out, const struct posix_trace_value_np *value)
{
	const struct posix_trace_field_np *field = value->field;
	uint64_t left = value->u64;
	bool any = false;

	if (field->form == POSIX_TRACE_FORM_SIGNED_NP && field->size < 8)
		left &= (UINT64_C(1) << 8 * field->size) - 1;
	for (unsigned i = 0; i < field->value_names; i++) {
		uint64_t named = field->value_name[i].value;

		if (named ? (left & named) != named : value->u64 != 0)
			continue;
		left &= ~named;
		if (any)
			out_char(out, '|');
		any = true;
		out_str(out, field->value_name[i].name); /* letters, by the grammar */
	}
	if (left || !any) {
		if (any)
			out_char(out, '|');
		hex(out, left);
	}
}

static bool find_object(const struct logfile *log, const struct posix_trace_event_np *event,
			const struct posix_trace_value_np *value,
			struct posix_trace_object_np *object)
{
	return log->has_objects && (value->field->type == POSIX_TRACE_TYPE_PTR_NP ||
				    value->field->type == POSIX_TRACE_TYPE_PTR32_NP) &&
	       !posix_trace_object_find_np(log->trid, event->info.posix_pid, value->u64,
					   event->time_ns, object);
}

static void pointer(struct out *out, const struct logfile *log,
		    const struct posix_trace_event_np *event,
		    const struct posix_trace_value_np *value)
{
	struct posix_trace_object_np object;
	bool found = find_object(log, event, value, &object);

	if (found) {
		out_str(out, posix_trace_object_kind_name_np(object.kind));
		out_char(out, ':');
	}
	hex(out, value->u64);
	if (found) {
		out_char(out, ' ');
		text_quoted(out, object.name, strlen(object.name));
	}
}

static void text_bytes(struct out *out, const struct posix_trace_value_np *value)
{
	if (value->field->type == POSIX_TRACE_TYPE_STR_NP)
		text_quoted(out, value->data, value->len);
	else if (value->len)
		out_hex(out, value->data, value->len);
	else
		out_str(out, "\"\"");
	if (value->flags & POSIX_TRACE_VALUE_CUT_NP)
		out_str(out, "...");
}

void value_text(struct out *out, const struct logfile *log,
		const struct posix_trace_event_np *event, const struct posix_trace_value_np *value,
		enum when_form form)
{
	const struct posix_trace_field_np *field = value->field;
	const char *name = field->value_names ? posix_trace_value_name_np(value) : NULL;

	if (name) {
		out_str(out, name);
		return;
	}
	if (field->has_bits) {
		bits(out, value);
		return;
	}
	switch (field->type) {
	case POSIX_TRACE_TYPE_X8_NP:
	case POSIX_TRACE_TYPE_X16_NP:
	case POSIX_TRACE_TYPE_X32_NP:
	case POSIX_TRACE_TYPE_X64_NP:
		hex(out, value->u64);
		return;
	case POSIX_TRACE_TYPE_PTR_NP:
	case POSIX_TRACE_TYPE_PTR32_NP:
		pointer(out, log, event, value);
		return;
	case POSIX_TRACE_TYPE_BOOL_NP:
		out_str(out, value->u64 ? "true" : "false");
		return;
	case POSIX_TRACE_TYPE_CHAR_NP:
		character(out, (unsigned char)value->u64);
		return;
	case POSIX_TRACE_TYPE_NS_NP:
		duration(out, value->u64);
		return;
	case POSIX_TRACE_TYPE_TIME_NP:
		out_done(out, when_put(out_room(out), value->s64, form));
		return;
	case POSIX_TRACE_TYPE_ERRNO_NP:
		name = error_name(value->s64);
		if (!name)
			break;
		error_number(out, value->s64, name);
		return;
	default:
		break;
	}
	switch (field->form) {
	case POSIX_TRACE_FORM_SIGNED_NP:
		out_signed(out, value->s64);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		floating(out, value);
		break;
	case POSIX_TRACE_FORM_BYTES_NP:
		text_bytes(out, value);
		break;
	default:
		out_unsigned(out, value->u64);
	}
}

static void json_bytes(struct out *out, const struct posix_trace_value_np *value)
{
	if (value->field->type == POSIX_TRACE_TYPE_STR_NP) {
		text_json(out, value->data, value->len);
		return;
	}
	out_char(out, '"');
	out_hex(out, value->data, value->len);
	out_char(out, '"');
}

/* What a double cannot hold, or JSON does not know, in quotes. */
void value_json(struct out *out, const struct posix_trace_value_np *value)
{
	const struct posix_trace_field_np *field = value->field;
	bool quoted = field->size == 8 && field->form != POSIX_TRACE_FORM_BYTES_NP;

	if (field->form == POSIX_TRACE_FORM_FLOAT_NP)
		quoted = !isfinite(value->f64);
	if (quoted)
		out_char(out, '"');
	if (field->type == POSIX_TRACE_TYPE_BOOL_NP)
		out_str(out, value->u64 ? "true" : "false");
	else if (field->type == POSIX_TRACE_TYPE_PTR_NP || field->type == POSIX_TRACE_TYPE_X64_NP)
		hex(out, value->u64);
	else if (field->form == POSIX_TRACE_FORM_SIGNED_NP)
		out_signed(out, value->s64);
	else if (field->form == POSIX_TRACE_FORM_FLOAT_NP)
		floating(out, value);
	else if (field->form == POSIX_TRACE_FORM_BYTES_NP)
		json_bytes(out, value);
	else
		out_unsigned(out, value->u64);
	if (quoted)
		out_char(out, '"');
}

bool value_label(struct out *out, const struct logfile *log,
		 const struct posix_trace_event_np *event, const struct posix_trace_value_np *value,
		 const char *before)
{
	const struct posix_trace_field_np *field = value->field;
	const char *name = field->value_names ? posix_trace_value_name_np(value) : NULL;
	const char *error =
		field->type == POSIX_TRACE_TYPE_ERRNO_NP ? error_name(value->s64) : NULL;
	char text[POSIX_TRACE_OBJECT_NAME_MAX_NP + 32];
	struct posix_trace_object_np object;
	bool found = !name && !error && !field->has_bits && find_object(log, event, value, &object);

	if (!name && !error && !field->has_bits && !found)
		return false;
	out_printf(out, "%s\"%s\":", before, field->name);
	if (found) {
		snprintf(text, sizeof(text), "%s:%s", posix_trace_object_kind_name_np(object.kind),
			 object.name);
		text_json(out, text, strlen(text));
		return true;
	}
	out_char(out, '"');
	if (name)
		out_str(out, name);
	else if (field->has_bits)
		bits(out, value);
	else
		error_number(out, value->s64, error);
	out_char(out, '"');
	return true;
}
