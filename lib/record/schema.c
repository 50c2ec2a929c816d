/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/schema.c - parses the text of a schema in one pass; keys are resolved at its end.
 *
 * The text is hostile: every length, count and number is limited. Names are copied from the text
 * into the schema. Each name is followed by at least one other character or the end of the text,
 * so that all names with their NULs fit into an array of the text's size.
 *
 * A function take_X() consumes an X at the present position and advances. If a function take_X() or
 * resolve_X() returns false or NULL, it has recorded the reason in parser->why, unless its comment
 * says otherwise.
 */
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "record/schema.h"

/* A list of names that fields refer to: @names LIST{...}. */
struct name_list {
	const char *name;
	/* index of the first name in the schema's array value_name, and count of the names */
	unsigned first, names;
	bool has_bits;
	bool is_negative; /* a name has a value below 0, which an unsigned field cannot have */
	bool is_large;    /* a name has a value above INT64_MAX, which a signed field cannot have */
};

/* The state of one parse. */
struct parser {
	struct posix_trace_schema_np *schema;
	const char *at;
	char *room; /* where the next name is copied to */
	/*
	 * Offset of the next field in the payload. It is POSIX_TRACE_OFFSET_VARIES_NP behind a
	 * field of variable size.
	 */
	size_t offset;
	const char *why; /* the first fault, for ptx_schema_parse() */
	const char *format; /* the text of @format, stored among the names */
	/* Names after @key, which may precede their fields. resolve_keys() finds the fields. */
	const char *key[POSIX_TRACE_KEYS_MAX_NP];
	/* Names after @counter, which may precede their fields, too. */
	const char *counter[POSIX_TRACE_FIELDS_MAX_NP];
	unsigned counters;
	struct name_list list[POSIX_TRACE_NAME_LISTS_MAX_NP];
	unsigned lists;
	bool has_masks; /* the caller's struct has the member value_mask */
};

/* Records the reason of a failure. Always returns false, so that a caller can return the result. */
static bool schema_fault(struct parser *parser, const char *why)
{
	parser->why = why;
	return false;
}

/*
 * Returns whether the character is a blank, which separates items. This function and the next ones
 * do not use isspace() and similar functions, because the result must not depend on the locale of
 * the program.
 */
static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns whether the character is a decimal digit. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns whether the character can begin an identifier. */
static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/*
 * Returns whether the character can be in the name of a span or of a value: it is printable and no
 * separator.
 */
static bool is_label(char c)
{
	return c > ' ' && c < 0x7f && !strchr(";,{}|=@\"\\", c);
}

/* Returns whether the character can be in an identifier or in a keyword. */
static bool is_word(char c)
{
	return is_letter(c) || is_digit(c);
}

/* Advances to the next character that is not blank, or to the end. */
static void skip_blanks(struct parser *parser)
{
	while (is_blank(*parser->at))
		parser->at++;
}

/*
 * Skips blanks, then consumes the character c. Returns whether the character was there. A missing
 * character is no fault.
 */
static bool take_char(struct parser *parser, char c)
{
	skip_blanks(parser);
	if (*parser->at != c)
		return false;
	parser->at++;
	return true;
}

/* Consumes the keyword `word`. It is no fault if another word is there. */
static bool take_keyword(struct parser *parser, const char *word)
{
	size_t len = strlen(word);

	/*
	 * If another character of a word follows, this is another word: u8 must not match u80. Most
	 * of the many types differ in their first letter.
	 */
	if (*parser->at != *word || strncmp(parser->at, word, len) || is_word(parser->at[len]))
		return false;
	parser->at += len;
	return true;
}

/*
 * Consumes the characters up to the first one for which belongs() returns false, and returns a copy
 * of these characters.
 */
