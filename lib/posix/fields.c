/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values of a payload, by its schema. Many millions of times for a log: nothing is looked up.
 */
#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "base/export.h"
#include "posix/first.h"
#include "record/schema.h"

/* Its size is that of version 1: the parser uses all of it. A newer program's rest becomes 0. */
PTX_EXPORT int posix_trace_schema_parse_sized_np(const char *text,
						 struct posix_trace_schema_np *schema, size_t size)
{
	if (!text || !schema || size < PTX_FIRST_SCHEMA)
		return EINVAL;
	memset((char *)schema + sizeof(*schema), 0, size - sizeof(*schema));
	return ptx_schema_parse(text, schema) ? EINVAL : 0;
}

PTX_EXPORT const char *posix_trace_type_name_np(enum posix_trace_type_np type)
{
	const struct ptx_schema_type *known = ptx_schema_type(type);

	return known ? known->name : NULL;
}

static uint64_t load(const unsigned char *data, unsigned size, bool swapped)
{
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case 1:
		return *data;
	case 2:
		memcpy(&u16, data, sizeof(u16));
		return swapped ? __builtin_bswap16(u16) : u16;
	case 4:
		memcpy(&u32, data, sizeof(u32));
		return swapped ? __builtin_bswap32(u32) : u32;
	default:
		memcpy(&u64, data, sizeof(u64));
		return swapped ? __builtin_bswap64(u64) : u64;
	}
}

static double to_double(uint64_t bits, unsigned size)
{
	const uint32_t low = (uint32_t)bits;
	double f64;
	float f32;

	if (size == sizeof(f32)) {
		memcpy(&f32, &low, sizeof(f32));
		return (double)f32;
	}
	memcpy(&f64, &bits, sizeof(f64));
	return f64;
}

static int64_t extend(uint64_t bits, unsigned size)
{
	const unsigned shift = 64 - 8 * size;

	return (int64_t)(bits << shift) >> shift;
}

static void number(const struct posix_trace_field_np *field, const unsigned char *data,
		   bool swapped, struct posix_trace_value_np *value)
{
	const uint64_t bits = load(data, field->size, swapped);

	value->data = data;
	value->len = field->size;
	switch (field->form) {
	case POSIX_TRACE_FORM_SIGNED_NP:
		value->s64 = extend(bits, field->size);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		value->f64 = to_double(bits, field->size);
		break;
	default:
		value->u64 = field->type == POSIX_TRACE_TYPE_BOOL_NP ? bits != 0 : bits;
	}
}

static size_t length(const unsigned char *data, size_t len)
{
	const unsigned char *nul = memchr(data, 0, len);

	return nul ? (size_t)(nul - data) : len;
}

/* How many bytes of the payload the field takes; 0: it is not there. */
static size_t bytes(const struct posix_trace_values_np *values,
		    const struct posix_trace_field_np *field, struct posix_trace_value_np *value)
{
	const bool is_text = field->type == POSIX_TRACE_TYPE_STR_NP;
	size_t take;

	value->u64 = 0;
	value->data = values->data;
	if (field->room) {
		take = field->room;
		if (take > values->len) {
			take = values->len;
			value->flags = POSIX_TRACE_VALUE_CUT_NP;
		}
		value->len = is_text ? length(values->data, take) : take;
		return take;
	}
	if (is_text) {
		value->len = length(values->data, values->len);
		if (value->len < values->len)
			return value->len + 1;
		return value->len; /* nobody promised a NUL */
	}
	if (values->len < sizeof(uint32_t))
		return 0;
	value->data = values->data + sizeof(uint32_t);
	value->len = (size_t)load(values->data, sizeof(uint32_t),
				  values->flags & POSIX_TRACE_VALUES_SWAPPED_NP);
	take = values->len - sizeof(uint32_t);
	if (value->len > take) {
		value->len = take;
		value->flags = POSIX_TRACE_VALUE_CUT_NP;
	}
	return sizeof(uint32_t) + value->len;
}

PTX_EXPORT void posix_trace_values_begin_np(struct posix_trace_values_np *values,
					    const struct posix_trace_schema_np *schema,
					    const void *data, size_t len, unsigned flags)
{
	values->schema = schema;
	values->data = data;
	values->len = len;
	values->field = 0;
	values->index = 0;
	values->flags = flags;
	memset(values->reserved, 0, sizeof(values->reserved));
}

/* 1 and the next value, 0 after the last one. Inlined: it runs for each value of a log. */
ptx_inline int next_value(struct posix_trace_values_np *values, struct posix_trace_value_np *value)
{
	const struct posix_trace_field_np *field = &values->schema->field[values->field];
	size_t take;

	if (values->field >= values->schema->fields || values->len == 0)
		return 0;
	value->field = field;
	value->index = values->index;
	value->flags = 0;
	if (ptx_likely(field->form != POSIX_TRACE_FORM_BYTES_NP)) {
		take = field->size;
		if (take > values->len)
			return 0;
		number(field, values->data, values->flags & POSIX_TRACE_VALUES_SWAPPED_NP, value);
	} else {
		take = bytes(values, field, value);
		if (take == 0)
			return 0;
	}
	values->data += take;
	values->len -= take;
	if (++values->index == field->count) {
		values->index = 0;
		values->field++;
	}
	return 1;
}

PTX_EXPORT int posix_trace_field_next_sized_np(struct posix_trace_values_np *values,
					       struct posix_trace_value_np *value, size_t size)
{
	struct posix_trace_value_np known;

	if (ptx_likely(size == sizeof(*value)))
		return next_value(values, value);
	if (size < PTX_FIRST_VALUE || !next_value(values, &known))
		return 0;
	ptx_sized_store(value, size, &known, sizeof(known));
	return 1;
}

static int get_value(const struct posix_trace_schema_np *schema, unsigned field, unsigned index,
		     const void *data, size_t len, unsigned flags,
		     struct posix_trace_value_np *value)
{
	struct posix_trace_values_np values;
	size_t skip;

	if (field >= schema->fields || index >= schema->field[field].count)
		return 0;
	posix_trace_values_begin_np(&values, schema, data, len, flags);
	if (schema->field[field].offset != POSIX_TRACE_OFFSET_VARIES_NP) {
		skip = schema->field[field].offset + (size_t)index * schema->field[field].size;
		if (skip > len)
			return 0;
		values.data += skip;
		values.len -= skip;
		values.field = field;
		values.index = index;
	}
	while (next_value(&values, value))
		if (value->field == &schema->field[field] && value->index == index)
			return 1;
	return 0;
}

PTX_EXPORT int posix_trace_field_get_sized_np(const struct posix_trace_schema_np *schema,
					      unsigned field, unsigned index, const void *data,
					      size_t len, unsigned flags,
					      struct posix_trace_value_np *value, size_t size)
{
	struct posix_trace_value_np known;

	if (ptx_likely(size == sizeof(*value)))
		return get_value(schema, field, index, data, len, flags, value);
	if (size < PTX_FIRST_VALUE ||
	    !get_value(schema, field, index, data, len, flags, &known))
		return 0;
	ptx_sized_store(value, size, &known, sizeof(known));
	return 1;
}

PTX_EXPORT const char *posix_trace_value_name_np(const struct posix_trace_value_np *value)
{
	const struct posix_trace_field_np *field = value->field;

	if (field->has_bits)
		return NULL;
	for (unsigned i = 0; i < field->value_names; i++)
		if (field->value_name[i].value == value->u64) /* also of a signed type */
			return field->value_name[i].name;
	return NULL;
}
