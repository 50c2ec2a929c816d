/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/print.c - events and values as text in the caller's memory.
 *
 * Bytes that a terminal could obey become escapes: data come from files and from other processes.
 */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trace_np.h>

#include "base/clock.h"
#include "cursor/stored.h"
#include "posix/call.h"
#include "posix/first.h"
#include "posix/label.h"
#include "posix/message.h"
#include "posix/print_system.h"
#include "posix/text.h"
#include "record/schema.h"

/* Returns whether data without a schema are printable, except for NULs at the end. */
static bool is_text(const unsigned char *byte, size_t len)
{
	size_t used = len;

	while (used && !byte[used - 1])
		used--;
	/*
	 * In memory a small number looks like one to three characters with NULs behind them. A
	 * padded string is longer than that.
	 */
	if (used == 0 || (used + 1 < len && used < 4))
		return false;
	for (size_t i = 0; i < used; i++)
		if (byte[i] >= 0x7f || (byte[i] < 0x20 && byte[i] != '\t' && byte[i] != '\n' &&
					byte[i] != '\r'))
			return false;
	return true;
}

/*
 * Appends a time of UTC, as 2026-01-31T23:59:59.123456789Z, in the Gregorian calendar. The function
 * does not use strftime(), which may read the file of a time zone and allocate memory. An era is
 * 400 years; it begins on the first of March of a year that 400 divides.
 */
static void put_time(struct ptx_text *text, int64_t seconds, long nanoseconds)
{
	const int64_t second = (seconds % 86400 + 86400) % 86400;
	const int64_t days = seconds / 86400 - (seconds % 86400 < 0) + 719468;
	const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
	const int64_t of_era = days - era * 146097;
	const int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	const int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	const int64_t month = (5 * of_year + 2) / 153; /* number of months since March */

	ptx_text_format(text, "%04lld-%02lld-%02lldT%02lld:%02lld:%02lld.%09ldZ",
		   (long long)(year + era * 400 + (month >= 10)),
		   (long long)(month < 10 ? month + 3 : month - 9),
		   (long long)(of_year - (153 * month + 2) / 5 + 1), (long long)(second / 3600),
		   (long long)(second / 60 % 60), (long long)(second % 60), nanoseconds);
}

/* Appends a time in nanoseconds since 1970. */
static void put_time_ns(struct ptx_text *text, int64_t ns)
{
	const struct timespec time = ptx_timespec(ns);

	put_time(text, time.tv_sec, time.tv_nsec);
}

/*
 * Appends a duration exactly, in the largest unit that has a digit other than 0 before the point.
 */
static void put_duration(struct ptx_text *text, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		int digits;
		const char *name;
	} units[] = {
		{ 1000000000, 9, "s" }, { 1000000, 6, "ms" }, { 1000, 3, "us" }, { 1, 0, "ns" }
	};
	unsigned unit = 0;
	uint64_t rest;
	int digits;

	while (ns < units[unit].ns && units[unit].digits)
		unit++;
	rest = ns % units[unit].ns;
	digits = units[unit].digits;
	ptx_text_format(text, "%llu", (unsigned long long)(ns / units[unit].ns));
	if (rest) {
		for (; rest % 10 == 0; rest /= 10)
			digits--;
		ptx_text_format(text, ".%0*llu", digits, (unsigned long long)rest);
	}
	ptx_text_string(text, units[unit].name);
}

/*
 * Appends a floating-point number with the fewest digits from which the same number is read
 * again.
 */
static void put_float(struct ptx_text *text, const struct posix_trace_value_np *value)
{
	const bool is_float = value->field->type == POSIX_TRACE_TYPE_F32_NP;
	const int most = is_float ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
	char number[40];

	for (int digits = is_float ? FLT_DIG : DBL_DIG;; digits++) {
		snprintf(number, sizeof(number), "%.*g", digits, value->f64);
		if (digits == most ||
		    (is_float ? strtof(number, NULL) == (float)value->f64 :
				strtod(number, NULL) == value->f64))
			break;
	}
	ptx_text_string(text, number);
}

