/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posixtrace.c - the C part of the module posixtrace of Node.js, by Node-API. index.js has the
 * classes that programs use.
 *
 * JavaScript holds an event type, a stream or a log in an external (napi_create_external()). The
 * garbage collector frees the external. If a call of the library or the system fails, the function
 * throws an Error that has the error number in its property `errno`. For a wrong argument it throws
 * a TypeError.
 */
#include <errno.h>
#include <fcntl.h>
#include <node_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#define ARGUMENTS 3

/* An event type with its schema. */
struct event {
	trace_event_id_t id;
	struct posix_trace_schema_np schema;
};

/* A stream or an opened log. */
struct reader {
	trace_id_t trid;
	int fd;
	bool is_log;
	struct posix_trace_schema_np schema; /* of the event that is converted */
};

/*
 * Throws an Error with the error number `err`, its name in the property code, as the modules of
 * Node.js do, and the message "WHAT: REASON". Always returns NULL.
 */
static napi_value fail_because(napi_env env, int err, const char *what, const char *reason)
{
	const char *name = strerrorname_np(err);
	napi_value error, text, number, code = NULL;
	char message[512];

	snprintf(message, sizeof(message), "%.300s: %.200s", what, reason);
	napi_create_string_utf8(env, message, NAPI_AUTO_LENGTH, &text);
	if (name)
		napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &code);
	napi_create_error(env, code, text, &error);
	napi_create_int32(env, err, &number);
	napi_set_named_property(env, error, "errno", number);
	napi_throw(env, error);
	return NULL;
}

/* As fail_because(), with the message that the system has for the error number. */
static napi_value node_fail(napi_env env, int err, const char *what)
{
	return fail_because(env, err, what, strerrordesc_np(err));
}

static napi_value node_wrong(napi_env env, const char *what)
{
	napi_throw_type_error(env, NULL, what);
	return NULL;
}

/*
 * Throws a TypeError that names an event type or a field: "the BEFORE NAME BEHIND". Always returns
 * NULL.
 */
static napi_value wrong_name(napi_env env, const char *before, const char *name, const char *behind)
{
	char message[256];

	snprintf(message, sizeof(message), "the %s %s %s", before, name, behind);
	return node_wrong(env, message);
}

/*
 * Stores a string argument, or "" if `value` is no string. Returns false if the value is no string,
 * or does not fit, or has a NUL, because C would cut it there. Node-API shortens a string that does
 * not fit and does not report it. So a string that fills the whole room counts as too long.
 */
static bool string_of(napi_env env, napi_value value, char *text, size_t room)
{
	size_t len = 0;

	*text = '\0';
	return napi_get_value_string_utf8(env, value, text, room, &len) == napi_ok &&
	       len < room - 1 && strlen(text) == len;
}

static napi_value is_active(napi_env env, napi_callback_info info)
{
	napi_value result;

	(void)info;
	napi_get_boolean(env, *posix_trace_active_np, &result);
	return result;
}

/* ------------------------------------------------------------------ events */

static void free_event(napi_env env, void *event, void *hint)
{
	(void)env;
	(void)hint;
	free(event);
}

/* event(name, schema) returns an external with a struct event. */
static napi_value make_event(napi_env env, napi_callback_info info)
{
	napi_value argument[ARGUMENTS], result;
	size_t count = ARGUMENTS;
	char name[TRACE_EVENT_NAME_MAX + 2], schema[POSIX_TRACE_SCHEMA_MAX_NP + 2];
	struct event *event = calloc(1, sizeof(*event));
	const char *why;
	char reason[128];
	int err;

	napi_get_cb_info(env, info, &count, argument, NULL, NULL);
	if (!event)
		return node_fail(env, ENOMEM, "event");
	if (!string_of(env, argument[0], name, sizeof(name)) ||
	    !string_of(env, argument[1], schema, sizeof(schema))) {
		free(event);
		return node_wrong(env, "the name or the schema is not a string without a NUL, or "
				       "is too long");
	}
	/* node_record() would omit the fields for which there is no room. */
	why = posix_trace_schema_fault_np(schema, POSIX_TRACE_FIELDS_BYTES_NP);
	if (why) {
		free(event);
		snprintf(reason, sizeof(reason), "cannot be recorded: %s", why);
		return wrong_name(env, "schema of event type", name, reason);
	}
	if (*schema)
		posix_trace_schema_parse_np(schema, &event->schema);
	err = posix_trace_eventid_open(name, &event->id);
	if (!err && *schema && event->id != POSIX_TRACE_UNNAMED_USEREVENT)
		err = posix_trace_eventid_describe_np(event->id, schema);
	if (err) {
		free(event);
		/*
		 * For this error number, the system's message speaks of files, so the exception has
		 * a message of its own.
		 */
		return err == EEXIST ? wrong_name(env, "event type", name, "has another schema") :
				       node_fail(env, err, name);
	}
	napi_create_external(env, event, free_event, NULL, &result);
	return result;
}

