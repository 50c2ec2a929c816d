/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * integer.h - reads integers in the data of events without a call of the library. It is for code
 * that runs for every event, where a call would cost too much.
 */
#ifndef POSIXTRACE_LOG_INTEGER_H
#define POSIXTRACE_LOG_INTEGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <trace_np.h>

/*
 * Returns whether integer_load() can read the values of a field. It cannot read a bool, because any
 * value of a bool other than 0 must become 1.
 */
static inline bool integer_is(const struct posix_trace_field_np *field)
{
	return (field->form == POSIX_TRACE_FORM_UNSIGNED_NP ||
		field->form == POSIX_TRACE_FORM_SIGNED_NP) &&
	       field->type != POSIX_TRACE_TYPE_BOOL_NP;
}

/*
 * Reads an integer of 1, 2, 4 or 8 bytes and extends it to 64 bits, as posix_trace_field_next_np()
 * does.
 */
static inline uint64_t integer_load(const void *from, unsigned size, bool is_signed)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (size) {
	case 1:
		memcpy(&u8, from, sizeof(u8));
		return is_signed ? (uint64_t)(int8_t)u8 : u8;
	case 2:
		memcpy(&u16, from, sizeof(u16));
		return is_signed ? (uint64_t)(int16_t)u16 : u16;
	case 4:
		memcpy(&u32, from, sizeof(u32));
		return is_signed ? (uint64_t)(int32_t)u32 : u32;
	default:
		memcpy(&u64, from, sizeof(u64));
		return u64;
	}
}

/*
 * Stores the first value of a field and returns true if the field is an integer, has a constant
 * offset in the data, and the data is long enough. Otherwise it returns false, and the caller must
 * use posix_trace_field_get_np().
 */
static inline bool integer_at(const struct posix_trace_field_np *field, const void *data,
			      size_t len, uint64_t *value)
{
	if (!integer_is(field) || field->offset > len || field->size > len - field->offset)
		return false;
	*value = integer_load((const uint8_t *)data + field->offset, field->size,
			      field->form == POSIX_TRACE_FORM_SIGNED_NP);
	return true;
}

#endif
