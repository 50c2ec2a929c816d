/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "parquet/thrift.h"

#include <string.h>

static void thrift_byte(struct thrift *thrift, unsigned value)
{
	const unsigned char byte = (unsigned char)value;

	bytes_add(thrift->to, &byte, 1);
}

/* Writes an integer in the zigzag encoding, in which small numbers of either sign are short. */
static void thrift_zigzag(struct thrift *thrift, int64_t value)
{
	bytes_varint(thrift->to, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/*
 * Writes the header of a field. If the number of the field exceeds the number of the field before
 * it by at most 15, the header has this difference. Otherwise it has the number itself.
 */
static void thrift_field(struct thrift *thrift, int field, enum thrift_type type)
{
	int *last = &thrift->last[thrift->depth - 1], step = field - *last;

	if (step > 0 && step <= 15) {
		thrift_byte(thrift, (unsigned)step << 4 | type);
	} else {
		thrift_byte(thrift, type);
		thrift_zigzag(thrift, field);
	}
	*last = field;
}

struct thrift thrift_begin(struct bytes *to)
{
	return (struct thrift){ .to = to, .depth = 1 };
}

/* A byte of zero ends a structure. */
void thrift_end(struct thrift *thrift)
{
	thrift_byte(thrift, 0);
	thrift->depth--;
}

void thrift_bool(struct thrift *thrift, int field, bool value)
{
	thrift_field(thrift, field, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_i8(struct thrift *thrift, int field, int8_t value)
{
	thrift_field(thrift, field, THRIFT_I8);
	thrift_byte(thrift, (unsigned char)value);
}

void thrift_i32(struct thrift *thrift, int field, int32_t value)
{
	thrift_field(thrift, field, THRIFT_I32);
	thrift_zigzag(thrift, value);
}

void thrift_i64(struct thrift *thrift, int field, int64_t value)
{
	thrift_field(thrift, field, THRIFT_I64);
	thrift_zigzag(thrift, value);
}

void thrift_binary(struct thrift *thrift, int field, const void *bytes, size_t len)
{
	thrift_field(thrift, field, THRIFT_BINARY);
	bytes_varint(thrift->to, len);
	bytes_add(thrift->to, bytes, len);
}

void thrift_text(struct thrift *thrift, int field, const char *text)
{
	thrift_binary(thrift, field, text, strlen(text));
}

void thrift_struct(struct thrift *thrift, int field)
{
	thrift_field(thrift, field, THRIFT_STRUCT);
	thrift_list_struct(thrift);
}

void thrift_list(struct thrift *thrift, int field, enum thrift_type type, size_t count)
{
	thrift_field(thrift, field, THRIFT_LIST);
	if (count < 15) {
		thrift_byte(thrift, (unsigned)count << 4 | type);
	} else {
		thrift_byte(thrift, 0xf0u | type);
		bytes_varint(thrift->to, count);
	}
}

/* Unlike a field, an element of a list has no header, so nothing is written. */
void thrift_list_struct(struct thrift *thrift)
{
	thrift->last[thrift->depth++] = 0;
}

void thrift_list_i32(struct thrift *thrift, int32_t value)
{
	thrift_zigzag(thrift, value);
}

void thrift_list_text(struct thrift *thrift, const char *text)
{
	bytes_varint(thrift->to, strlen(text));
	bytes_str(thrift->to, text);
}