static const char *take_name(struct parser *parser, bool (*belongs)(char c))
{
	const char *begin;
	char *name = parser->room;
	size_t len = 0;

	skip_blanks(parser);
	begin = parser->at;
	while (belongs(begin[len]))
		len++;
	/* No user could write an empty name in a query. */
	if (len == 0) {
		schema_fault(parser, "a name is missing");
		return NULL;
	}
	/* The limit is part of the interface: programs have buffers for names. */
	if (len > POSIX_TRACE_FIELD_NAME_MAX_NP) {
		schema_fault(parser, "a name is too long");
		return NULL;
	}
	/* The copy cannot overflow, as the comment at the beginning of this file explains. */
	memcpy(name, begin, len);
	name[len] = '\0';
	parser->room += len + 1;
	parser->at += len;
	return name;
}

/*
 * Consumes the name of a field or of a list and returns a copy. The name must be an identifier of C
 * and of the query language.
 */
static const char *take_field_name(struct parser *parser)
{
	skip_blanks(parser);
	if (is_digit(*parser->at)) {
		schema_fault(parser, "the name of a field begins with a digit");
		return NULL;
	}
	return take_name(parser, is_word);
}

/*
 * Returns the value of a digit. For other characters returns INT_MAX, which is greater than every
 * base.
 */
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

/* Consumes a number as in C: decimal, 0x hexadecimal, 0 octal. */
static bool take_number(struct parser *parser, uint64_t *number)
{
	const char *begin;
	int base = 10;

	/* The prefix alone is not a number; the check at the end rejects it. */
	skip_blanks(parser);
	if (parser->at[0] == '0' && (parser->at[1] == 'x' || parser->at[1] == 'X')) {
		base = 16;
		parser->at += 2;
	/* The 0 is not skipped, because it is a digit itself: "0" is a number. */
	} else if (parser->at[0] == '0') {
		base = 8;
	}
	begin = parser->at;
	/*
	 * The loop ends at the first character that is no digit of the base. Both operations check
	 * for overflow, so that a number that is too large is not stored as a smaller number.
	 */
	for (*number = 0; digit_of(*parser->at) < base; parser->at++)
		if (__builtin_mul_overflow(*number, (unsigned)base, number) ||
		    __builtin_add_overflow(*number, (unsigned)digit_of(*parser->at), number))
			return schema_fault(parser, "a number is too large");
	/* A letter behind the number, such as in 12ab or 08, is a fault. */
	if (parser->at == begin || is_word(*parser->at))
		return schema_fault(parser, "this is not a number");
	return true;
}

/*
 * Consumes VALUE or, among names of bits, MASK:VALUE. Stores the two numbers; *mask is 0 if there
 * is no mask. Returns false if a number is missing or the list cannot have it.
 */
static bool take_value(struct parser *parser, struct name_list *list, uint64_t *value,
		       uint64_t *mask)
{
	/* A sign is allowed for values only, and never for bits. */
	const bool is_negative = take_char(parser, '-');

	*mask = 0;
	if (!take_number(parser, value))
		return false;
	if (list->has_bits && take_char(parser, ':')) {
		*mask = *value;
		/* A value outside of its mask would never be found. */
		if (!take_number(parser, value))
			return false;
		if (*mask == 0 || (*value & ~*mask))
			return schema_fault(parser, "a value is not within its mask");
	}
	/* The smallest value has the magnitude 2^63. Its negation wraps to itself. */
	if (is_negative) {
		if (list->has_bits || *value > UINT64_C(1) << 63)
			return schema_fault(parser, "a value cannot be negative");
		*value = -*value;
		list->is_negative = true;
	} else if (*value > INT64_MAX || *mask > INT64_MAX) {
		list->is_large = true;
	}
	return true;
}

