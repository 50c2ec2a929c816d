/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/schema.c - from the text to fields, in one pass; keys are found at its end.
 *
 * Names are copied out of the text into the schema's own: each is followed by at least one other
 * character or the end of the text, so all of them with their NULs fit where the text does.
 */
#include <limits.h>
#include <string.h>

#include "record/schema.h"

struct parser {
	struct posix_trace_schema_np *schema;
	const char *at;
	char *room; /* for the next name */
	size_t offset;
	const char *why;
	/* Names after @key, which may stand before their fields. */
	const char *key[POSIX_TRACE_KEYS_MAX_NP];
};

/* Always false, so that a caller can return it. */
static bool fault(struct parser *parser, const char *why)
{
	parser->why = why;
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* What a span or a value may be called. */
static bool is_label(char c)
{
	return c > ' ' && c < 0x7f && !strchr(";,{}|=@\"\\", c);
}

static bool is_word(char c)
{
	return is_letter(c) || is_digit(c);
}

static void skip_blanks(struct parser *parser)
{
	while (is_blank(*parser->at))
		parser->at++;
}

/* The next character other than blanks, if it is this one. */
static bool take(struct parser *parser, char c)
{
	skip_blanks(parser);
	if (*parser->at != c)
		return false;
	parser->at++;
	return true;
}

static bool take_keyword(struct parser *parser, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(parser->at, word, len) || is_word(parser->at[len]))
		return false;
	parser->at += len;
	return true;
}

static const char *take_name(struct parser *parser, bool (*belongs)(char c))
{
	const char *begin;
	char *name = parser->room;
	size_t len = 0;

	skip_blanks(parser);
	begin = parser->at;
	while (belongs(begin[len]))
		len++;
	if (len == 0) {
		fault(parser, "a name is missing");
		return NULL;
	}
	if (len > POSIX_TRACE_FIELD_NAME_MAX_NP) {
		fault(parser, "a name is too long");
		return NULL;
	}
	memcpy(name, begin, len);
	name[len] = '\0';
	parser->room += len + 1;
	parser->at += len;
	return name;
}

static const char *take_field_name(struct parser *parser)
{
	skip_blanks(parser);
	if (is_digit(*parser->at)) {
		fault(parser, "the name of a field begins with a digit");
		return NULL;
	}
	return take_name(parser, is_word);
}

static int digit_of(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return INT_MAX;
}

/* As in C: decimal, 0x and 0 before octal. */
static bool take_number(struct parser *parser, uint64_t *number)
{
	const char *begin;
	int base = 10;

	skip_blanks(parser);
	if (parser->at[0] == '0' && (parser->at[1] == 'x' || parser->at[1] == 'X')) {
		base = 16;
		parser->at += 2;
	} else if (parser->at[0] == '0') {
		base = 8;
	}
	begin = parser->at;
	for (*number = 0; digit_of(*parser->at) < base; parser->at++)
		if (__builtin_mul_overflow(*number, (unsigned)base, number) ||
		    __builtin_add_overflow(*number, (unsigned)digit_of(*parser->at), number))
			return fault(parser, "a number is too large");
	if (parser->at == begin || is_word(*parser->at))
		return fault(parser, "this is not a number");
	return true;
}

static bool take_value_name(struct parser *parser, struct posix_trace_field_np *field)
{
	struct posix_trace_schema_np *schema = parser->schema;
	struct posix_trace_value_name_np *name = &schema->value_name[schema->value_names];
	bool negative;

	if (schema->value_names == POSIX_TRACE_VALUE_NAMES_MAX_NP)
		return fault(parser, "there are too many names for values");
	negative = take(parser, '-');
	if (!take_number(parser, &name->value))
		return false;
	if (negative) {
		if (field->form != POSIX_TRACE_FORM_SIGNED_NP || field->has_bits ||
		    name->value > UINT64_C(1) << 63)
			return fault(parser, "a value cannot be negative");
		name->value = -name->value;
	} else if (field->form == POSIX_TRACE_FORM_SIGNED_NP && name->value > INT64_MAX) {
		return fault(parser, "a number is too large");
	}
	if (!take(parser, '='))
		return fault(parser, "a value has no '=' behind it");
	name->name = take_name(parser, is_label);
	if (!name->name)
		return false;
	schema->value_names++;
	field->value_names++;
	return true;
}

/* Bits may have the bar before each, or before the first alone. */
static bool take_value_separator(struct parser *parser, const struct posix_trace_field_np *field)
{
	bool more = take(parser, ',');

	return (field->has_bits && take(parser, '|')) || more;
}

/* Behind the brace. */
static bool take_value_names(struct parser *parser, struct posix_trace_field_np *field)
{
	if (field->form != POSIX_TRACE_FORM_UNSIGNED_NP &&
	    field->form != POSIX_TRACE_FORM_SIGNED_NP)
		return fault(parser, "values of this type have no names");
	field->value_name = &parser->schema->value_name[parser->schema->value_names];
	field->has_bits = take(parser, '|');
	do {
		if (!take_value_name(parser, field))
			return false;
	} while (take_value_separator(parser, field));
	return take(parser, '}') || fault(parser, "the names of values have no '}' behind them");
}

static bool take_type(struct parser *parser, struct posix_trace_field_np *field)
{
	enum posix_trace_type_np type = POSIX_TRACE_TYPE_U8_NP;
	const struct ptx_schema_type *known = ptx_schema_type(type);

	while (known && !take_keyword(parser, known->name))
		known = ptx_schema_type(++type);
	if (!known)
		return fault(parser, "this is not a type");
	field->type = type;
	field->form = known->form;
	field->size = known->size;
	field->count = 1;
	return true;
}