/* Stores the integer of a number, a boolean or a BigInt. Returns false for any other value. */
static bool integer_of(napi_env env, napi_value value, uint64_t *number)
{
	napi_valuetype type;
	int64_t integer = 0;
	bool lossless, truth;

	napi_typeof(env, value, &type);
	switch (type) {
	case napi_number:
		napi_get_value_int64(env, value, &integer);
		*number = (uint64_t)integer;
		return true;
	case napi_boolean:
		napi_get_value_bool(env, value, &truth);
		*number = truth;
		return true;
	case napi_bigint:
		napi_get_value_bigint_int64(env, value, &integer, &lossless);
		*number = (uint64_t)integer;
		if (!lossless)
			napi_get_value_bigint_uint64(env, value, number, &lossless);
		return lossless;
	default:
		return false;
	}
}

/*
 * The values of an event, and copies of its strings. Fields str share the room that other fields
 * leave in the event, so they share the memory for copies: a string that is shortened here would be
 * shortened in the event, too. Each field str[N] has room for N bytes in the event whatever the
 * other fields are, so its copy does not share memory: it has N bytes and one for a NUL.
 */
struct values {
	struct posix_trace_arg_np arg[POSIX_TRACE_FIELDS_MAX_NP];
	char text[POSIX_TRACE_FIELDS_BYTES_NP];
	char fixed[POSIX_TRACE_FIELDS_BYTES_NP + POSIX_TRACE_FIELDS_MAX_NP];
	size_t used, fixed_used;
};

/*
 * Returns a copy of a string for a field str, or for str[room] if `room` is not 0. If the value is
 * not a string (null or undefined), or if no memory is left for a field str, the result is "". A
 * text ends at its first NUL. make_event() has limited the sum of all N.
 */
static const char *copy_string(napi_env env, napi_value value, unsigned room, struct values *values)
{
	char *to = room ? values->fixed + values->fixed_used : values->text + values->used;

	if (!room && values->used == sizeof(values->text))
		return "";
	string_of(env, value, to, room ? room + 1 : sizeof(values->text) - values->used);
	if (room)
		values->fixed_used += room + 1;
	else
		values->used += strlen(to) + 1;
	return to;
}

/*
 * Stores a value for posix_trace_fields_pack_np(). Returns false if the field cannot have a value
 * of this type, or bytes of this length. A string that is too long is shortened. null and undefined
 * are an empty string, like a null pointer of C. A character is a number or a string of one
 * character.
 */
static bool take_value(napi_env env, const struct posix_trace_field_np *field, napi_value value,
		       struct values *values, struct posix_trace_arg_np *arg)
{
	char16_t letter[3];
	napi_valuetype type;
	void *bytes;
	bool is_buffer;

	*arg = (struct posix_trace_arg_np){ .type = field->type };