/* Consumes NUMBER=NAME. Names of all fields share one array with a limit. */
static bool take_value_name(struct parser *parser, struct name_list *list)
{
	/* The next free entry. It belongs to the schema only after value_names has counted it. */
	struct posix_trace_schema_np *schema = parser->schema;
	struct posix_trace_value_name_np *name = &schema->value_name[schema->value_names];
	uint64_t mask; /* 0 if there is no mask */

	/*
	 * The limit is for all names of the schema together, so that the struct has a fixed size.
	 */
	if (schema->value_names == POSIX_TRACE_VALUE_NAMES_MAX_NP)
		return schema_fault(parser, "there are too many names for values");
	if (!take_value(parser, list, &name->value, &mask))
		return false;
	if (!take_char(parser, '='))
		return schema_fault(parser, "a value has no '=' behind it");
	name->name = take_name(parser, is_label);
	if (!name->name)
		return false;
	/* A struct of the first version ends before this member. */
	if (parser->has_masks)
		schema->value_mask[schema->value_names] = mask;
	schema->value_names++;
	list->names++;
	return true;
}

/*
 * Consumes the separator between two names; returns whether there was one. Names of bits may have
 * a bar before each name, or only before the first.
 */
static bool take_value_separator(struct parser *parser, const struct name_list *list)
{
	bool more = take_char(parser, ',');

	return (list->has_bits && take_char(parser, '|')) || more;
}

/*
 * Consumes the names behind '{', up to '}'. They are consecutive in the schema's array, because
 * they are parsed one after the other.
 */
static bool take_value_names(struct parser *parser, struct name_list *list)
{
	/* The names of the list begin at the next free entry. */
	*list = (struct name_list){ .first = parser->schema->value_names };
	list->has_bits = take_char(parser, '|');
	do {
		if (!take_value_name(parser, list))
			return false;
	} while (take_value_separator(parser, list));
	return take_char(parser, '}') ||
	       schema_fault(parser, "the names of values have no '}' behind them");
}

/* Finds the list with this name among those that precede the field; NULL if there is none. */
static const struct name_list *find_list(const struct parser *parser, const char *name)
{
	for (unsigned i = 0; i < parser->lists; i++)
		if (!strcmp(parser->list[i].name, name))
			return &parser->list[i];
	return NULL;
}

/* Consumes the name of a list behind '{', up to '}', and stores the list. */
static bool take_list_name(struct parser *parser, struct name_list *list)
{
	const char *name = take_field_name(parser);
	/* Lists must precede the fields that use them, so one pass is enough. */
	const struct name_list *found = name ? find_list(parser, name) : NULL;

	if (!name)
		return false;
	if (!found)
		return schema_fault(parser, "there is no list of this name before it");
	/* A copy refers to the same names, which the schema has once. */
	*list = *found;
	return take_char(parser, '}') ||
	       schema_fault(parser, "the name of a list has no '}' behind it");
}

/* Consumes the names of a field's values behind '{': names, or the name of a list of names. */
static bool take_field_names(struct parser *parser, struct posix_trace_field_np *field)
{
	struct posix_trace_schema_np *schema = parser->schema;
	struct name_list list;

	/* Floating-point numbers and text have no names for values. */
	if (field->form != POSIX_TRACE_FORM_UNSIGNED_NP &&
	    field->form != POSIX_TRACE_FORM_SIGNED_NP)
		return schema_fault(parser, "values of this type have no names");
	/*
	 * The name of a list begins with a letter or an underscore, and the names of values with a
	 * digit, a sign or a bar.
	 */
	skip_blanks(parser);
	if (is_letter(*parser->at) ? !take_list_name(parser, &list)
				   : !take_value_names(parser, &list))
		return false;
	if (list.is_negative && field->form != POSIX_TRACE_FORM_SIGNED_NP)
		return schema_fault(parser, "a value cannot be negative");
	/*
	 * The schema stores all values as unsigned numbers, so the range of a signed field is
	 * checked here.
	 */
	if (list.is_large && field->form == POSIX_TRACE_FORM_SIGNED_NP)
		return schema_fault(parser, "a number is too large");
	/* Several fields may point to the same names. */
	field->value_name = &schema->value_name[list.first];
	field->value_mask = parser->has_masks ? &schema->value_mask[list.first] : NULL;
	field->value_names = list.names;
	field->has_bits = list.has_bits;
	return true;
}

