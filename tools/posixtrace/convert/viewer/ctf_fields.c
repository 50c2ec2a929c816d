/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ctf_fields.c - describes the fields of a schema as fields of a CTF event, in TSDL (CTF 1.8,
 * section 4.1).
 *
 * A schema describes packed fields, and CTF fields with an alignment of one byte are packed, too.
 * So the data is copied as payload without a change.
 */
#include <string.h>

#include "convert/viewer/ctf.h"

/*
 * Returns the alias that ctf_metadata.c defines for a type. The aliases have the names of the
 * schema's types, except for types that CTF does not have.
 */
static const char *integer_of(enum posix_trace_type_np type)
{
	switch (type) {
	case POSIX_TRACE_TYPE_BOOL_NP:
	case POSIX_TRACE_TYPE_CHAR_NP:
		return "u8";
	case POSIX_TRACE_TYPE_PTR_NP:
		return "x64";
	case POSIX_TRACE_TYPE_NS_NP:
		return "u64";
	case POSIX_TRACE_TYPE_TIME_NP:
		return "s64";
	case POSIX_TRACE_TYPE_ERRNO_NP:
	case POSIX_TRACE_TYPE_FD_NP:
	case POSIX_TRACE_TYPE_SIGNAL_NP:
	case POSIX_TRACE_TYPE_WAIT_NP:
		return "s32";
	case POSIX_TRACE_TYPE_PTR32_NP:
		return "x32";
	default:
		return posix_trace_type_name_np(type);
	}
}

/*
 * Returns whether a CTF enumeration can have the names of the field's values as labels. Labels must
 * be distinct. Names of bits can be labels, too: readers join the labels of a number's bits, and
 * show a number without labels as a number.
 */
static bool is_enumeration(const struct posix_trace_field_np *field)
{
	if (!field->value_names || field->form == POSIX_TRACE_FORM_FLOAT_NP ||
	    field->form == POSIX_TRACE_FORM_BYTES_NP)
		return false;
	for (unsigned i = 0; i < field->value_names; i++)
		for (unsigned j = 0; j < i; j++)
			if (!strcmp(field->value_name[i].name, field->value_name[j].name))
				return false;
	return true;
}

/* Writes the type of a number, as an enumeration if the schema names its values. */
static void put_type(struct out *out, const struct posix_trace_field_np *field)
{
	if (!is_enumeration(field)) {
		out_str(out, integer_of(field->type));
		return;
	}
	out_printf(out, "enum : %s { ", integer_of(field->type));
	for (unsigned i = 0; i < field->value_names; i++) {
		const struct posix_trace_value_name_np *name = &field->value_name[i];

		out_str(out, i ? ", " : "");
		ctf_literal(out, name->name);
		out_str(out, " = ");
		/*
		 * name->value has the 64 bits of the number. For a signed field, they are written
		 * as a signed number.
		 */
		if (field->form == POSIX_TRACE_FORM_SIGNED_NP)
			out_signed(out, (int64_t)name->value);
		else
			out_unsigned(out, name->value);
	}
	out_str(out, " }");
}

/*
 * Writes a field with a leading _ before its name, because the name could be a TSDL keyword.
 * Readers remove one leading _.
 */
static void put_field(struct out *out, const struct posix_trace_field_np *field)
{
	out_str(out, "\t\t");
	if (field->type == POSIX_TRACE_TYPE_STR_NP && !field->room) {
		out_printf(out, "string { encoding = UTF8; } _%s;\n", field->name);
	} else if (field->type == POSIX_TRACE_TYPE_STR_NP) {
		/*
		 * CTF has no string of a fixed length, so the field becomes an array of characters.
		 */
		out_printf(out,
			   "integer { size = 8; align = 8; signed = false; encoding = UTF8; } "
			   "_%s[%u];\n",
			   field->name, field->room);
	} else if (field->type == POSIX_TRACE_TYPE_BYTES_NP && !field->room) {
		/*
		 * In the data, the length precedes the bytes. In CTF the length is a separate
		 * field. Its name begins with __, so that it differs from the names of other
		 * fields.
		 */
		out_printf(out, "u32 __%s_length;\n\t\tx8 _%s[__%s_length];\n", field->name,
			   field->name, field->name);
	} else if (field->type == POSIX_TRACE_TYPE_BYTES_NP) {
		out_printf(out, "x8 _%s[%u];\n", field->name, field->room);
	} else {
		put_type(out, field);
		out_printf(out, " _%s", field->name);
		if (field->is_array)
			out_printf(out, "[%u]", field->count);
		out_str(out, ";\n");
	}
}

void ctf_fields(struct out *out, const struct posix_trace_schema_np *schema)
{
	for (unsigned i = 0; i < schema->fields; i++)
		put_field(out, &schema->field[i]);
}