	napi_typeof(env, value, &type);
	if (field->form == POSIX_TRACE_FORM_FLOAT_NP) {
		if (type != napi_number)
			return false;
		return napi_get_value_double(env, value, &arg->f64) == napi_ok;
	}
	if (field->type == POSIX_TRACE_TYPE_STR_NP) {
		if (type != napi_string && type != napi_null && type != napi_undefined)
			return false;
		arg->data = copy_string(env, value, field->room, values);
		arg->room = field->room;
		return true;
	}
	if (field->type == POSIX_TRACE_TYPE_CHAR_NP && !field->is_array && type == napi_string) {
		napi_get_value_string_utf16(env, value, letter, 3, &arg->len);
		arg->u64 = *letter;
		return arg->len == 1 && *letter <= 0xff;
	}
	if (field->type == POSIX_TRACE_TYPE_BYTES_NP || field->is_array) {
		napi_is_buffer(env, value, &is_buffer);
		if (!is_buffer)
			return false;
		napi_get_buffer_info(env, value, &bytes, &arg->len);
		arg->data = bytes;
		arg->type = POSIX_TRACE_TYPE_BYTES_NP;
		if (!field->room && !field->is_array)
			return true;
		arg->room = (unsigned)arg->len;
		return arg->len == (size_t)field->size * field->count;
	}
	return integer_of(env, value, &arg->u64);
}

/* record(event, values) returns nothing. `values` is an array with one value for each field. */
static napi_value node_record(napi_env env, napi_callback_info info)
{
	napi_value argument[ARGUMENTS], value;
	size_t count = ARGUMENTS;
	unsigned char payload[POSIX_TRACE_FIELDS_BYTES_NP];
	const struct event *event;
	struct values taken;
	uint32_t values = 0;
	void *data = NULL;
	char message[64];

	napi_get_cb_info(env, info, &count, argument, NULL, NULL);
	if (napi_get_value_external(env, argument[0], &data) != napi_ok || !data)
		return node_wrong(env, "the first argument is not an event");
	event = data;
	if (napi_get_array_length(env, argument[1], &values) != napi_ok ||
	    values != event->schema.fields) {
		snprintf(message, sizeof(message), "the event has %u fields, not %u",
			 event->schema.fields, values);
		return node_wrong(env, message);
	}
	taken.used = taken.fixed_used = 0;
	for (uint32_t i = 0; i < values; i++) {
		napi_get_element(env, argument[1], i, &value);
		if (!take_value(env, &event->schema.field[i], value, &taken, &taken.arg[i]))
			return wrong_name(env, "field", event->schema.field[i].name,
					  "cannot have this value");
	}
	posix_trace_event(event->id, payload,
			  posix_trace_fields_pack_np(payload, sizeof(payload), taken.arg, values));
	return NULL;
}

/* ------------------------------------------------------------------ streams and logs */

static void end_reader(struct reader *reader)
{
	if (reader->trid && reader->is_log)
		posix_trace_close(reader->trid);
	else if (reader->trid)
		posix_trace_shutdown(reader->trid);
	if (reader->fd >= 0)
		close(reader->fd);
	reader->trid = 0;
	reader->fd = -1;
}

static void free_reader(napi_env env, void *reader, void *hint)
{
	(void)env;
	(void)hint;
	end_reader(reader);
	free(reader);
}

/* Makes a reader and opens the file of the first argument. Throws and returns NULL on an error. */
static struct reader *make_reader(napi_env env, napi_callback_info info, int flags, char *path,
				  size_t room, bool is_log)
{
	napi_value argument[ARGUMENTS];
	size_t count = ARGUMENTS;
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader) {
		node_fail(env, ENOMEM, "open");
		return NULL;
	}
	napi_get_cb_info(env, info, &count, argument, NULL, NULL);
	if (!string_of(env, argument[0], path, room)) {
		node_fail(env, ENAMETOOLONG, "open");
		free(reader);
		return NULL;
	}
	reader->is_log = is_log;
	reader->fd = *path || is_log ? open(path, flags | O_CLOEXEC, 0666) : -1;
	if (reader->fd < 0 && (*path || is_log)) {
		node_fail(env, errno, path);
		free(reader);
		return NULL;
	}
	return reader;
}

/* Returns the external of a reader. If `err` is not 0, frees the reader and throws instead. */
static napi_value node_give(napi_env env, struct reader *reader, int err, const char *path)
{
	napi_value result;

	if (err) {
		reader->trid = 0;
		free_reader(env, reader, NULL);
		return node_fail(env, err, path);
	}
	napi_create_external(env, reader, free_reader, NULL, &result);
	return result;
}

