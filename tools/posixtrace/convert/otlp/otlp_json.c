/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp_json.c - the members of the messages with their names in JSON, and a walk over the bytes of
 * a message.
 */
#include "convert/otlp/otlp_json.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

/* The form of a member in JSON. */
enum json_form {
	JSON_STRING,
	JSON_BASE64,  /* bytes */
	JSON_DIGITS,  /* identifiers: OTLP has hexadecimal digits instead of base64 */
	JSON_SMALL,   /* a number below 2^32, or the value of an enum */
	JSON_LARGE,   /* a number of 64 bits, written as a string of decimal digits */
	JSON_TIME,    /* like JSON_LARGE, but always stored in 8 bytes */
	JSON_REAL,
	JSON_TRUTH,
	JSON_MESSAGE
};

struct json_member {
	unsigned number;
	enum json_form form;
	bool is_repeated;
	const char *name;
	const struct json_member *message;
};

static const struct json_member value_members[], pair_members[];

static const struct json_member array_members[] = {
	{ ARRAY_VALUES, JSON_MESSAGE, true, "values", value_members },
	{ 0 }
};

static const struct json_member value_members[] = {
	{ VALUE_STRING, JSON_STRING, false, "stringValue", NULL },
	{ VALUE_BOOL, JSON_TRUTH, false, "boolValue", NULL },
	{ VALUE_INT, JSON_LARGE, false, "intValue", NULL },
	{ VALUE_DOUBLE, JSON_REAL, false, "doubleValue", NULL },
	{ VALUE_ARRAY, JSON_MESSAGE, false, "arrayValue", array_members },
	{ VALUE_BYTES, JSON_BASE64, false, "bytesValue", NULL },
	{ 0 }
};

static const struct json_member pair_members[] = {
	{ PAIR_KEY, JSON_STRING, false, "key", NULL },
	{ PAIR_VALUE, JSON_MESSAGE, false, "value", value_members },
	{ 0 }
};

static const struct json_member link_members[] = {
	{ LINK_TRACE_ID, JSON_DIGITS, false, "traceId", NULL },
	{ LINK_SPAN_ID, JSON_DIGITS, false, "spanId", NULL },
	{ 0 }
};

static const struct json_member status_members[] = {
	{ STATUS_MESSAGE, JSON_STRING, false, "message", NULL },
	{ STATUS_CODE, JSON_SMALL, false, "code", NULL },
	{ 0 }
};

static const struct json_member span_members[] = {
	{ SPAN_TRACE_ID, JSON_DIGITS, false, "traceId", NULL },
	{ SPAN_SPAN_ID, JSON_DIGITS, false, "spanId", NULL },
	{ SPAN_PARENT_ID, JSON_DIGITS, false, "parentSpanId", NULL },
	{ SPAN_FLAGS, JSON_SMALL, false, "flags", NULL },
	{ SPAN_NAME, JSON_STRING, false, "name", NULL },
	{ SPAN_KIND, JSON_SMALL, false, "kind", NULL },
	{ SPAN_START, JSON_TIME, false, "startTimeUnixNano", NULL },
	{ SPAN_END, JSON_TIME, false, "endTimeUnixNano", NULL },
	{ SPAN_ATTRIBUTES, JSON_MESSAGE, true, "attributes", pair_members },
	{ SPAN_DROPPED_ATTRIBUTES, JSON_SMALL, false, "droppedAttributesCount", NULL },
	{ SPAN_LINKS, JSON_MESSAGE, true, "links", link_members },
	{ SPAN_STATUS, JSON_MESSAGE, false, "status", status_members },
	{ 0 }
};

static const struct json_member log_members[] = {
	{ LOG_TIME, JSON_TIME, false, "timeUnixNano", NULL },
	{ LOG_SEVERITY, JSON_SMALL, false, "severityNumber", NULL },
	{ LOG_SEVERITY_TEXT, JSON_STRING, false, "severityText", NULL },
	{ LOG_BODY, JSON_MESSAGE, false, "body", value_members },
	{ LOG_ATTRIBUTES, JSON_MESSAGE, true, "attributes", pair_members },
	{ LOG_DROPPED_ATTRIBUTES, JSON_SMALL, false, "droppedAttributesCount", NULL },
	{ LOG_FLAGS, JSON_SMALL, false, "flags", NULL },
	{ LOG_TRACE_ID, JSON_DIGITS, false, "traceId", NULL },
	{ LOG_SPAN_ID, JSON_DIGITS, false, "spanId", NULL },
	{ LOG_EVENT_NAME, JSON_STRING, false, "eventName", NULL },
	{ 0 }
};

static const struct json_member resource_members[] = {
	{ RESOURCE_ATTRIBUTES, JSON_MESSAGE, true, "attributes", pair_members },
	{ 0 }
};

static const struct json_member scope_members[] = {
	{ SCOPE_NAME, JSON_STRING, false, "name", NULL },
	{ SCOPE_VERSION, JSON_STRING, false, "version", NULL },
	{ 0 }
};

static const struct json_member scopes_members[OTLP_SIGNALS][3] = {
	{ { SCOPES_SCOPE, JSON_MESSAGE, false, "scope", scope_members },
	  { SCOPES_RECORDS, JSON_MESSAGE, true, "spans", span_members } },
	{ { SCOPES_SCOPE, JSON_MESSAGE, false, "scope", scope_members },
	  { SCOPES_RECORDS, JSON_MESSAGE, true, "logRecords", log_members } },
};

