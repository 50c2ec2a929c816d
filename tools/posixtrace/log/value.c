/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * value.c - prints one value of a field as text or JSON. The library has checked that the value is
 * within the data.
 */
#include "log/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errnames.h"
#include "base/real.h"
#include "base/text.h"
#include "log/descriptors.h"

static void value_hex(struct out *out, uint64_t value)
{
	char *p = out_room(out);

	*p++ = '0';
	*p++ = 'x';
	out_done(out, put_hex(p, value, 1));
}

static void put_float(struct out *out, const struct posix_trace_value_np *value)
{
	char text[REAL_BYTES];

	real_text(text, value->f64, value->field->type == POSIX_TRACE_TYPE_F32_NP);
	out_str(out, text);
}

/*
 * Writes a point and the digits of a fraction without the zeros at its end. Writes nothing if the
 * fraction is 0.
 */
static char *put_fraction(char *p, uint64_t rest, unsigned digits)
{
	if (!rest)
		return p;
	*p = '.';
	p = put_digits(p + 1, rest, digits);
	while (p[-1] == '0')
		p--;
	return p;
}

/* Writes a duration exactly, in the greatest unit in which it is at least 1. */
static void put_duration(struct out *out, uint64_t ns)
{
	char *p = out_room(out);

	/*
	 * The divisors are constants, so that the compiler can replace the divisions by
	 * multiplications.
	 */
	if (ns >= 1000000000) {
		p = put_fraction(put_unsigned(p, ns / 1000000000), ns % 1000000000, 9);
	} else if (ns >= 1000000) {
		p = put_fraction(put_unsigned(p, ns / 1000000), ns % 1000000, 6);
		*p++ = 'm';
	} else if (ns >= 1000) {
		p = put_fraction(put_unsigned(p, ns / 1000), ns % 1000, 3);
		*p++ = 'u';
	} else {
		p = put_unsigned(p, ns);
		*p++ = 'n';
	}
	*p++ = 's';
	out_done(out, p);
}

/*
 * Writes a character in single quotes, \0 for a NUL. A byte above ASCII is escaped, because a
 * single byte of this kind is not UTF-8.
 */
static void put_char(struct out *out, unsigned char c)
{
	const char text = (char)c;

	out_char(out, '\'');
	if (c)
		text_safe(out, &text, 1);
	else
		out_str(out, "\\0");
	out_char(out, '\'');
}

/*
 * Returns the name of an error number. The number may be negative, as kernel interfaces return it.
 * Then the result is the name of its absolute value. Returns NULL if the number has no name.
 */
static const char *error_name(int64_t value)
{
	/* The value comes from a field of 32 bits, so the negation cannot overflow. */
	return errno_name(value < 0 ? -value : value);
}

/*
 * Writes the name of an error. A negative number, as kernel interfaces return it, gets a minus
 * sign: -ENOENT.
 */
static void put_error(struct out *out, int64_t value, const char *name)
{
	if (value < 0)
		out_char(out, '-');
	out_str(out, name);
}

/*
 * Writes the label that the library has for a value: the names of its bits, the name of a signal,
 * or the meaning of a wait status. Returns false if the library has no label.
 */
static bool put_label(struct out *out, const struct posix_trace_value_np *value)
{
	char label[POSIX_TRACE_LABEL_MAX_NP + 1];

	if (!posix_trace_value_label_np(value, label, sizeof(label)))
		return false;
	out_str(out, label); /* the grammar of schemas permits only printable characters */
	return true;
}

/* Returns whether value_label() and value_text() ask the library for a label. */
static bool has_library_label(const struct posix_trace_field_np *field)
{
	return field->has_bits || field->type == POSIX_TRACE_TYPE_SIGNAL_NP ||
	       field->type == POSIX_TRACE_TYPE_WAIT_NP;
}

/*
 * Returns whether bytes are shown as text. The bytes of a field of constant length are not shown as
 * text, because they usually are a digest or an id. Other bytes are text if each byte is a
 * printable character of ASCII, a tab or a line end, or if text_is_text() accepts them.
 */
static bool is_content(const struct posix_trace_value_np *value)
{
	const char *byte = value->data;
	size_t i = 0;

	if (value->field->type != POSIX_TRACE_TYPE_BYTES_NP || value->field->room)
		return false;
	while (i < value->len && ((byte[i] >= ' ' && byte[i] < 127) || byte[i] == '\t' ||
				  byte[i] == '\r' || byte[i] == '\n'))
		i++;
	return i == value->len || text_is_text(value->data, value->len, false);
}