/*
 * Consumes the name of a type and stores the type in the field. The types are numbered without
 * gaps, so the first unknown number ends the search.
 */
static bool take_type(struct parser *parser, struct posix_trace_field_np *field)
{
	/* The search begins with the first type of the enum. */
	enum posix_trace_type_np type = POSIX_TRACE_TYPE_U8_NP;
	const struct ptx_schema_type *known = ptx_schema_type(type);

	while (known && !take_keyword(parser, known->name))
		known = ptx_schema_type(++type);
	if (!known)
		return schema_fault(parser, "this is not a type");
	field->type = type;
	field->form = known->form;
	field->size = known->size;
	/* The field has one element, unless a size in brackets follows. */
	field->count = 1;
	return true;
}

/*
 * Consumes a size behind '[', up to ']'. For text and bytes it is the room in bytes, for all
 * other types the number of elements.
 */
static bool take_count(struct parser *parser, struct posix_trace_field_np *field)
{
	uint64_t count;

	if (!take_number(parser, &count))
		return false;
	/*
	 * An array needs an element. The upper limit also keeps the product of size and count
	 * within size_t.
	 */
	if (count == 0 || count > POSIX_TRACE_ELEMENTS_MAX_NP)
		return schema_fault(parser, "an array has an impossible size");
	if (!take_char(parser, ']'))
		return schema_fault(parser, "an array's size has no ']' behind it");
	/*
	 * char[N] is an array of characters; str[N] and bytes[N] are one value with N bytes of
	 * room.
	 */
	if (field->form == POSIX_TRACE_FORM_BYTES_NP) {
		field->room = (unsigned)count;
		field->size = (unsigned)count;
	} else {
		field->is_array = 1;
		field->count = (unsigned)count;
	}
	return true;
}

/*
 * Searches a field by name. Returns true and stores its index, or returns false if there is none.
 * The number of fields is limited, so a linear search is enough.
 */
static bool find_field(const struct posix_trace_schema_np *schema, const char *name,
		       unsigned *number)
{
	for (*number = 0; *number < schema->fields; ++*number)
		if (!strcmp(schema->field[*number].name, name))
			return true;
	return false;
}

/* Consumes a field with its size and the names of its values. */
static bool take_field(struct parser *parser)
{
	struct posix_trace_schema_np *schema = parser->schema;
	/*
	 * The next free entry. Like a value's name it belongs to the schema only when it is
	 * complete.
	 */
	struct posix_trace_field_np *field = &schema->field[schema->fields];
	unsigned other;

	if (schema->fields == POSIX_TRACE_FIELDS_MAX_NP)
		return schema_fault(parser, "there are too many fields");
	/* The struct may have been used for another schema before. */
	memset(field, 0, sizeof(*field));
	if (!take_type(parser, field) || (take_char(parser, '[') && !take_count(parser, field)))
		return false;
	field->name = take_field_name(parser);
	if (!field->name)
		return false;
	/* Two fields of one name could not be addressed by a key or a query. */
	if (find_field(schema, field->name, &other))
		return schema_fault(parser, "two fields have one name");
	if (take_char(parser, '{') && !take_field_names(parser, field))
		return false;
	/* Behind the first field of variable size no later field has a constant offset. */
	field->offset = parser->offset;
	/*
	 * The product is at most the limit of elements times 8, and the number of fields is
	 * limited, so that the sum cannot overflow.
	 */
	if (parser->offset != POSIX_TRACE_OFFSET_VARIES_NP) {
		if (field->form == POSIX_TRACE_FORM_BYTES_NP && !field->room)
			parser->offset = POSIX_TRACE_OFFSET_VARIES_NP;
		else
			parser->offset += (size_t)field->size * field->count;
	}
	schema->fields++;
	return true;
}