static const struct json_member resources_members[OTLP_SIGNALS][3] = {
	{ { RESOURCES_RESOURCE, JSON_MESSAGE, false, "resource", resource_members },
	  { RESOURCES_SCOPES, JSON_MESSAGE, true, "scopeSpans", scopes_members[OTLP_TRACES] } },
	{ { RESOURCES_RESOURCE, JSON_MESSAGE, false, "resource", resource_members },
	  { RESOURCES_SCOPES, JSON_MESSAGE, true, "scopeLogs", scopes_members[OTLP_LOGS] } },
};

static const struct json_member data_members[OTLP_SIGNALS][2] = {
	{ { DATA_RESOURCES, JSON_MESSAGE, true, "resourceSpans", resources_members[OTLP_TRACES] } },
	{ { DATA_RESOURCES, JSON_MESSAGE, true, "resourceLogs", resources_members[OTLP_LOGS] } },
};

/* ------------------------------------------------------------------ values */

/* A member of a message: a number, or bytes. */
struct member {
	unsigned number;
	uint64_t value;
	const uint8_t *bytes;
	size_t len;
};

static uint64_t read_varint(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;
	unsigned shift = 0;

	while (*at < end) {
		uint8_t byte = *(*at)++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
		shift += 7;
	}
	return value;
}

/* Reads the next member. Returns false at the end. */
static bool next_member(const uint8_t **at, const uint8_t *end, struct member *member)
{
	uint64_t tag, len;

	if (*at >= end)
		return false;
	tag = read_varint(at, end);
	*member = (struct member){ .number = (unsigned)(tag >> 3) };
	len = (tag & 7) == 1 ? 8 : (tag & 7) == 5 ? 4 : 0;
	if (!len) {
		member->value = read_varint(at, end);
		if ((tag & 7) == 0)
			return true;
		len = member->value;
	}
	if (len > (size_t)(end - *at))
		return false;
	member->bytes = *at;
	member->len = (size_t)len;
	/* A value of 4 or 8 bytes is little endian, as the numbers of this machine are. */
	if ((tag & 7) != 2)
		memcpy(&member->value, *at, member->len);
	*at += len;
	return true;
}

/* Writes bytes by protobuf.dev, "JSON Mapping": standard base64 with padding. */
static void put_base64(struct json *json, const char *name, const uint8_t *bytes, size_t len)
{
	json_name(json, name);
	out_char(json->out, '"');
	out_base64(json->out, bytes, len);
	out_char(json->out, '"');
}

/* Writes a real. The JSON mapping of protobuf has words for numbers that are not finite. */
static void put_real(struct json *json, const char *name, uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	if (isnan(value))
		json_word(json, name, "NaN");
	else if (isinf(value))
		json_word(json, name, value < 0 ? "-Infinity" : "Infinity");
	else
		json_double(json, name, value);
}

static void put_message(struct json *json, const struct json_member *members, const uint8_t *bytes,
			size_t len);

/*
 * The recursion is bounded, because messages nest only as deep as the tables, and an array contains
 * no arrays.
 */
static void put_member(struct json *json, const struct json_member *as, const char *name,
		       const struct member *member)
{
	switch (as->form) {
	case JSON_STRING:
		json_text(json, name, member->bytes, member->len);
		break;
	case JSON_BASE64:
		put_base64(json, name, member->bytes, member->len);
		break;
	case JSON_DIGITS:
		json_hex(json, name, member->bytes, member->len);
		break;
	case JSON_SMALL:
		json_unsigned(json, name, member->value);
		break;
	case JSON_LARGE:
		json_exact(json, name, (int64_t)member->value);
		break;
	case JSON_TIME:
		json_exact_unsigned(json, name, member->value);
		break;
	case JSON_REAL:
		put_real(json, name, member->value);
		break;
	case JSON_TRUTH:
		json_bool(json, name, member->value != 0);
		break;
	case JSON_MESSAGE:
		json_object(json, name);
		put_message(json, as->message, member->bytes, member->len);
		json_end_object(json);
		break;
	}
}

/*
 * Writes the members of a message. In JSON the elements of an array must be together, but in the
 * bytes other members may be between them. So the function reads the message once for each member
 * of the table.
 */
static void put_message(struct json *json, const struct json_member *members, const uint8_t *bytes,
			size_t len)
{
	for (const struct json_member *as = members; as->name; as++) {
		const uint8_t *at = bytes, *end = bytes + len;
		struct member member;
		bool is_open = false;

		while (next_member(&at, end, &member)) {
			if (member.number != as->number)
				continue;
			if (as->is_repeated && !is_open)
				json_array(json, as->name);
			is_open |= as->is_repeated;
			put_member(json, as, as->is_repeated ? NULL : as->name, &member);
		}
		if (is_open)
			json_end_array(json);
	}
}

void otlp_json(struct out *out, enum otlp_signal signal, const struct proto *request)
{
	struct json json = json_begin(out);

	json_object(&json, NULL);
	put_message(&json, data_members[signal], request->bytes, request->used);
	json_end_line(&json);
}
