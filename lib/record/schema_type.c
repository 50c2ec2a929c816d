/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/schema_type.c - the types of fields, and their names in a schema's text.
 *
 * The order is that of enum posix_trace_type_np, which is ABI and therefore only grows at its end.
 * The form selects the member of a value that a reader fills; the size is in bytes. The type
 * "bytes" has the size 4, which is the size of the count before the bytes. The type "str" has the
 * size 0.
 */
#include "record/schema.h"

static const struct ptx_schema_type types[] = {
	[POSIX_TRACE_TYPE_U8_NP] = { "u8", POSIX_TRACE_FORM_UNSIGNED_NP, 1 },
	[POSIX_TRACE_TYPE_U16_NP] = { "u16", POSIX_TRACE_FORM_UNSIGNED_NP, 2 },
	[POSIX_TRACE_TYPE_U32_NP] = { "u32", POSIX_TRACE_FORM_UNSIGNED_NP, 4 },
	[POSIX_TRACE_TYPE_U64_NP] = { "u64", POSIX_TRACE_FORM_UNSIGNED_NP, 8 },
	[POSIX_TRACE_TYPE_S8_NP] = { "s8", POSIX_TRACE_FORM_SIGNED_NP, 1 },
	[POSIX_TRACE_TYPE_S16_NP] = { "s16", POSIX_TRACE_FORM_SIGNED_NP, 2 },
	[POSIX_TRACE_TYPE_S32_NP] = { "s32", POSIX_TRACE_FORM_SIGNED_NP, 4 },
	[POSIX_TRACE_TYPE_S64_NP] = { "s64", POSIX_TRACE_FORM_SIGNED_NP, 8 },
	[POSIX_TRACE_TYPE_X8_NP] = { "x8", POSIX_TRACE_FORM_UNSIGNED_NP, 1 },
	[POSIX_TRACE_TYPE_X16_NP] = { "x16", POSIX_TRACE_FORM_UNSIGNED_NP, 2 },
	[POSIX_TRACE_TYPE_X32_NP] = { "x32", POSIX_TRACE_FORM_UNSIGNED_NP, 4 },
	[POSIX_TRACE_TYPE_X64_NP] = { "x64", POSIX_TRACE_FORM_UNSIGNED_NP, 8 },
	[POSIX_TRACE_TYPE_F32_NP] = { "f32", POSIX_TRACE_FORM_FLOAT_NP, 4 },
	[POSIX_TRACE_TYPE_F64_NP] = { "f64", POSIX_TRACE_FORM_FLOAT_NP, 8 },
	[POSIX_TRACE_TYPE_BOOL_NP] = { "bool", POSIX_TRACE_FORM_UNSIGNED_NP, 1 },
	[POSIX_TRACE_TYPE_CHAR_NP] = { "char", POSIX_TRACE_FORM_UNSIGNED_NP, 1 },
	[POSIX_TRACE_TYPE_PTR_NP] = { "ptr", POSIX_TRACE_FORM_UNSIGNED_NP, 8 },
	[POSIX_TRACE_TYPE_NS_NP] = { "ns", POSIX_TRACE_FORM_UNSIGNED_NP, 8 },
	[POSIX_TRACE_TYPE_TIME_NP] = { "time", POSIX_TRACE_FORM_SIGNED_NP, 8 },
	[POSIX_TRACE_TYPE_ERRNO_NP] = { "errno", POSIX_TRACE_FORM_SIGNED_NP, 4 },
	[POSIX_TRACE_TYPE_STR_NP] = { "str", POSIX_TRACE_FORM_BYTES_NP, 0 },
	[POSIX_TRACE_TYPE_BYTES_NP] = { "bytes", POSIX_TRACE_FORM_BYTES_NP, 4 },
	[POSIX_TRACE_TYPE_PTR32_NP] = { "ptr32", POSIX_TRACE_FORM_UNSIGNED_NP, 4 },
	[POSIX_TRACE_TYPE_O8_NP] = { "o8", POSIX_TRACE_FORM_UNSIGNED_NP, 1 },
	[POSIX_TRACE_TYPE_O16_NP] = { "o16", POSIX_TRACE_FORM_UNSIGNED_NP, 2 },
	[POSIX_TRACE_TYPE_O32_NP] = { "o32", POSIX_TRACE_FORM_UNSIGNED_NP, 4 },
	[POSIX_TRACE_TYPE_O64_NP] = { "o64", POSIX_TRACE_FORM_UNSIGNED_NP, 8 },
	[POSIX_TRACE_TYPE_FD_NP] = { "fd", POSIX_TRACE_FORM_SIGNED_NP, 4 },
	[POSIX_TRACE_TYPE_SIGNAL_NP] = { "signal", POSIX_TRACE_FORM_SIGNED_NP, 4 },
	[POSIX_TRACE_TYPE_WAIT_NP] = { "wait", POSIX_TRACE_FORM_SIGNED_NP, 4 },
};

/* The number of the table's entries; entry 0 has no name. */
#define TYPES (sizeof(types) / sizeof(types[0]))

/*
 * Returns the name, form and size of a type of field, or NULL for an unknown type. The type may
 * come from a hostile caller, so it is compared as an unsigned number.
 */
const struct ptx_schema_type *ptx_schema_type(enum posix_trace_type_np type)
{
	return (unsigned)type < TYPES && types[type].name ? &types[type] : NULL;
}
