/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_value.h - reads one value of an ETW payload, and writes it as data or as text. */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_VALUE_H
#define POSIXTRACE_CONVERT_ETW_ETW_VALUE_H

#include "convert/etw/etw_layout.h"
#include "convert/etw/etw_text.h"

enum etw_form {
	ETW_FORM_UNSIGNED, ETW_FORM_SIGNED, ETW_FORM_HEX, ETW_FORM_FLOAT, ETW_FORM_BOOL,
	ETW_FORM_CHAR, ETW_FORM_TIME, ETW_FORM_TEXT, ETW_FORM_BYTES
};

/* The form of a decoded value and its size; 0 for texts and bytes, whose sizes vary. */
struct etw_kind_of_value {
	enum etw_form form;
	unsigned size;
};

struct etw_value {
	struct etw_kind_of_value kind;
	/* the value, except for texts and bytes; for a float: its bits */
	uint64_t number;
	const unsigned char *bytes; /* for bytes: their place in the payload */
	size_t len;
	struct etw_bytes text;  /* for a text: UTF-8 without a NUL; the caller frees it */
};

/* The position in a payload. */
struct etw_reader {
	const unsigned char *bytes;
	size_t size, at;
	unsigned pointer_bytes; /* 4 or 8 */
};

/*
 * Returns the form and size that a field has in a schema and in data. Schemas and data are made
 * with this function, so that they agree.
 */
struct etw_kind_of_value etw_value_kind(const struct etw_field *field);
/* Returns the word of a schema for the kind, such as "u32" or "str". */
const char *etw_value_type(struct etw_kind_of_value kind);

/*
 * Reads one value. If the field has a length_rule, "length" is the number of its characters or
 * bytes; otherwise "length" is not used. Returns false if the payload is too short, or the type is
 * unknown.
 */
bool etw_value_take(const struct etw_field *field, struct etw_reader *reader, size_t length,
		    struct etw_value *value);

/*
 * etw_value_pack() appends the value as data of the schema's type, etw_value_text() appends it as
 * text.
 */
void etw_value_pack(const struct etw_value *value, struct etw_bytes *to);
void etw_value_text(const struct etw_field *field, const struct etw_value *value,
		    struct etw_bytes *to);

#endif
