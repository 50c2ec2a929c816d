/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp_attributes.c - the attributes of a record. A name with a dot is defined by the semantic
 * conventions of OpenTelemetry, or begins with "posixtrace.", or begins with the name of a field.
 * The names of fields themselves have no dots, so no two attributes of a record have the same name.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "convert/explained.h"
#include "convert/jsonfields.h"
#include "convert/otlp/otlp.h"
#include "convert/plain.h"
#include "log/field.h"

#define TEXT_MOST 65536 /* longer texts and bytes lose their ends */
#define END_NAME  "posixtrace.end." /* prefix of the name of a field that the beginning has, too */

/* Begins a KeyValue. */
static void begin_pair(struct proto *p, unsigned field, const char *key, size_t begin[2])
{
	begin[0] = proto_begin(p, field);
	proto_text(p, PAIR_KEY, key);
	begin[1] = proto_begin(p, PAIR_VALUE);
}

static void end_pair(struct proto *p, const size_t begin[2])
{
	proto_end(p, begin[1]);
	proto_end(p, begin[0]);
}

/* Writes the member string_value. The text is converted to valid UTF-8, which protobuf requires. */
static void put_text_value(struct proto *p, const void *text, size_t len)
{
	char *copy;

	if (len > TEXT_MOST)
		len = TEXT_MOST;
	if (text_is_utf8(text, len)) {
		proto_bytes(p, VALUE_STRING, text, len);
		return;
	}
	copy = plain_copy(text, len);
	if (copy)
		proto_text(p, VALUE_STRING, copy);
	else
		p->failed = true;
	free(copy);
}

void otlp_text(struct proto *p, unsigned field, const char *key, const void *text, size_t len)
{
	size_t begin[2];

	begin_pair(p, field, key, begin);
	put_text_value(p, text, len);
	end_pair(p, begin);
}

/* An empty text is omitted, since it means an unknown value. */
void otlp_string(struct proto *p, unsigned field, const char *key, const char *text)
{
	if (text && *text)
		otlp_text(p, field, key, text, strlen(text));
}

void otlp_number(struct proto *p, unsigned field, const char *key, int64_t number)
{
	size_t begin[2];

	begin_pair(p, field, key, begin);
	proto_number(p, VALUE_INT, (uint64_t)number);
	end_pair(p, begin);
}

/* int_value is signed, so a number greater than INT64_MAX becomes a text of decimal digits. */
static void put_unsigned_value(struct proto *p, uint64_t number)
{
	char digits[24];

	if (number <= INT64_MAX)
		proto_number(p, VALUE_INT, number);
	else
		proto_bytes(p, VALUE_STRING, digits,
			    (size_t)(put_unsigned(digits, number) - digits));
}

void otlp_unsigned(struct proto *p, unsigned field, const char *key, uint64_t number)
{
	size_t begin[2];

	begin_pair(p, field, key, begin);
	put_unsigned_value(p, number);
	end_pair(p, begin);
}

void otlp_bool(struct proto *p, unsigned field, const char *key, bool value)
{
	size_t begin[2];

	begin_pair(p, field, key, begin);
	proto_number(p, VALUE_BOOL, value);
	end_pair(p, begin);
}

void otlp_bytes(struct proto *p, unsigned field, const char *key, const void *bytes, size_t len)
{
	size_t begin[2];

	begin_pair(p, field, key, begin);
	proto_bytes(p, VALUE_BYTES, bytes, len < TEXT_MOST ? len : TEXT_MOST);
	end_pair(p, begin);
}

/* ------------------------------------------------------------------ fields */

static void put_hex_value(struct proto *p, uint64_t value)
{
	char digits[24] = "0x";

	proto_bytes(p, VALUE_STRING, digits, (size_t)(put_hex(digits + 2, value, 1) - digits));
}