/* Consumes a level behind @level. */
static bool take_level(struct parser *parser)
{
	uint64_t level;

	/* A level of 0 means that there was none; the grammar does not allow 0 as a level. */
	if (parser->schema->level)
		return schema_fault(parser, "there are two levels");
	if (!take_number(parser, &level))
		return false;
	if (level < 1 || level > 5)
		return schema_fault(parser, "a level is not 1 to 5");
	parser->schema->level = (int)level;
	return true;
}

/*
 * Consumes the name of a span behind @begin, @end or @span. A type has one role. With @span, the
 * role is POSIX_TRACE_POINT_NP, and the point has the name of a span.
 */
static bool take_span(struct parser *parser, enum posix_trace_role_np role)
{
	/* A type can begin a span or end one, not both. */
	if (parser->schema->span)
		return schema_fault(parser, "there are two spans");
	parser->schema->role = role;
	parser->schema->span = take_name(parser, is_label);
	return parser->schema->span;
}

/* Consumes names behind @key. The fields may follow later in the text. */
static bool take_keys(struct parser *parser)
{
	struct posix_trace_schema_np *schema = parser->schema;

	/* All names of a key are in one attribute. */
	if (schema->keys)
		return schema_fault(parser, "there are two keys");
	do {
		if (schema->keys == POSIX_TRACE_KEYS_MAX_NP)
			return schema_fault(parser, "a key has too many fields");
		parser->key[schema->keys] = take_field_name(parser);
		if (!parser->key[schema->keys])
			return false;
		schema->keys++;
	} while (take_char(parser, ','));
	return true;
}

/*
 * Consumes names behind @counter. The fields may follow later in the text. A type may have several
 * of these attributes: the macros of <trace_words_np.h> make one for each word.
 */
static bool take_counters(struct parser *parser)
{
	do {
		/*
		 * A field is a counter at most once, so a schema cannot have more counters than
		 * fields.
		 */
		if (parser->counters == POSIX_TRACE_FIELDS_MAX_NP)
			return schema_fault(parser, "there are too many counters");
		parser->counter[parser->counters] = take_field_name(parser);
		if (!parser->counter[parser->counters])
			return false;
		parser->counters++;
	} while (take_char(parser, ','));
	return true;
}

/*
 * Consumes LIST{...} behind @names. The list is added to the lists only when it is complete, so
 * that it cannot refer to itself.
 */
static bool take_list(struct parser *parser)
{
	struct name_list list;
	const char *name;

	if (parser->lists == POSIX_TRACE_NAME_LISTS_MAX_NP)
		return schema_fault(parser, "there are too many lists of names");
	name = take_field_name(parser);
	if (!name)
		return false;
	if (find_list(parser, name))
		return schema_fault(parser, "two lists have one name");
	if (!take_char(parser, '{'))
		return schema_fault(parser, "a list has no '{' behind its name");
	if (!take_value_names(parser, &list))
		return false;
	list.name = name;
	parser->list[parser->lists++] = list;
	return true;
}

/*
 * Consumes the escape behind a backslash in a quoted text, and stores the character. Returns false
 * if it is no escape; the caller then records the reason.
 */
static bool take_escape(struct parser *parser, char *c)
{
	int high, low;

	/* These are the escapes that log lines write. */
	switch (*parser->at++) {
	case '"':
	case '\\':
		*c = parser->at[-1];
		return true;
	case 'n':
		*c = '\n';
		return true;
	case 'x':
		high = digit_of(parser->at[0]);
		low = high < 16 ? digit_of(parser->at[1]) : INT_MAX;
		/* A NUL would end the text. */
		if (low >= 16 || high + low == 0)
			return false;
		*c = (char)(high << 4 | low);
		parser->at += 2;
		return true;
	default:
		/* The character may be the end of the schema, so it is not consumed. */
		parser->at--;
		return false;
	}
}

