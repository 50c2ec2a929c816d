/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * classes.c - event types and their fields as classes of Babeltrace, and an event's values.
 *
 * An event type has up to two event classes. One class has the fields of the schema. The other
 * class has the bytes of the data, for events whose data contradicts the schema. So no event is
 * omitted. A class is made when the first event needs it. Functions that return an int return 0, or
 * -1 if memory is lacking. Each object that a function creates has one reference, which the owner
 * of the object puts.
 */
#include "source.h"

#include <stdlib.h>
#include <string.h>

/*
 * Returns whether the text is UTF-8, as Babeltrace requires of names and strings. Forms that are
 * longer than necessary and surrogates are refused: other programs would refuse the text.
 */
static bool is_utf8(const unsigned char *p, size_t len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	for (size_t i = 0; i < len;) {
		size_t n = p[i] < 0x80 ? 1 : p[i] < 0xc2 ? 0 : p[i] < 0xe0 ? 2 : p[i] < 0xf0 ? 3
			   : p[i] < 0xf5 ? 4 : 0;
		uint32_t c = n > 1 ? p[i] & (0x7fu >> n) : p[i];

		if (!n || len - i < n)
			return false;
		for (size_t j = 1; j < n; j++) {
			if ((p[i + j] & 0xc0) != 0x80)
				return false;
			c = c << 6 | (p[i + j] & 0x3f);
		}
		if (c < least[n] || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
			return false;
		i += n;
	}
	return true;
}

/*
 * Copies a name. If the name is not UTF-8, each byte that is not ASCII becomes an escape \xNN.
 * Control characters always become escapes, since sinks print names to terminals. The array "to"
 * has 4 bytes for each byte of the name.
 */
static void plain_name(char *to, const char *name)
{
	bool good = is_utf8((const unsigned char *)name, strlen(name));

	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (c < 0x20 || c == 0x7f || (c > 0x7f && !good)) {
			*to++ = '\\';
			*to++ = 'x';
			*to++ = "0123456789abcdef"[c >> 4];
			c = (unsigned char)"0123456789abcdef"[c & 15];
		}
		*to++ = (char)c;
	}
	*to = '\0';
}

/*
 * Returns a class of integers with this number of bits, or NULL if memory is lacking. The owner
 * puts it.
 */