/* Writes the member of AnyValue for the type of the value. */
static void put_value(struct proto *p, const struct posix_trace_value_np *value)
{
	switch (value->field->form) {
	case POSIX_TRACE_FORM_UNSIGNED_NP:
		if (value->field->type == POSIX_TRACE_TYPE_BOOL_NP)
			proto_number(p, VALUE_BOOL, value->u64 != 0);
		else if (json_field_is_hexadecimal(value->field))
			put_hex_value(p, value->u64);
		else
			put_unsigned_value(p, value->u64);
		break;
	case POSIX_TRACE_FORM_SIGNED_NP:
		proto_number(p, VALUE_INT, (uint64_t)value->s64);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		proto_double(p, VALUE_DOUBLE, value->f64);
		break;
	case POSIX_TRACE_FORM_BYTES_NP:
		if (value->field->type == POSIX_TRACE_TYPE_STR_NP)
			put_text_value(p, value->data, value->len);
		else
			proto_bytes(p, VALUE_BYTES, value->data,
				    value->len < TEXT_MOST ? value->len : TEXT_MOST);
		break;
	}
}

/*
 * Stores the name of the attribute for a field. A name of the semantic conventions is used only if
 * the value has exactly the meaning of this name. For example, file.path is a full path.
 */
static void name_attribute(char name[POSIX_TRACE_FIELD_NAME_MAX_NP + 32],
			   const struct posix_trace_value_np *value, const char *before)
{
	if (!strcmp(value->field->name, "path") && !*before &&
	    value->field->type == POSIX_TRACE_TYPE_STR_NP && value->len &&
	    *(const char *)value->data == '/')
		strcpy(name, "file.path");
	else
		strcpy(stpcpy(name, before), value->field->name);
}

/* Adds the name of the value, such as the name of an object, as the attribute FIELD.label. */
static void put_name(struct otlp *otlp, unsigned field, const struct fmt_event *event,
		     const struct posix_trace_value_np *value, const char *before)
{
	char name[FMT_NAME_BYTES], key[POSIX_TRACE_FIELD_NAME_MAX_NP + 32];

	if (!fmt_value_name(otlp->flow, event, value, name))
		return;
	snprintf(key, sizeof(key), "%s%s.label", before, value->field->name);
	otlp_string(&otlp->body, field, key, name);
}

/*
 * Returns the prefix of the attribute's name. Returns NULL for a key field that the beginning of
 * the span has, too. Such a field gets no attribute, because its value is equal in the two events.
 */
static const char *name_before(const struct posix_trace_field_np *field,
			       const struct fmt_type *besides)
{
	if (!besides || field_index(besides->fields, field->name) < 0)
		return "";
	return field->is_key ? NULL : END_NAME;
}

/* The library returns the elements of an array one by one. They become one attribute. */
static void put_fields(struct otlp *otlp, unsigned field, const struct fmt_event *event,
		       const struct fmt_type *besides)
{
	const struct posix_trace_field_np *last = NULL;
	struct proto *p = &otlp->body;
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	size_t pair[2] = { 0 }, array = 0, element;
	const char *before = "";
	char key[POSIX_TRACE_FIELD_NAME_MAX_NP + 32];

	posix_trace_values_begin_np(&values, event->type->fields, event->data, event->data_len, 0);
	while (posix_trace_field_next_np(&values, &value) &&
	       !(value.flags & POSIX_TRACE_VALUE_CUT_NP)) {
		bool begins = value.field != last;

		if (begins && last && last->is_array && before) {
			proto_end(p, array);
			end_pair(p, pair);
		}
		last = value.field;
		before = name_before(last, besides);
		if (!before)
			continue;
		if (begins) {
			name_attribute(key, &value, before);
			begin_pair(p, field, key, pair);
			array = last->is_array ? proto_begin(p, VALUE_ARRAY) : 0;
		}
		if (last->is_array) {
			element = proto_begin(p, ARRAY_VALUES);
			put_value(p, &value);
			proto_end(p, element);
			continue;
		}
		put_value(p, &value);
		end_pair(p, pair);
		if (fmt_may_have_name(last))
			put_name(otlp, field, event, &value, before);
	}
	if (last && last->is_array && before) {
		proto_end(p, array);
		end_pair(p, pair);
	}
}