/*
 * Consumes a format in double quotes. Its copy is not longer than its text with the quotes, so that
 * it fits into the schema like all names. This function does not check whether the format matches
 * the fields: readers print a question mark for a missing value.
 */
static bool take_format(struct parser *parser)
{
	char *const text = parser->room;

	/* With two formats it would be unclear which of them a reader prints. */
	if (parser->format)
		return schema_fault(parser, "a type has two formats");
	if (!take_char(parser, '"'))
		return schema_fault(parser, "a format has no '\"' before it");
	/* The characters ; and @ have no meaning within the quotes. */
	while (*parser->at != '"') {
		char c = *parser->at++;

		if (c == '\0') {
			parser->at--;
			return schema_fault(parser, "a format has no '\"' behind it");
		}
		if (c == '\\' && !take_escape(parser, &c))
			return schema_fault(parser, "a format has an unknown escape");
		*parser->room++ = c;
	}
	parser->at++;
	/* The NUL has room, because the quotes were not copied. */
	*parser->room++ = '\0';
	parser->format = text;
	return true;
}

/* Consumes an attribute behind '@'. Blanks are allowed there, too. */
static bool take_attribute(struct parser *parser)
{
	skip_blanks(parser);
	/* The order does not matter, because take_keyword() compares whole words. */
	if (take_keyword(parser, "level"))
		return take_level(parser);
	if (take_keyword(parser, "begin"))
		return take_span(parser, POSIX_TRACE_BEGIN_NP);
	if (take_keyword(parser, "end"))
		return take_span(parser, POSIX_TRACE_END_NP);
	if (take_keyword(parser, "span"))
		return take_span(parser, POSIX_TRACE_POINT_NP);
	if (take_keyword(parser, "key"))
		return take_keys(parser);
	if (take_keyword(parser, "counter"))
		return take_counters(parser);
	if (take_keyword(parser, "names"))
		return take_list(parser);
	if (take_keyword(parser, "format"))
		return take_format(parser);
	return schema_fault(parser, "this is not an attribute");
}

/*
 * Finds the fields of the key. A key must consist of different scalar fields; otherwise begin and
 * end could not be compared.
 */
static bool resolve_keys(struct parser *parser)
{
	struct posix_trace_schema_np *schema = parser->schema;

	/* Without @begin or @end there is nothing that a key could pair. */
	if (schema->keys && schema->role == POSIX_TRACE_POINT_NP)
		return schema_fault(parser, "a key has no span");
	for (unsigned i = 0; i < schema->keys; i++) {
		if (!find_field(schema, parser->key[i], &schema->key[i]))
			return schema_fault(parser, "a key is not a field");
		/* An array has no single value to compare. */
		if (schema->field[schema->key[i]].is_array)
			return schema_fault(parser, "a key is an array");
		if (schema->field[schema->key[i]].is_key)
			return schema_fault(parser, "a key has a field twice");
		schema->field[schema->key[i]].is_key = 1;
	}
	return true;
}

/*
 * Returns false if the type has @span and no scalar field of type ns, which would be the span's
 * duration.
 */
static bool has_duration(struct parser *parser)
{
	const struct posix_trace_schema_np *schema = parser->schema;

	if (!schema->span || schema->role != POSIX_TRACE_POINT_NP)
		return true;
	for (unsigned i = 0; i < schema->fields; i++)
		if (schema->field[i].type == POSIX_TRACE_TYPE_NS_NP && !schema->field[i].is_array)
			return true;
	return schema_fault(parser, "a span has no duration");
}

/*
 * Finds the fields that are counters. A reader draws numbers as a curve, so a field must have one
 * number. A pointer identifies memory and is no amount.
 */