/*
 * Appends a character in single quotes. A NUL is frequent, so it gets the short escape of C.
 */
static void put_character(struct ptx_text *text, unsigned char c)
{
	ptx_text_string(text, "'");
	if (c)
		ptx_text_escaped(text, &c, 1, "");
	else
		ptx_text_string(text, "\\0");
	ptx_text_string(text, "'");
}

/*
 * Appends a str in quotes, and bytes as hexadecimal digits. Bytes of length 0 become two quotes.
 * Dots follow if the value is incomplete because the payload ends within it.
 */
static void put_bytes(struct ptx_text *text, const struct posix_trace_value_np *value)
{
	if (value->field->type == POSIX_TRACE_TYPE_STR_NP || value->len == 0)
		ptx_text_quoted(text, value->data, value->len);
	else
		ptx_text_hex(text, value->data, value->len);
	if (value->flags & POSIX_TRACE_VALUE_CUT_NP)
		ptx_text_string(text, "...");
}

/*
 * Appends a value by its form alone, for types without a notation of their own.
 */
static void put_plain(struct ptx_text *text, const struct posix_trace_value_np *value)
{
	switch (value->field->form) {
	case POSIX_TRACE_FORM_SIGNED_NP:
		ptx_text_format(text, "%lld", (long long)value->s64);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		put_float(text, value);
		break;
	case POSIX_TRACE_FORM_BYTES_NP:
		put_bytes(text, value);
		break;
	default:
		ptx_text_format(text, "%llu", (unsigned long long)value->u64);
	}
}

/*
 * Appends a value in the notation of its type. If the value has a label, only the label is
 * appended, because the author of the schema chose the label for readers.
 */
static void put_value(struct ptx_text *text, const struct posix_trace_value_np *value)
{
	const struct posix_trace_field_np *field = value->field;
	char label[POSIX_TRACE_LABEL_MAX_NP + 1];

	if (ptx_label(value, label)) {
		ptx_text_string(text, label);
		return;
	}
	switch (field->type) {
	case POSIX_TRACE_TYPE_X8_NP:
	case POSIX_TRACE_TYPE_X16_NP:
	case POSIX_TRACE_TYPE_X32_NP:
	case POSIX_TRACE_TYPE_X64_NP:
	case POSIX_TRACE_TYPE_PTR_NP:
	case POSIX_TRACE_TYPE_PTR32_NP:
		ptx_text_format(text, "0x%llx", (unsigned long long)value->u64);
		break;
	case POSIX_TRACE_TYPE_BOOL_NP:
		ptx_text_string(text, value->u64 ? "true" : "false");
		break;
	case POSIX_TRACE_TYPE_CHAR_NP:
		put_character(text, (unsigned char)value->u64);
		break;
	case POSIX_TRACE_TYPE_NS_NP:
		put_duration(text, value->u64);
		break;
	case POSIX_TRACE_TYPE_TIME_NP:
		put_time_ns(text, value->s64);
		break;
	case POSIX_TRACE_TYPE_O8_NP:
	case POSIX_TRACE_TYPE_O16_NP:
	case POSIX_TRACE_TYPE_O32_NP:
	case POSIX_TRACE_TYPE_O64_NP:
		ptx_text_format(text, "%#llo", (unsigned long long)value->u64);
		break;
	default:
		put_plain(text, value);
	}
}

/*
 * Appends " name=value" for each field. Bytes that belong to no field become + and hexadecimal
 * digits.
 */
static void put_fields(struct ptx_text *text, const struct posix_trace_schema_np *schema,
		       const void *data, size_t len)
{
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	bool is_open = false; /* the last value is of an array that has more elements */

	posix_trace_values_begin_np(&values, schema, data, len, 0);
	while (posix_trace_field_next_np(&values, &value)) {
		ptx_text_string(text, " ");
		if (value.index == 0)
			ptx_text_format(text, "%s=%s", value.field->name,
				   value.field->is_array ? "[" : "");
		put_value(text, &value);
		is_open = value.field->is_array && value.index + 1 < value.field->count;
		if (value.field->is_array && !is_open)
			ptx_text_string(text, "]");
	}
	if (is_open)
		ptx_text_string(text, " ...]");
	if (values.len) {
		ptx_text_string(text, " +");
		ptx_text_hex(text, values.data, values.len);
	}
}

