/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * schema.c - a schema and a payload: the text up to a NUL, then the payload.
 *
 * A valid schema gives fields that are in order and inside the payload, and that are the same if
 * they are read one by one or by number.
 */
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>

#include "fuzz/fuzz.h"

const struct fuzz_word fuzz_words[] = { { 0 } };

static struct posix_trace_schema_np schema;

static void must_be_within(const struct posix_trace_value_np *value, const uint8_t *payload,
			   size_t len)
{
	const uint8_t *data = value->data;

	if (value->field->form != POSIX_TRACE_FORM_BYTES_NP)
		return;
	FUZZ_MUST(value->len <= len && data >= payload && data <= payload + len - value->len,
		  "field %s lies outside", value->field->name);
}

static void check_fields(void)
{
	FUZZ_MUST(schema.fields <= POSIX_TRACE_FIELDS_MAX_NP &&
			  schema.keys <= POSIX_TRACE_KEYS_MAX_NP,
		  "%u fields, %u keys", schema.fields, schema.keys);
	for (unsigned i = 0; i < schema.keys; i++)
		FUZZ_MUST(schema.key[i] < schema.fields, "key %u", schema.key[i]);
	for (unsigned i = 0; i < schema.fields; i++) {
		const struct posix_trace_field_np *field = &schema.field[i];

		FUZZ_MUST(field->name && strlen(field->name) <= POSIX_TRACE_FIELD_NAME_MAX_NP &&
				  posix_trace_type_name_np(field->type),
			  "field %u is none", i);
		for (unsigned k = 0; k < field->value_names; k++)
			FUZZ_MUST(strlen(field->value_name[k].name) <=
					  POSIX_TRACE_FIELD_NAME_MAX_NP,
				  "a value's name is too long");
	}
}

static void read_values(const uint8_t *payload, size_t len, unsigned flags)
{
	struct posix_trace_values_np values;
	struct posix_trace_value_np value, again;
	unsigned n = 0;

	posix_trace_values_begin_np(&values, &schema, payload, len, flags);
	while (posix_trace_field_next_np(&values, &value)) {
		FUZZ_MUST(n++ < 40 * POSIX_TRACE_ELEMENTS_MAX_NP, "values without an end");
		must_be_within(&value, payload, len);
		posix_trace_value_name_np(&value);
		if (n % 64 != 1)
			continue;
		FUZZ_MUST(posix_trace_field_get_np(&schema, (unsigned)(value.field - schema.field),
						   value.index, payload, len, flags, &again),
			  "field %s is not there by number", value.field->name);
		FUZZ_MUST(again.flags == value.flags &&
				  (value.field->form == POSIX_TRACE_FORM_BYTES_NP ?
					   again.data == value.data && again.len == value.len :
					   again.u64 == value.u64),
			  "field %s is another by number", value.field->name);
	}
	FUZZ_MUST(values.len <= len && (!values.len || values.data + values.len == payload + len),
		  "the rest lies outside");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, 0, size);
	size_t text_len = end ? (size_t)(end - data) : size;
	size_t len = end ? size - text_len - 1 : 0;
	char *text = malloc(text_len + 1);
	uint8_t *payload = malloc(len + !len);

	FUZZ_MUST(text && payload, "no memory");
	memcpy(text, data, text_len);
	text[text_len] = '\0';
	if (len)
		memcpy(payload, end + 1, len);
	if (posix_trace_schema_parse_np(text, &schema) == 0) {
		check_fields();
		read_values(payload, len, 0);
		read_values(payload, len, POSIX_TRACE_VALUES_SWAPPED_NP);
	}
	free(text);
	free(payload);
	return 0;
}