static bool resolve_counters(struct parser *parser)
{
	struct posix_trace_schema_np *schema = parser->schema;

	for (unsigned i = 0; i < parser->counters; i++) {
		struct posix_trace_field_np *field;
		unsigned number;

		if (!find_field(schema, parser->counter[i], &number))
			return schema_fault(parser, "a counter is not a field");
		field = &schema->field[number];
		if (field->is_array || field->form == POSIX_TRACE_FORM_BYTES_NP ||
		    field->type == POSIX_TRACE_TYPE_PTR_NP ||
		    field->type == POSIX_TRACE_TYPE_PTR32_NP)
			return schema_fault(parser, "a counter is not a number");
		if (field->is_counter)
			return schema_fault(parser, "a field is a counter twice");
		field->is_counter = 1;
	}
	return true;
}

/*
 * Consumes fields and attributes, separated by semicolons, up to the end of the text. Empty items
 * are allowed, an empty schema is not.
 */
static bool take_items(struct parser *parser)
{
	bool any = false;

	for (;;) {
		skip_blanks(parser);
		if (*parser->at == '\0')
			break;
		if (take_char(parser, ';'))
			continue;
		/* '@' begins an attribute; everything else must be a type. */
		if (!(take_char(parser, '@') ? take_attribute(parser) : take_field(parser)))
			return false;
		any = true;
		skip_blanks(parser);
		if (*parser->at != '\0' && !take_char(parser, ';'))
			return schema_fault(parser, "an item has no ';' behind it");
	}
	if (!any)
		return schema_fault(parser, "it is empty");
	return resolve_keys(parser) && resolve_counters(parser) && has_duration(parser);
}

/*
 * The parser stops at the first fault and reports only this fault, without its position in the
 * text.
 */
const char *ptx_schema_parse_sized(const char *text, struct posix_trace_schema_np *schema,
				   size_t size)
{
	struct parser parser = {
		.schema = schema, .at = text, .room = schema->text,
		.has_masks = size >= offsetof(struct posix_trace_schema_np, value_mask) +
					     sizeof(schema->value_mask)
	};

	/* The limit also bounds the size of schema->text, in which the names are stored. */
	if (strnlen(text, PTX_SCHEMA_BYTES) == PTX_SCHEMA_BYTES)
		return "it is too long";
	/*
	 * The parser increments some of these members. It sets the others only if the text has
	 * them.
	 */
	schema->fields = 0;
	schema->level = 0;
	schema->role = POSIX_TRACE_POINT_NP;
	schema->span = NULL;
	schema->keys = 0;
	schema->value_names = 0;
	if (!take_items(&parser))
		return parser.why;
	/*
	 * The struct of an older program ends before the member `format`, and the memory behind the
	 * struct has other uses.
	 */
	if (size >= offsetof(struct posix_trace_schema_np, format) + sizeof(schema->format))
		schema->format = parser.format;
	return NULL;
}

/* For callers of this library, whose struct has all members. */
const char *ptx_schema_parse(const char *text, struct posix_trace_schema_np *schema)
{
	return ptx_schema_parse_sized(text, schema, sizeof(*schema));
}

/*
 * The sum cannot overflow, because the parser limits the sizes and the number of fields. The
 * function is not inlined, so that it frees the 9 KiB of the schema before its caller parses again.
 */
__attribute__((noinline)) const char *ptx_schema_fault(const char *text, size_t room)
{
	struct posix_trace_schema_np schema;
	const char *why;
	size_t bytes = 0;

	if (!*text)
		return NULL;
	why = ptx_schema_parse(text, &schema);
	for (unsigned i = 0; !why && i < schema.fields; i++) {
		const struct posix_trace_field_np *field = &schema.field[i];

		bytes += (size_t)field->size * field->count;
		/* The NUL of a text. */
		bytes += field->type == POSIX_TRACE_TYPE_STR_NP && !field->room;
	}
	return bytes > room ? "the fields need more bytes than there is room for" : why;
}