static bt_field_class *classes_number(bt_trace_class *tc, unsigned bits, bool is_signed,
				      bool hexadecimal)
{
	bt_field_class *fc = is_signed ? bt_field_class_integer_signed_create(tc)
				       : bt_field_class_integer_unsigned_create(tc);

	if (!fc)
		return NULL;
	bt_field_class_integer_set_field_value_range(fc, bits);
	if (hexadecimal)
		bt_field_class_integer_set_preferred_display_base(
			fc, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return fc;
}

/*
 * Appends a member, and puts the caller's reference to the member in all cases. If "member" is
 * NULL, because its creation has failed, this function returns the error.
 */
static int classes_append(bt_field_class *structure, const char *name, bt_field_class *member)
{
	int err =
		!member || bt_field_class_structure_append_member(structure, name, member) ? -1 : 0;

	bt_field_class_put_ref(member);
	return err;
}

/* An array of bytes whose length each event sets. */
static bt_field_class *bytes_class(bt_trace_class *tc)
{
	bt_field_class *byte = classes_number(tc, 8, false, true);
	bt_field_class *array = byte ? bt_field_class_array_dynamic_create(tc, byte, NULL) : NULL;

	bt_field_class_put_ref(byte);
	return array;
}

/*
 * Returns the class of one value of a field. Pointers and the types x8 to x64 are shown in
 * hexadecimal form. The class of a text is a string, and the class of other bytes is an array.
 */
static bt_field_class *element_class(bt_trace_class *tc, const struct posix_trace_field_np *field)
{
	switch (field->form) {
	case POSIX_TRACE_FORM_UNSIGNED_NP:
		return classes_number(tc, 8 * field->size, false,
				      field->type == POSIX_TRACE_TYPE_PTR_NP ||
					      (field->type >= POSIX_TRACE_TYPE_X8_NP &&
					       field->type <= POSIX_TRACE_TYPE_X64_NP));
	case POSIX_TRACE_FORM_SIGNED_NP:
		return classes_number(tc, 8 * field->size, true, false);
	case POSIX_TRACE_FORM_FLOAT_NP:
		return field->size == 4 ? bt_field_class_real_single_precision_create(tc)
					: bt_field_class_real_double_precision_create(tc);
	case POSIX_TRACE_FORM_BYTES_NP:
		return field->type == POSIX_TRACE_TYPE_STR_NP ? bt_field_class_string_create(tc)
							      : bytes_class(tc);
	}
	return NULL;
}

/* Returns the class of a field. If the field is an array, the class has its fixed length. */
static bt_field_class *field_class(bt_trace_class *tc, const struct posix_trace_field_np *field)
{
	bt_field_class *element = element_class(tc, field), *array;

	if (!field->is_array || !element)
		return element;
	array = bt_field_class_array_static_create(tc, element, field->count);
	bt_field_class_put_ref(element);
	return array;
}

/*
 * Converts the level of a schema to a level of Babeltrace, which has more levels in the same order.
 * Returns -1 if the schema has no level.
 */
static int level_of(int level)
{
	static const int levels[] = {
		BT_EVENT_CLASS_LOG_LEVEL_CRITICAL, BT_EVENT_CLASS_LOG_LEVEL_ERROR,
		BT_EVENT_CLASS_LOG_LEVEL_WARNING, BT_EVENT_CLASS_LOG_LEVEL_INFO,
		BT_EVENT_CLASS_LOG_LEVEL_DEBUG,
	};

	return level >= 1 && level <= 5 ? levels[level - 1] : -1;
}

/*
 * Makes a class of a type: with the fields of the data if "fields" is true, otherwise with the
 * bytes of the data. If "fields" is true, the type must have a schema. Returns NULL if memory is
 * lacking.
 */
static bt_event_class *event_class(struct source *source, const struct kind *kind, bool fields)
{
	bt_event_class *class = bt_event_class_create(source->stream_class);
	bt_field_class *payload = bt_field_class_structure_create(source->trace_class);
	char name[4 * sizeof(kind->name)];
	int err = class && payload ? 0 : -1;

	plain_name(name, kind->name);
	if (!err && bt_event_class_set_name(class, name))
		err = -1;
	if (!err && kind->schema && level_of(kind->schema->level) >= 0)
		bt_event_class_set_log_level(class, (bt_event_class_log_level)
						    level_of(kind->schema->level));
	if (!err && !fields)
		err = classes_append(payload, "data", bytes_class(source->trace_class));
	for (unsigned i = 0; !err && fields && i < kind->schema->fields; i++)
		err = classes_append(payload, kind->schema->field[i].name,
				     field_class(source->trace_class, &kind->schema->field[i]));
	if (!err && bt_event_class_set_payload_field_class(class, payload))
		err = -1;
	bt_field_class_put_ref(payload);
	if (!err)
		return class;
	bt_event_class_put_ref(class);
	return NULL;
}

/*
 * Reads the name and the schema of a type. It is no error if the log does not have this type. A
 * schema that cannot be parsed is ignored.
 */
static int classes_learn(struct source *source, trace_id_t trid, trace_event_id_t id)
{
	struct kind *kind = &source->kind[id];
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];

	if (posix_trace_eventid_get_name(trid, id, kind->name))
		return 0;
	kind->known = true;
	if (!posix_trace_eventid_get_schema_np(trid, id, text, sizeof(text))) {
		kind->schema = malloc(sizeof(*kind->schema));
		if (!kind->schema)
			return -1;
		if (posix_trace_schema_parse_np(text, kind->schema)) {
			free(kind->schema);
			kind->schema = NULL;
		}
	}
	return 0;
}

int classes_create(struct source *source, bt_self_component *self, trace_id_t trid)
{
	/* The context that all events have, in the order of the values of classes_fill(). */
	static const struct {
		const char *name;
		unsigned bits;
		bool hexadecimal;
	} members[] = {
		{ "pid", 32, false }, { "tid", 32, false }, { "thread", 64, true },
		{ "address", 64, true }, { "truncated", 8, false }, { "late", 8, false },
		{ "after_damage", 8, false },
	};
	bt_clock_class *clock = bt_clock_class_create(self);
	bt_field_class *context;
	int err = -1;

	source->trace_class = bt_trace_class_create(self);
	if (!source->trace_class || !clock)
		goto out;
	bt_clock_class_set_name(clock, "realtime");
	/*
	 * The clock counts nanoseconds since 1970, as the log does. Its values have no sign, so
	 * times before 1970 need an offset.
	 */
	bt_clock_class_set_offset(clock, source->offset_s, 0);
	source->stream_class = bt_stream_class_create(source->trace_class);
	context = bt_field_class_structure_create(source->trace_class);
	if (!source->stream_class || !context ||
	    bt_stream_class_set_default_clock_class(source->stream_class, clock))
		goto out;
	bt_stream_class_set_supports_packets(source->stream_class, BT_TRUE, BT_TRUE, BT_TRUE);
	bt_stream_class_set_supports_discarded_events(source->stream_class, BT_TRUE, BT_TRUE);
	err = 0;
	for (size_t i = 0; !err && i < sizeof(members) / sizeof(members[0]); i++)
		err = classes_append(context, members[i].name,
				     classes_number(source->trace_class, members[i].bits, false,
						    members[i].hexadecimal));
	if (!err &&
	    bt_stream_class_set_event_common_context_field_class(source->stream_class, context))
		err = -1;
	bt_field_class_put_ref(context);
	for (trace_event_id_t id = 1; !err && id < IDS; id++)
		err = classes_learn(source, trid, id);
out:
	bt_clock_class_put_ref(clock);
	return err;
}