/* stream(path) returns a stream. If `path` is empty, the stream has no log. */
static napi_value make_stream(napi_env env, napi_callback_info info)
{
	char path[4096];
	struct reader *reader =
		make_reader(env, info, O_RDWR | O_CREAT | O_TRUNC, path, sizeof(path), false);
	trace_attr_t attr;
	int err;

	if (!reader)
		return NULL;
	err = posix_trace_attr_init(&attr);
	if (!err && *path)
		err = posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	/* Room for some 100,000 events until the library's thread writes them to the log. */
	if (!err && *path)
		err = posix_trace_attr_setstreamsize(&attr, 4 << 20);
	if (!err)
		err = *path ? posix_trace_create_withlog(0, &attr, reader->fd, &reader->trid) :
			      posix_trace_create(0, &attr, &reader->trid);
	posix_trace_attr_destroy(&attr);
	return node_give(env, reader, err, path);
}

/* For a file that is no log, the message is the reason: that of EINVAL says nothing about it. */
static napi_value open_log(napi_env env, napi_callback_info info)
{
	char path[4096];
	struct reader *reader = make_reader(env, info, O_RDONLY, path, sizeof(path), true);
	const char *reason = NULL;
	int err;

	if (!reader)
		return NULL;
	err = posix_trace_open_np(reader->fd, POSIX_TRACE_OPEN_SALVAGE_NP, &reader->trid);
	if (err)
		reason = posix_trace_open_fault_np(reader->fd);
	if (!reason)
		return node_give(env, reader, err, path);
	reader->trid = 0;
	free_reader(env, reader, NULL);
	return fail_because(env, err, path, reason);
}

/* Returns the reader in the first argument. Throws and returns NULL if there is none. */
static struct reader *reader_of(napi_env env, napi_callback_info info, napi_value *argument)
{
	size_t count = ARGUMENTS;
	void *reader = NULL;

	napi_get_cb_info(env, info, &count, argument, NULL, NULL);
	if (napi_get_value_external(env, argument[0], &reader) != napi_ok || !reader)
		node_wrong(env, "the first argument is not a stream or a log");
	return reader;
}

/*
 * control(reader, name) calls the function of that name and returns nothing. Any other name ends
 * the reader.
 */
static napi_value node_control(napi_env env, napi_callback_info info)
{
	static const struct {
		const char *name;
		int (*function)(trace_id_t);
	} known[] = {
		{ "start", posix_trace_start }, { "stop", posix_trace_stop },
		{ "flush", posix_trace_flush }, { "clear", posix_trace_clear },
		{ "rewind", posix_trace_rewind },
	};
	napi_value argument[ARGUMENTS];
	struct reader *reader = reader_of(env, info, argument);
	char name[16];

	if (!reader)
		return NULL;
	string_of(env, argument[1], name, sizeof(name));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name)) {
			int err = known[i].function(reader->trid);

			return err ? node_fail(env, err, name) : NULL;
		}
	end_reader(reader);
	return NULL;
}

/* level(stream, max) returns nothing: see posix_trace_set_level_np(3). */
static napi_value set_level(napi_env env, napi_callback_info info)
{
	napi_value argument[ARGUMENTS];
	struct reader *reader = reader_of(env, info, argument);
	int32_t level = -1;
	int err;

	if (!reader)
		return NULL;
	napi_get_value_int32(env, argument[1], &level);
	err = posix_trace_set_level_np(reader->trid, level);
	return err ? node_fail(env, err, "level") : NULL;
}