unsigned otlp_missing(const struct fmt_event *event)
{
	const struct posix_trace_schema_np *schema = event->type->fields;
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	const struct posix_trace_field_np *last = NULL;
	unsigned found = 0;

	if (!schema || event->truncation == POSIX_TRACE_NOT_TRUNCATED)
		return 0;
	posix_trace_values_begin_np(&values, schema, event->data, event->data_len, 0);
	while (posix_trace_field_next_np(&values, &value) &&
	       !(value.flags & POSIX_TRACE_VALUE_CUT_NP)) {
		found += value.field != last;
		last = value.field;
	}
	return schema->fields - found;
}

/* ------------------------------------------------------------------ all of an event */

/* Writes data that the fields do not describe: as text if the data is text, otherwise as bytes. */
static void put_data(struct proto *p, unsigned field, const char *key,
		     const struct fmt_event *event)
{
	size_t len = event->data_len;

	if (!text_is_text(event->data, len, true)) {
		otlp_bytes(p, field, key, event->data, len);
		return;
	}
	/* NULs at the end do not belong to the text. */
	while (len && !((const char *)event->data)[len - 1])
		len--;
	otlp_text(p, field, key, event->data, len);
}

static void put_thread(struct otlp *otlp, unsigned field, const struct fmt_event *event)
{
	struct proto *p = &otlp->body;

	if (event->tid)
		otlp_number(p, field, "thread.id", event->tid);
	if (event->tid || event->thread)
		otlp_string(p, field, "thread.name",
			    otlp_name(otlp, event->pid, event->tid, event->thread));
	if (event->cpu >= 0)
		otlp_number(p, field, "cpu.logical_number", event->cpu);
}

/*
 * Writes the attributes that only few events have. "ends" is true if the event ends a span that
 * another event began.
 */
static void put_rare(struct proto *p, unsigned field, const struct fmt_event *event, bool ends)
{
	if (event->truncation != POSIX_TRACE_NOT_TRUNCATED)
		otlp_bool(p, field, ends ? "posixtrace.truncated.end" : "posixtrace.truncated",
			  true);
	if (event->flags & POSIX_TRACE_EVENT_LATE_NP)
		otlp_bool(p, field, ends ? "posixtrace.late.end" : "posixtrace.late", true);
	if (event->flags & POSIX_TRACE_EVENT_GAP_NP)
		otlp_bool(p, field,
			  ends ? "posixtrace.after_damage.end" : "posixtrace.after_damage", true);
}

/*
 * The event that ends a span adds only its fields, its data, its flags, its address, and its thread
 * if it is not the thread of the beginning. All other attributes come from the beginning.
 */
void otlp_attributes(struct otlp *otlp, unsigned field, const struct fmt_event *event,
		     const struct fmt_type *besides, uint32_t begin_tid)
{
	struct proto *p = &otlp->body;
	bool add_nul;

	if (!besides)
		put_thread(otlp, field, event);
	else if (event->tid && event->tid != begin_tid)
		otlp_number(p, field, END_NAME "thread.id", event->tid);
	put_rare(p, field, event, besides);
	if (event->type->fields)
		put_fields(otlp, field, event, besides);
	if (event->data_len && !(event->type->fields && explained(event->type->fields, event->data,
								  event->data_len, &add_nul)))
		put_data(p, field, besides ? "posixtrace.data.end" : "posixtrace.data", event);
	if (event->address) {
		char text[24];

		*put_hex(stpcpy(text, "0x"), event->address, 1) = '\0';
		otlp_string(p, field, besides ? "posixtrace.address.end" : "posixtrace.address",
			    text);
	}
}