/* Writes an octal number that begins with 0. The number 0 is one digit. */
static void value_octal(struct out *out, uint64_t value)
{
	unsigned digits = 1;
	char *p = out_room(out);

	while (digits < 22 && value >> 3 * digits)
		digits++;
	if (value)
		*p++ = '0';
	for (unsigned i = digits; i-- > 0;)
		*p++ = (char)('0' + (value >> 3 * i & 7));
	out_done(out, p);
}

/*
 * Finds the name of the object that a pointer refers to, at the time of the event. Returns false if
 * the log has no such object, or if the field is not a pointer.
 */
static bool find_object(const struct logfile *log, const struct posix_trace_event_np *event,
			const struct posix_trace_value_np *value,
			struct posix_trace_object_np *object)
{
	return log->has_objects && value_is_pointer(value->field) &&
	       !posix_trace_object_find_np(log->trid, event->info.posix_pid, value->u64,
					   event->time_ns, object);
}

value_symbol_call *value_symbol;

/* Returns the name of the function or variable to which a pointer refers, or NULL. */
static const char *find_symbol_of(const struct logfile *log,
				  const struct posix_trace_event_np *event,
				  const struct posix_trace_value_np *value)
{
	return value_symbol && value_is_pointer(value->field) && value->u64
		       ? value_symbol(log, event->info.posix_pid, value->u64, event->time_ns)
		       : NULL;
}

/* Returns the name of a file descriptor at the time of the event, or NULL. */
static const char *find_descriptor(const struct logfile *log,
				   const struct posix_trace_event_np *event,
				   const struct posix_trace_value_np *value)
{
	return descriptors_find(log->descriptors, event, value->field->name, value->s64);
}

/* Writes the number of a descriptor, and its name in angle brackets. */
static void put_descriptor(struct out *out, const struct logfile *log,
			   const struct posix_trace_event_np *event,
			   const struct posix_trace_value_np *value)
{
	const char *name = find_descriptor(log, event, value);

	out_signed(out, value->s64);
	if (name) {
		out_str(out, " <");
		text_safe(out, name, strlen(name));
		out_char(out, '>');
	}
}

int value_object_kind(const char *name)
{
	int kind = POSIX_TRACE_OBJECT_THREAD_NP; /* the first one */

	while (kind < POSIX_TRACE_OBJECT_OTHER_NP &&
	       strcmp(posix_trace_object_kind_name_np(kind), name) != 0)
		kind++;
	return kind;
}

/*
 * Writes the address. If the log has an object at this address, also writes its kind and name. The
 * name of a function or variable is in angle brackets, as debuggers write it.
 */
static void put_pointer(struct out *out, const struct logfile *log,
		    const struct posix_trace_event_np *event,
		    const struct posix_trace_value_np *value)
{
	struct posix_trace_object_np object;
	bool found = find_object(log, event, value, &object);
	const char *symbol = found ? NULL : find_symbol_of(log, event, value);

	if (found) {
		out_str(out, posix_trace_object_kind_name_np(object.kind));
		out_char(out, ':');
	}
	value_hex(out, value->u64);
	if (found) {
		out_char(out, ' ');
		text_quoted(out, object.name, strlen(object.name));
	} else if (symbol) {
		out_str(out, " <");
		text_safe(out, symbol, strlen(symbol));
		out_char(out, '>');
	}
}

/*
 * Writes strings in quotes. Bytes that are text, such as data that a program reads or writes, are
 * written in quotes, too. Other bytes are written as hexadecimal digits. Three points behind a
 * value show that the value is incomplete, because the data ends within it.
 */
static void text_bytes(struct out *out, const struct posix_trace_value_np *value)
{
	if (value->field->type == POSIX_TRACE_TYPE_STR_NP ||
	    is_content(value))
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
	if (has_library_label(field) && put_label(out, value))
		return;
	switch (field->type) {
	case POSIX_TRACE_TYPE_X8_NP:
	case POSIX_TRACE_TYPE_X16_NP:
	case POSIX_TRACE_TYPE_X32_NP:
	case POSIX_TRACE_TYPE_X64_NP:
		value_hex(out, value->u64);
		return;
	case POSIX_TRACE_TYPE_O8_NP:
	case POSIX_TRACE_TYPE_O16_NP:
	case POSIX_TRACE_TYPE_O32_NP:
	case POSIX_TRACE_TYPE_O64_NP:
		value_octal(out, value->u64);
		return;
	case POSIX_TRACE_TYPE_PTR_NP:
	case POSIX_TRACE_TYPE_PTR32_NP:
		put_pointer(out, log, event, value);
		return;
	case POSIX_TRACE_TYPE_FD_NP:
		put_descriptor(out, log, event, value);
		return;
	case POSIX_TRACE_TYPE_BOOL_NP:
		out_str(out, value->u64 ? "true" : "false");
		return;
	case POSIX_TRACE_TYPE_CHAR_NP:
		put_char(out, (unsigned char)value->u64);
		return;
	case POSIX_TRACE_TYPE_NS_NP:
		put_duration(out, value->u64);
		return;
	case POSIX_TRACE_TYPE_TIME_NP:
		out_done(out, when_put(out_room(out), value->s64, form));
		return;
	case POSIX_TRACE_TYPE_ERRNO_NP:
		name = error_name(value->s64);
		if (!name)
			break;
		put_error(out, value->s64, name);
		return;
	default:
		break;
	}
	switch (field->form) {
	case POSIX_TRACE_FORM_SIGNED_NP:
		out_signed(out, value->s64);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		put_float(out, value);
		break;
	case POSIX_TRACE_FORM_BYTES_NP:
		text_bytes(out, value);
		break;
	default:
		out_unsigned(out, value->u64);
	}
}

