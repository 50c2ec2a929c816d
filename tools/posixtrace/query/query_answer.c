/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* query_answer.c - reads and compares the values in an answer of ClickHouse. */
#include "query/query_answer.h"

#include <string.h>

#include "query/fleet.h"
#include "query/query_columns.h"

/* The request converts all integers to Int64, so that one function can read them. */
static bool get_integer(const struct bytes *answer, size_t *at, struct sqlvalue *value)
{
	uint64_t number;

	if (!server_get_u64(answer, at, &number))
		return false;
	value->kind = SQLVALUE_INTEGER;
	value->integer = (int64_t)number;
	return true;
}

/* The text is not copied, so it is valid only as long as the answer. */
static bool get_text(const struct bytes *answer, size_t *at, enum sqlvalue_kind kind,
		     struct sqlvalue *value)
{
	const char *text;

	if (!server_get_text(answer, at, &text, &value->len))
		return false;
	value->kind = kind;
	value->bytes = text;
	return true;
}

/* The first byte shows whether the value is NULL. A NULL has no further bytes. */
static bool get_nullable(const struct bytes *answer, size_t *at, bool is_text,
			 struct sqlvalue *value)
{
	uint8_t is_null;

	if (!server_get_u8(answer, at, &is_null))
		return false;
	value->kind = SQLVALUE_NULL;
	if (is_null)
		return true;
	return is_text ? get_text(answer, at, SQLVALUE_TEXT, value)
		       : get_integer(answer, at, value);
}

/*
 * A field is sent as kind, number and text. The kind decides whether the number or the text is the
 * value.
 */
static bool get_field(const struct bytes *answer, size_t *at, struct sqlvalue *value)
{
	struct sqlvalue kind, number;

	if (!get_integer(answer, at, &kind) || !get_integer(answer, at, &number) ||
	    !get_text(answer, at, SQLVALUE_TEXT, value))
		return false;
	switch (kind.integer) {
	case SQLVALUE_INTEGER:
		*value = number;
		break;
	case SQLVALUE_REAL:
		value->kind = SQLVALUE_REAL;
		memcpy(&value->real, &number.integer, sizeof(value->real));
		break;
	case SQLVALUE_TEXT:
	case SQLVALUE_BLOB:
		value->kind = (enum sqlvalue_kind)kind.integer;
		break;
	default:
		value->kind = SQLVALUE_NULL;
	}
	return true;
}

/*
 * Converts the number of the flags to the text that the column flags has for a log. The server may
 * send any number, so only its lowest two bits are used.
 */
static void get_flags(struct sqlvalue *value)
{
	const char *text = query_flags(value->integer & FLEET_TRUNCATED,
				       value->integer & FLEET_LATE);

	value->kind = text ? SQLVALUE_TEXT : SQLVALUE_NULL;
	value->bytes = text;
	value->len = text ? strlen(text) : 0;
}

/*
 * The table events_rows has no NULL. It has 0 for an unknown level or line, and an empty text for
 * an unknown text. No known value is 0 or empty.
 */
bool answer_value(const struct bytes *answer, size_t *at, enum answer_form form,
		  struct sqlvalue *value)
{
	bool good;

	switch (form) {
	case ANSWER_INTEGER:
		return get_integer(answer, at, value);
	case ANSWER_POSITIVE:
		good = get_integer(answer, at, value);
		if (good && !value->integer)
			value->kind = SQLVALUE_NULL;
		return good;
	case ANSWER_TEXT:
		return get_text(answer, at, SQLVALUE_TEXT, value);
	case ANSWER_FILLED:
		good = get_text(answer, at, SQLVALUE_TEXT, value);
		if (good && !value->len)
			value->kind = SQLVALUE_NULL;
		return good;
	case ANSWER_BLOB:
		return get_text(answer, at, SQLVALUE_BLOB, value);
	case ANSWER_FLAGS:
		good = get_integer(answer, at, value);
		if (good)
			get_flags(value);
		return good;
	case ANSWER_NULLABLE:
	case ANSWER_NULLABLE_TEXT:
		return get_nullable(answer, at, form == ANSWER_NULLABLE_TEXT, value);
	case ANSWER_FIELD:
		return get_field(answer, at, value);
	}
	return false;
}

/* Two integers are compared exactly. An integer and a real are compared as reals. */
int answer_compare(const struct sqlvalue *a, const struct sqlvalue *b)
{
	static const int class_of[] = { [SQLVALUE_NULL] = 0, [SQLVALUE_INTEGER] = 1,
					[SQLVALUE_REAL] = 1, [SQLVALUE_TEXT] = 2,
					[SQLVALUE_BLOB] = 3 };
	int classes = class_of[a->kind] - class_of[b->kind], order;

	if (classes || a->kind == SQLVALUE_NULL)
		return classes;
	if (class_of[a->kind] > 1) {
		order = memcmp(a->bytes, b->bytes, a->len < b->len ? a->len : b->len);
		return order ? order : (a->len > b->len) - (a->len < b->len);
	}
	if (a->kind == SQLVALUE_INTEGER && b->kind == SQLVALUE_INTEGER)
		return (a->integer > b->integer) - (a->integer < b->integer);
	{
		double x = a->kind == SQLVALUE_REAL ? a->real : (double)a->integer;
		double y = b->kind == SQLVALUE_REAL ? b->real : (double)b->integer;

		return (x > y) - (x < y);
	}
}
