/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/fields.c - reads the values of a payload by its schema.
 *
 * A conversion reads many millions of values. The functions allocate nothing and keep no state, and
 * those that read values search nothing. Payload and schema are hostile: every access is bounded by
 * the length of the payload. All functions are async-signal-safe and may run concurrently.
 */
#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "base/export.h"
#include "posix/first.h"
#include "record/schema.h"

/*
 * Parses a schema. EINVAL: the text is not a schema, a pointer is null, or `size` is less than that
 * of version 1. The parser sets only members within the first `size` bytes. If the program's struct
 * is longer than this library's, because the program was compiled for a newer version, the further
 * members become 0.
 */
PTX_EXPORT int posix_trace_schema_parse_sized_np(const char *text,
						 struct posix_trace_schema_np *schema, size_t size)
{
	/* posix_trace_schema_fault_np() returns the reason of an error. */
	if (!text || !schema || size < PTX_FIRST_SCHEMA)
		return EINVAL;
	if (size > sizeof(*schema))
		memset((char *)schema + sizeof(*schema), 0, size - sizeof(*schema));
	return ptx_schema_parse_sized(text, schema, size) ? EINVAL : 0;
}

PTX_EXPORT const char *posix_trace_schema_fault_np(const char *text, size_t room)
{
	return text ? ptx_schema_fault(text, room) : "there is no text";
}

/*
 * Returns the name of a type as it is in schemas, or NULL if there is no such type. The text is a
 * constant.
 */
PTX_EXPORT const char *posix_trace_type_name_np(enum posix_trace_type_np type)
{
	const struct ptx_schema_type *known = ptx_schema_type(type);

	return known ? known->name : NULL;
}

/*
 * Loads a number of 1, 2, 4 or 8 bytes from any address. `swapped` is true if the payload is from a
 * machine of the other byte order.
 */