/* Returns the value of a field. An integer beyond 2^53 becomes a BigInt. */
static napi_value value_object(napi_env env, const struct posix_trace_value_np *value)
{
	napi_value result = NULL;

	switch (value->field->form) {
	case POSIX_TRACE_FORM_SIGNED_NP:
		if (value->s64 > -(INT64_C(1) << 53) && value->s64 < INT64_C(1) << 53)
			napi_create_int64(env, value->s64, &result);
		else
			napi_create_bigint_int64(env, value->s64, &result);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		napi_create_double(env, value->f64, &result);
		break;
	case POSIX_TRACE_FORM_BYTES_NP:
		if (value->field->type == POSIX_TRACE_TYPE_STR_NP)
			napi_create_string_utf8(env, value->data, value->len, &result);
		else
			napi_create_buffer_copy(env, value->len, value->data, NULL, &result);
		break;
	default:
		if (value->field->type == POSIX_TRACE_TYPE_BOOL_NP)
			napi_get_boolean(env, value->u64 != 0, &result);
		else if (value->u64 < UINT64_C(1) << 53)
			napi_create_int64(env, (int64_t)value->u64, &result);
		else
			napi_create_bigint_uint64(env, value->u64, &result);
	}
	return result;
}

/* Returns an object with the fields. The value of an array field is an array. */
static napi_value fields_object(napi_env env, const struct posix_trace_schema_np *schema,
				const struct posix_trace_event_np *event)
{
	struct posix_trace_values_np values;
	struct posix_trace_value_np value;
	napi_value fields, array = NULL;

	napi_create_object(env, &fields);
	if (!schema)
		return fields;
	posix_trace_values_begin_np(&values, schema, event->data, event->data_len, 0);
	while (posix_trace_field_next_np(&values, &value)) {
		napi_value object = value_object(env, &value);

		if (!value.field->is_array) {
			napi_set_named_property(env, fields, value.field->name, object);
			continue;
		}
		if (value.index == 0) {
			napi_create_array(env, &array);
			napi_set_named_property(env, fields, value.field->name, array);
		}
		napi_set_element(env, array, value.index, object);
	}
	return fields;
}

/* next(log) returns an object with the next event, or undefined at the end of the log. */
static napi_value next_event(napi_env env, napi_callback_info info)
{
	napi_value argument[ARGUMENTS], result, item;
	struct reader *reader = reader_of(env, info, argument);
	char name[TRACE_EVENT_NAME_MAX + 1] = "", text[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct posix_trace_event_np event;
	int none = 0, err;
	bool has_schema;

	if (!reader)
		return NULL;
	err = posix_trace_getnext_np(reader->trid, &event, &none);
	if (err)
		return node_fail(env, err, "next");
	if (none)
		return NULL;
	posix_trace_eventid_get_name(reader->trid, event.info.posix_event_id, name);
	has_schema = !posix_trace_eventid_get_schema_np(reader->trid, event.info.posix_event_id,
							text, sizeof(text)) &&
		     !posix_trace_schema_parse_np(text, &reader->schema);
	napi_create_object(env, &result);
	napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &item);
	napi_set_named_property(env, result, "name", item);
	napi_create_bigint_int64(env, event.time_ns, &item);
	napi_set_named_property(env, result, "timeNs", item);
	napi_create_int32(env, event.info.posix_pid, &item);
	napi_set_named_property(env, result, "pid", item);
	napi_create_int32(env, event.tid, &item);
	napi_set_named_property(env, result, "tid", item);
	napi_set_named_property(env, result, "fields",
				fields_object(env, has_schema ? &reader->schema : NULL, &event));
	if (has_schema && reader->schema.format) {
		char message[4096];

		posix_trace_message_print_np(&reader->schema, event.data, event.data_len, 0,
					     message, sizeof(message));
		napi_create_string_utf8(env, message, NAPI_AUTO_LENGTH, &item);
		napi_set_named_property(env, result, "message", item);
	}
	napi_create_buffer_copy(env, event.data_len, event.data, NULL, &item);
	napi_set_named_property(env, result, "data", item);
	return result;
}

/* The macro of Node defines a function without a prototype, of which clang warns. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
NAPI_MODULE_INIT()
{
	static const struct {
		const char *name;
		napi_callback function;
	} functions[] = {
		{ "isActive", is_active }, { "event", make_event }, { "record", node_record },
		{ "stream", make_stream }, { "open", open_log },    { "control", node_control },
		{ "level", set_level },	   { "next", next_event },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		napi_value function;

		napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH,
				     functions[i].function, NULL, &function);
		napi_set_named_property(env, exports, functions[i].name, function);
	}
	return exports;
}