/* Behind the bracket. */
static bool take_count(struct parser *parser, struct posix_trace_field_np *field)
{
	uint64_t count;

	if (!take_number(parser, &count))
		return false;
	if (count == 0 || count > POSIX_TRACE_ELEMENTS_MAX_NP)
		return fault(parser, "an array has an impossible size");
	if (!take(parser, ']'))
		return fault(parser, "an array's size has no ']' behind it");
	if (field->form == POSIX_TRACE_FORM_BYTES_NP) {
		field->room = (unsigned)count;
		field->size = (unsigned)count;
	} else {
		field->is_array = 1;
		field->count = (unsigned)count;
	}
	return true;
}

static bool has_name(const struct posix_trace_schema_np *schema, const char *name, unsigned *number)
{
	for (*number = 0; *number < schema->fields; ++*number)
		if (!strcmp(schema->field[*number].name, name))
			return true;
	return false;
}

static bool take_field(struct parser *parser)
{
	struct posix_trace_schema_np *schema = parser->schema;
	struct posix_trace_field_np *field = &schema->field[schema->fields];
	unsigned other;

	if (schema->fields == POSIX_TRACE_FIELDS_MAX_NP)
		return fault(parser, "there are too many fields");
	memset(field, 0, sizeof(*field));
	if (!take_type(parser, field) || (take(parser, '[') && !take_count(parser, field)))
		return false;
	field->name = take_field_name(parser);
	if (!field->name)
		return false;
	if (has_name(schema, field->name, &other))
		return fault(parser, "two fields have one name");
	if (take(parser, '{') && !take_value_names(parser, field))
		return false;
	field->offset = parser->offset;
	if (parser->offset != POSIX_TRACE_OFFSET_VARIES_NP) {
		if (field->form == POSIX_TRACE_FORM_BYTES_NP && !field->room)
			parser->offset = POSIX_TRACE_OFFSET_VARIES_NP;
		else
			parser->offset += (size_t)field->size * field->count;
	}
	schema->fields++;
	return true;
}

static bool take_level(struct parser *parser)
{
	uint64_t level;

	if (parser->schema->level)
		return fault(parser, "there are two levels");
	if (!take_number(parser, &level))
		return false;
	if (level < 1 || level > 5)
		return fault(parser, "a level is not 1 to 5");
	parser->schema->level = (int)level;
	return true;
}

static bool take_span(struct parser *parser, enum posix_trace_role_np role)
{
	if (parser->schema->span)
		return fault(parser, "there are two spans");
	parser->schema->role = role;
	parser->schema->span = take_name(parser, is_label);
	return parser->schema->span;
}

static bool take_keys(struct parser *parser)
{
	struct posix_trace_schema_np *schema = parser->schema;

	if (schema->keys)
		return fault(parser, "there are two keys");
	do {
		if (schema->keys == POSIX_TRACE_KEYS_MAX_NP)
			return fault(parser, "a key has too many fields");
		parser->key[schema->keys] = take_field_name(parser);
		if (!parser->key[schema->keys])
			return false;
		schema->keys++;
	} while (take(parser, ','));
	return true;
}

/* Behind the @. */
static bool take_attribute(struct parser *parser)
{
	skip_blanks(parser);
	if (take_keyword(parser, "level"))
		return take_level(parser);
	if (take_keyword(parser, "begin"))
		return take_span(parser, POSIX_TRACE_BEGIN_NP);
	if (take_keyword(parser, "end"))
		return take_span(parser, POSIX_TRACE_END_NP);
	if (take_keyword(parser, "key"))
		return take_keys(parser);
	return fault(parser, "this is not an attribute");
}

static bool resolve_keys(struct parser *parser)
{
	struct posix_trace_schema_np *schema = parser->schema;

	if (schema->keys && !schema->span)
		return fault(parser, "a key has no span");
	for (unsigned i = 0; i < schema->keys; i++) {
		if (!has_name(schema, parser->key[i], &schema->key[i]))
			return fault(parser, "a key is not a field");
		if (schema->field[schema->key[i]].is_array)
			return fault(parser, "a key is an array");
		if (schema->field[schema->key[i]].is_key)
			return fault(parser, "a key has a field twice");
		schema->field[schema->key[i]].is_key = 1;
	}
	return true;
}

static bool take_items(struct parser *parser)
{
	bool any = false;

	for (;;) {
		skip_blanks(parser);
		if (*parser->at == '\0')
			break;
		if (take(parser, ';'))
			continue;
		if (!(take(parser, '@') ? take_attribute(parser) : take_field(parser)))
			return false;
		any = true;
		skip_blanks(parser);
		if (*parser->at != '\0' && !take(parser, ';'))
			return fault(parser, "an item has no ';' behind it");
	}
	return any ? resolve_keys(parser) : fault(parser, "it says nothing");
}

const char *ptx_schema_parse(const char *text, struct posix_trace_schema_np *schema)
{
	struct parser parser = { .schema = schema, .at = text, .room = schema->text };

	if (strnlen(text, PTX_SCHEMA_BYTES) == PTX_SCHEMA_BYTES)
		return "it is too long";
	schema->fields = 0;
	schema->level = 0;
	schema->role = POSIX_TRACE_POINT_NP;
	schema->span = NULL;
	schema->keys = 0;
	schema->value_names = 0;
	return take_items(&parser) ? NULL : parser.why;
}