static uint64_t load_number(const unsigned char *data, unsigned size, bool swapped)
{
	/* memcpy() is used because payloads have no padding, so a number may have any alignment. */
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

/* Converts the bits of a float or a double. Every bit pattern is valid, also a NaN. */
static double to_double(uint64_t bits, unsigned size)
{
	const uint32_t low = (uint32_t)bits;
	/* memcpy(), because a cast of the pointer would break the aliasing rules of C. */
	double f64;
	float f32;

	if (size == sizeof(f32)) {
		memcpy(&f32, &low, sizeof(f32));
		return (double)f32;
	}
	memcpy(&f64, &bits, sizeof(f64));
	return f64;
}

/*
 * Extends the sign of a number of `size` bytes. The shift to the right is arithmetic in all
 * supported compilers.
 */
static int64_t fields_extend(uint64_t bits, unsigned size)
{
	/* The shift to the left moves the sign of the number to bit 63. */
	const unsigned shift = 64 - 8 * size;

	return (int64_t)(bits << shift) >> shift;
}

/* Fills in the value of a number. The caller has checked that its bytes exist. */
static void read_number(const struct posix_trace_field_np *field, const unsigned char *data,
			bool swapped, struct posix_trace_value_np *value)
{
	/* The size is 1, 2, 4 or 8: the parser accepts no other size. */
	const uint64_t bits = load_number(data, field->size, swapped);

	value->data = data;
	value->len = field->size;
	switch (field->form) {
	case POSIX_TRACE_FORM_SIGNED_NP:
		value->s64 = fields_extend(bits, field->size);
		break;
	case POSIX_TRACE_FORM_FLOAT_NP:
		value->f64 = to_double(bits, field->size);
		break;
	default:
		/* A bool with any bit set is true. */
		value->u64 = field->type == POSIX_TRACE_TYPE_BOOL_NP ? bits != 0 : bits;
	}
}

/* Returns the length of a text, which ends at its first NUL or at the end of its field. */
static size_t text_length(const unsigned char *data, size_t len)
{
	/* A payload that was truncated may lack the NUL. */
	const unsigned char *nul = memchr(data, 0, len);

	return nul ? (size_t)(nul - data) : len;
}

/*
 * Fills in the value of text or bytes. Returns how many bytes of the payload the field occupies, or
 * 0 if the payload ends within the count of the bytes. The payload has at least one more byte.
 */
static size_t read_bytes(const struct posix_trace_values_np *values,
		    const struct posix_trace_field_np *field, struct posix_trace_value_np *value)
{
	const bool is_text = field->type == POSIX_TRACE_TYPE_STR_NP;
	size_t take;

	/* The members that the type does not use are 0. */
	value->u64 = 0;
	value->data = values->data;
	/* The payload may end within a field of constant size. */
	if (field->room) {
		take = field->room;
		if (take > values->len) {
			take = values->len;
			value->flags = POSIX_TRACE_VALUE_CUT_NP;
		}
		/*
		 * Text in a field of constant size ends with a NUL if it is shorter than the
		 * field.
		 */
		value->len = is_text ? text_length(values->data, take) : take;
		return take;
	}
	/* Text of variable size occupies its NUL, too. */
	if (is_text) {
		value->len = text_length(values->data, values->len);
		if (value->len < values->len)
			return value->len + 1;
		return value->len; /* the text ends at the end of the payload */
	}
	/* A field of bytes begins with a count, which may be wrong. */
	if (values->len < sizeof(uint32_t))
		return 0;
	value->data = values->data + sizeof(uint32_t);
	value->len = (size_t)load_number(values->data, sizeof(uint32_t),
					 values->flags & POSIX_TRACE_VALUES_SWAPPED_NP);
	/* The count is larger than the rest of the payload if the payload was truncated. */
	take = values->len - sizeof(uint32_t);
	if (value->len > take) {
		value->len = take;
		value->flags = POSIX_TRACE_VALUE_CUT_NP;
	}
	return sizeof(uint32_t) + value->len;
}

/*
 * Begins to read the values of a payload. `flags` are POSIX_TRACE_VALUES_*. The schema and the
 * payload must exist as long as `values` is used.
 */
PTX_EXPORT void posix_trace_values_begin_np(struct posix_trace_values_np *values,
					    const struct posix_trace_schema_np *schema,
					    const void *data, size_t len, unsigned flags)
{
	/* This function reads no value; errors of the payload appear when its values are read. */
	values->schema = schema;
	values->data = data;
	values->len = len;
	values->field = 0;
	values->index = 0;
	values->flags = flags;
	memset(values->reserved, 0, sizeof(values->reserved));
}

/*
 * Stores the next value and returns 1. Returns 0 behind the last value, and if the payload ends
 * before the value, within a number, or within the count of bytes. If text or bytes are truncated,
 * the value is the part that the payload has. Arrays yield one value per element. Inlined, because
 * the function runs for each value of a log.
 */
ptx_inline int next_value(struct posix_trace_values_np *values, struct posix_trace_value_np *value)
{
	/*
	 * The pointer may point behind the last field of the schema. It is not used before the
	 * check.
	 */
	const struct posix_trace_field_np *field = &values->schema->field[values->field];
	size_t take;

	if (values->field >= values->schema->fields || values->len == 0)
		return 0;
	value->field = field;
	value->index = values->index;
	value->flags = 0;
	/* Numbers are tested first, because nearly all fields are numbers. */
	if (ptx_likely(field->form != POSIX_TRACE_FORM_BYTES_NP)) {
		take = field->size;
		/* The payload ends within the field, so the field is missing. */
		if (take > values->len)
			return 0;
		read_number(field, values->data, values->flags & POSIX_TRACE_VALUES_SWAPPED_NP,
			    value);
	} else {
		take = read_bytes(values, field, value);
		if (take == 0)
			return 0;
	}
	/* `take` is at most values->len, so that len does not wrap. */
	values->data += take;
	values->len -= take;
	if (++values->index == field->count) {
		values->index = 0;
		values->field++;
	}
	return 1;
}

/*
 * Handles a program with another version of the structure. This is a separate function, so that the
 * usual path needs no stack frame.
 */
static ptx_cold int next_resized(struct posix_trace_values_np *values,
				 struct posix_trace_value_np *value, size_t size)
{
	struct posix_trace_value_np known;

	if (size < PTX_FIRST_VALUE || !next_value(values, &known))
		return 0;
	ptx_sized_store(value, size, &known, sizeof(known));
	return 1;
}

PTX_EXPORT int posix_trace_field_next_sized_np(struct posix_trace_values_np *values,
					       struct posix_trace_value_np *value, size_t size)
{
	if (ptx_unlikely(size != sizeof(*value)))
		return next_resized(values, value, size);
	return next_value(values, value);
}

/*
 * Reads one value by the number of its field and by its index in the array. Most fields have a
 * constant position, so the fields before them need not be read.
 */
static int get_value(const struct posix_trace_schema_np *schema, unsigned field, unsigned index,
		     const void *data, size_t len, unsigned flags,
		     struct posix_trace_value_np *value)
{
	const struct posix_trace_field_np *place = &schema->field[field];
	struct posix_trace_values_np values;
	size_t skip = 0;

	/* The field must be in the schema, and the element in the array. */
	if (field >= schema->fields || index >= place->count)
		return 0;
	if (place->offset != POSIX_TRACE_OFFSET_VARIES_NP) {
		skip = place->offset + (size_t)index * place->size;
		/* The payload ends before the field. */
		if (skip > len)
			return 0;
		/*
		 * Nearly all fields are numbers. Their value can be loaded without reading the
		 * fields before it.
		 */
		if (ptx_likely(place->form != POSIX_TRACE_FORM_BYTES_NP)) {
			if (place->size > len - skip)
				return 0;
			value->field = place;
			value->index = index;
			value->flags = 0;
			read_number(place, (const unsigned char *)data + skip,
				    flags & POSIX_TRACE_VALUES_SWAPPED_NP, value);
			return 1;
		}
	}
	posix_trace_values_begin_np(&values, schema, data, len, flags);
	if (place->offset != POSIX_TRACE_OFFSET_VARIES_NP) {
		values.data += skip;
		values.len -= skip;
		values.field = field;
		values.index = index;
	}
	/*
	 * If the position varies, all fields before it are read, from the beginning of the payload.
	 */
	while (next_value(&values, value))
		if (value->field == place && value->index == index)
			return 1;
	return 0;
}

/*
 * The result is 0 if there is no such value, or if `size` is less than that of the first version.
 */
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

/*
 * Returns the name of the whole value, NULL if the schema has none. Names of bits belong to parts
 * of a value.
 */
PTX_EXPORT const char *posix_trace_value_name_np(const struct posix_trace_value_np *value)
{
	const struct posix_trace_field_np *field = value->field;

	/* If has_bits is set, the array value_name has the names of bits. */
	if (field->has_bits)
		return NULL;
	for (unsigned i = 0; i < field->value_names; i++)
		/* the values are compared as bits, which is right for signed types, too */
		if (field->value_name[i].value == value->u64)
			return field->value_name[i].name;
	return NULL;
}