/*
 * Returns whether the data has exactly the fields of the schema, and each text is UTF-8. Only then
 * does the class with fields show the event completely.
 */
static bool classes_fits(const struct posix_trace_schema_np *schema,
			 const struct posix_trace_event_np *event)
{
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	unsigned count = 0, wanted = 0;

	for (unsigned i = 0; i < schema->fields; i++)
		wanted += schema->field[i].count;
	posix_trace_values_begin_np(&values, schema, event->data, event->data_len, 0);
	while (posix_trace_field_next_np(&values, &value)) {
		count++;
		if (value.flags & POSIX_TRACE_VALUE_CUT_NP ||
		    (value.field->type == POSIX_TRACE_TYPE_STR_NP &&
		     !is_utf8(value.data, value.len)))
			return false;
	}
	return count == wanted && !values.len;
}

/*
 * A hostile log may have any number of a type, so the number is reduced modulo the size of the
 * table. The class belongs to the source. The iterators of one graph run in one thread, so the
 * table needs no lock.
 */
bt_event_class *classes_choose(struct source *source, const struct posix_trace_event_np *event)
{
	struct kind *kind = &source->kind[event->info.posix_event_id % IDS];
	bool fields = kind->schema && classes_fits(kind->schema, event);
	bt_event_class **class = fields ? &kind->fields : &kind->bytes;

	if (!*class)
		*class = event_class(source, kind, fields);
	return *class;
}

/* Stores the bytes of an event in a field of bytes_class(). */
static int fill_bytes(bt_field *field, const uint8_t *bytes, size_t len)
{
	if (bt_field_array_dynamic_set_length(field, len))
		return -1;
	for (size_t i = 0; i < len; i++)
		bt_field_integer_unsigned_set_value(
			bt_field_array_borrow_element_field_by_index(field, i), bytes[i]);
	return 0;
}

/* Stores one value in a field whose class element_class() made for the same field of the schema. */
static int fill_value(bt_field *field, const struct posix_trace_value_np *value)
{
	switch (value->field->form) {
	case POSIX_TRACE_FORM_UNSIGNED_NP:
		bt_field_integer_unsigned_set_value(field, value->u64);
		return 0;
	case POSIX_TRACE_FORM_SIGNED_NP:
		bt_field_integer_signed_set_value(field, value->s64);
		return 0;
	case POSIX_TRACE_FORM_FLOAT_NP:
		if (value->field->size == 4)
			bt_field_real_single_precision_set_value(field, (float)value->f64);
		else
			bt_field_real_double_precision_set_value(field, value->f64);
		return 0;
	case POSIX_TRACE_FORM_BYTES_NP:
		if (value->field->type != POSIX_TRACE_TYPE_STR_NP)
			return fill_bytes(field, value->data, value->len);
		/* An empty text would keep what was in the field before. */
		if (bt_field_string_set_value(field, "") ||
		    bt_field_string_append_with_length(field, value->data, value->len))
			return -1;
		return 0;
	}
	return -1;
}

/* The event has passed classes_fits(), so each member of the payload gets its values. */
static int fill_fields(const struct posix_trace_schema_np *schema,
		       const struct posix_trace_event_np *event, bt_field *payload)
{
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	int err = 0;

	posix_trace_values_begin_np(&values, schema, event->data, event->data_len, 0);
	while (!err && posix_trace_field_next_np(&values, &value)) {
		bt_field *field = bt_field_structure_borrow_member_field_by_index(
			payload, (uint64_t)(value.field - schema->field));

		if (value.field->is_array)
			field = bt_field_array_borrow_element_field_by_index(field, value.index);
		err = fill_value(field, &value);
	}
	return err;
}

int classes_fill(struct source *source, const struct posix_trace_event_np *event, bt_event *to)
{
	const struct kind *kind = &source->kind[event->info.posix_event_id % IDS];
	bt_field *context = bt_event_borrow_common_context_field(to);
	bt_field *payload = bt_event_borrow_payload_field(to);
	const uint64_t members[] = {
		(uint32_t)event->info.posix_pid, (uint32_t)event->tid,
		(uint64_t)event->info.posix_thread_id, (uintptr_t)event->info.posix_prog_address,
		event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED,
		(event->flags & POSIX_TRACE_EVENT_LATE_NP) != 0,
		(event->flags & POSIX_TRACE_EVENT_GAP_NP) != 0,
	};

	for (uint64_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		bt_field_integer_unsigned_set_value(
			bt_field_structure_borrow_member_field_by_index(context, i), members[i]);
	if (kind->fields && bt_event_borrow_class(to) == kind->fields)
		return fill_fields(kind->schema, event, payload);
	return fill_bytes(bt_field_structure_borrow_member_field_by_index(payload, 0), event->data,
			  event->data_len);
}