/* Writes strings as text and other bytes as hexadecimal digits. */
static void json_bytes(struct json *json, const char *name,
		       const struct posix_trace_value_np *value)
{
	if (value->field->type == POSIX_TRACE_TYPE_STR_NP)
		json_text(json, name, value->data, value->len);
	else
		json_hex(json, name, value->data, value->len);
}

/* Writes a float with the same digits that value_text() writes. */
static void json_float(struct json *json, const char *name,
		       const struct posix_trace_value_np *value)
{
	if (value->field->type == POSIX_TRACE_TYPE_F32_NP)
		json_single(json, name, (float)value->f64);
	else
		json_double(json, name, value->f64);
}

/*
 * Integers of 64 bits become strings, because programs in languages such as JavaScript read numbers
 * as doubles, which are exact only up to 53 bits. nan and the infinities become strings, because
 * JSON does not have them.
 */
void value_json(struct json *json, const char *name, const struct posix_trace_value_np *value)
{
	const struct posix_trace_field_np *field = value->field;
	bool is_wide = field->size == 8;

	if (field->type == POSIX_TRACE_TYPE_BOOL_NP)
		json_bool(json, name, value->u64);
	else if (field->type == POSIX_TRACE_TYPE_PTR_NP || field->type == POSIX_TRACE_TYPE_X64_NP)
		json_address(json, name, value->u64);
	else if (field->form == POSIX_TRACE_FORM_BYTES_NP)
		json_bytes(json, name, value);
	else if (field->form == POSIX_TRACE_FORM_FLOAT_NP)
		json_float(json, name, value);
	else if (field->form == POSIX_TRACE_FORM_SIGNED_NP && is_wide)
		json_exact(json, name, value->s64);
	else if (field->form == POSIX_TRACE_FORM_SIGNED_NP)
		json_signed(json, name, value->s64);
	else if (is_wide)
		json_exact_unsigned(json, name, value->u64);
	else
		json_unsigned(json, name, value->u64);
}

bool value_label(const struct logfile *log, const struct posix_trace_event_np *event,
		 const struct posix_trace_value_np *value, char text[VALUE_LABEL_BYTES])
{
	const struct posix_trace_field_np *field = value->field;
	const char *name = field->value_names ? posix_trace_value_name_np(value) : NULL;
	const char *error =
		field->type == POSIX_TRACE_TYPE_ERRNO_NP ? error_name(value->s64) : NULL;
	struct posix_trace_object_np object;

	/*
	 * The first label that exists is used, in this order: the name of the value, the name of
	 * the error, the label of the library, the name of the file descriptor, the object, the
	 * symbol.
	 */
	if (name || error) {
		snprintf(text, VALUE_LABEL_BYTES, "%s%s", !name && value->s64 < 0 ? "-" : "",
			 name ? name : error);
		return true;
	}
	if (has_library_label(field))
		return posix_trace_value_label_np(value, text, VALUE_LABEL_BYTES);
	if (field->type == POSIX_TRACE_TYPE_FD_NP) {
		const char *path = find_descriptor(log, event, value);

		if (path)
			snprintf(text, VALUE_LABEL_BYTES, "%s", path);
		return path;
	}
	if (!find_object(log, event, value, &object)) {
		name = find_symbol_of(log, event, value);
		if (name)
			snprintf(text, VALUE_LABEL_BYTES, "%s", name);
		return name;
	}
	snprintf(text, VALUE_LABEL_BYTES, "%s:%s", posix_trace_object_kind_name_np(object.kind),
		 object.name);
	return true;
}