/* Appends a part of a message, which is within quotes. */
static void put_message_part(void *text, const char *part, size_t len)
{
	ptx_text_escaped(text, (const unsigned char *)part, len, "\\\"");
}

/*
 * Appends the data of an event, after a blank: the message if the schema has a format, or else the
 * fields of the schema. Without a schema nothing is known of the data. The function then prints
 * them in quotes if they look like text, and as hexadecimal digits otherwise.
 */
static void put_data(struct ptx_text *text, const struct posix_trace_schema_np *schema,
		     const void *data, size_t len)
{
	if (schema && schema->format) {
		ptx_text_string(text, " \"");
		ptx_message_parts(schema, data, len, 0, put_message_part, text);
		ptx_text_string(text, "\"");
		return;
	}
	if (schema) {
		put_fields(text, schema, data, len);
		return;
	}
	if (len == 0)
		return;
	ptx_text_string(text, " ");
	if (is_text(data, len))
		ptx_text_quoted(text, data, len);
	else
		ptx_text_hex(text, data, len);
}

/*
 * Appends a line: time, process, name of the type, data. Names come from other programs, so they
 * are escaped, too. An empty name is shown as two quotes.
 */
static void put_event(struct ptx_text *text, trace_id_t trid,
		      const struct posix_trace_event_info *info, const char *name,
		      const struct posix_trace_schema_np *schema, const void *data, size_t len)
{
	put_time(text, info->posix_timestamp.tv_sec, info->posix_timestamp.tv_nsec);
	if (info->posix_pid > 0)
		ptx_text_format(text, " %ld ", (long)info->posix_pid);
	else
		ptx_text_string(text, " - ");
	if (*name)
		ptx_text_escaped(text, (const unsigned char *)name, strlen(name), "\\");
	else
		ptx_text_string(text, "\"\"");
	if (!ptx_print_system(text, trid, info->posix_event_id, data, len))
		put_data(text, schema, data, len);
	if (info->posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		ptx_text_string(text, " [truncated]");
}

/*
 * The calls for the name and for the schema lock the stream one after the other. A name or a schema
 * does not change once it exists, so the line is consistent. A schema that is not valid is ignored,
 * since the data can be shown without it.
 */
PTX_EXPORT int posix_trace_event_print_np(trace_id_t trid,
					  const struct posix_trace_event_info *info,
					  const void *data, size_t len, char *to, size_t size,
					  size_t *length)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_text text = { .to = to, .size = size };
	struct posix_trace_schema_np schema;
	char name[PTX_TYPE_NAME_BYTES], described[PTX_SCHEMA_BYTES];
	bool has_schema;

	if (!info || (!data && len) || (!to && size) || !length ||
	    posix_trace_eventid_get_name(trid, info->posix_event_id, name))
		return ptx_call_end(call, EINVAL);
	has_schema = !posix_trace_eventid_get_schema_np(trid, info->posix_event_id, described,
							sizeof(described)) &&
		     !ptx_schema_parse(described, &schema);
	put_event(&text, trid, info, name, has_schema ? &schema : NULL, data, len);
	*length = ptx_text_end(&text);
	return ptx_call_end(call, 0);
}

/*
 * A newer program's value has members that this version does not have. They do not matter for the
 * text, so they are ignored, unlike in calls that store the structure.
 */
PTX_EXPORT size_t posix_trace_value_print_sized_np(const struct posix_trace_value_np *value,
						   size_t value_size, char *to, size_t size)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_text text = { .to = to, .size = size };
	struct posix_trace_value_np known;
	size_t len;

	if (value_size >= PTX_FIRST_VALUE) {
		ptx_sized_load(&known, sizeof(known), value,
			       value_size < sizeof(known) ? value_size : sizeof(known));
		put_value(&text, &known);
	}
	len = ptx_text_end(&text);
	ptx_call_end(call, 0);
	return len;
}
