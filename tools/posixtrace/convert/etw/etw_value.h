/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_value.h - one value of an ETW payload: taken from the bytes, and written in two forms. */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_VALUE_H
#define POSIXTRACE_CONVERT_ETW_ETW_VALUE_H

#include "convert/etw/etw_layout.h"
#include "convert/etw/etw_text.h"

enum etw_form {
	ETW_FORM_UNSIGNED, ETW_FORM_SIGNED, ETW_FORM_HEX, ETW_FORM_FLOAT, ETW_FORM_BOOL,
	ETW_FORM_CHAR, ETW_FORM_TIME, ETW_FORM_TEXT, ETW_FORM_BYTES
};

/* The kind of a decoded value and its bytes; 0: texts and bytes, which vary. */
struct etw_kind_of_value {
	enum etw_form form;
	unsigned size;
};

struct etw_value {
	struct etw_kind_of_value kind;
	uint64_t number;        /* of all forms but texts and bytes; a float's bits */
	const unsigned char *bytes; /* of BYTES: in the payload */
	size_t len;
	struct etw_bytes text;  /* of TEXT: UTF-8 without a NUL; the caller frees it */
};

/* A payload that is being read. */
struct etw_reader {
	const unsigned char *bytes;
	size_t size, at;
	unsigned pointer_bytes; /* 4 or 8 */
};

struct etw_kind_of_value etw_value_kind(const struct etw_field *field);
/* The schema's word for it: "u32", "str". */
const char *etw_value_type(struct etw_kind_of_value kind);

/* Takes one value; length counts characters or bytes where the field has a length_rule. */
bool etw_value_take(const struct etw_field *field, struct etw_reader *reader, size_t length,
		    struct etw_value *value);

/* As the schema's type, and as text. */
void etw_value_pack(const struct etw_value *value, struct etw_bytes *to);
void etw_value_text(const struct etw_field *field, const struct etw_value *value,
		    struct etw_bytes *to);

#endif
