/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_decode.c - makes schemas from layouts, and decodes payloads by them.
 *
 * The same walk over the fields makes a schema, or data, or text, so schema and data have the same
 * columns. A member of a struct that is no array has its own column. An array has a single column,
 * which is a text. Fields for which the schema has no column are in the text "more". The layouts
 * come from the file and are hostile: structs may contain each other, and counts may be huge. A
 * budget bounds the walk. The functions text_... and walk_... return false if the layout or the
 * payload is contradictory, or if a limit is exceeded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/etw/etw_layout.h"
#include "convert/etw/etw_schema.h"
#include "convert/etw/etw_value.h"

/*
 * The number of visits of fields that the budget has for each byte of a payload. A member is
 * visited once for itself and once for each struct around it.
 */
#define VISITS_OF_BYTE (2 * ETW_DEPTH_MAX)

enum purpose { TO_SCHEMA, TO_DATA, TO_TEXT };

struct walk {
	const struct etw_layout *layout;
	enum purpose purpose;
	struct etw_reader reader; /* empty for a schema */
	/* the last value of each field, because a later field may use it as a count or length */
	uint64_t *value;
	uint64_t budget;        /* remaining visits; bounds hostile counts */
	struct etw_bytes *to;   /* NULL for a schema */
	size_t most;            /* bytes that may be decoded */
	bool too_long;
	struct etw_bytes text;  /* the text of an array, or of "more", so far */
	struct etw_value scratch;
	unsigned column, columns; /* number of columns so far; greatest number of columns */
	bool more, in_more;     /* the schema has "more"; "more" has begun */
	struct etw_schema schema;
	char prefix[ETW_FIELD_NAME_MAX + 1]; /* names of the structs around the field */
};

static bool walk_fields(struct walk *w, unsigned first, unsigned count, unsigned depth);

/*
 * Joins the prefix of the structs and the name of the member. For a column, etw_schema_add()
 * shortens the result.
 */
static void join_name(const struct walk *w, const char *name, char full[2 * ETW_FIELD_NAME_MAX + 1])
{
	snprintf(full, 2 * ETW_FIELD_NAME_MAX + 1, "%s%s", w->prefix, name);
}

/*
 * Returns whether the next field gets its own column. A field without a column begins the text
 * "more", and all later fields belong to "more", too.
 */
static bool has_column(struct walk *w)
{
	return !w->in_more && w->column < w->columns;
}

/* Begins a field in the text "more" by appending NAME= to it. */
static void begin_more(struct walk *w, const char *name)
{
	w->in_more = true;
	if (w->text.len)
		etw_bytes_add(&w->text, " ", 1);
	etw_bytes_add(&w->text, name, strlen(name));
	etw_bytes_add(&w->text, "=", 1);
}

/*
 * Stores a count or a length that is a constant or the value of another field. Returns false for
 * any other rule, and for a field that does not exist.
 */
static bool number_of(const struct walk *w, enum etw_rule rule, unsigned given, uint64_t *number)
{
	if (rule == ETW_RULE_FIXED)
		*number = given;
	else if (rule == ETW_RULE_FIELD && given < w->layout->fields)
		*number = w->value[given];
	else
		return false;
	return true;
}

/*
 * Sets *count to the number of elements of a field in this payload. UINT64_MAX means as many
 * elements as the payload has. Returns false if the payload or the layout has no valid number.
 */
static bool count_of(struct walk *w, const struct etw_field *f, uint64_t *count)
{
	*count = 1;
	switch (f->count_rule) {
	case ETW_RULE_NONE:
		return true;
	case ETW_RULE_REST:
		*count = UINT64_MAX;
		return true;
	case ETW_RULE_PREFIX:
		if (w->reader.size - w->reader.at < 2)
			return false;
		*count = (uint64_t)w->reader.bytes[w->reader.at] |
			 (uint64_t)w->reader.bytes[w->reader.at + 1] << 8;
		w->reader.at += 2;
		return true;
	default:
		return number_of(w, f->count_rule, f->count, count) && *count <= UINT16_MAX;
	}
}

/*
 * Subtracts one visit of a field from the budget, so that the walk ends even if structs contain
 * each other or a count is huge. A short element with a long name can decode to many times its
 * size, so w->most limits the decoded size. Returns false if the budget is used up or the decoded
 * size exceeds the limit.
 */
static bool spend_visit(struct walk *w)
{
	w->too_long |= w->to && w->to->len + w->text.len > w->most;
	if (!w->budget || w->too_long)
		return false;
	w->budget--;
	return true;
}

/*
 * Reads one value of the payload into w->scratch. The function keeps a number, because later fields
 * may use it as a count or a length. Returns false if the value cannot be read.
 */
static bool take_value(struct walk *w, unsigned index)
{
	const struct etw_field *f = &w->layout->field[index];
	uint64_t length = 0;

	if (f->length_rule == ETW_RULE_PREFIX) {
		if (w->reader.size - w->reader.at < 2)
			return false;
		length = (uint64_t)w->reader.bytes[w->reader.at] |
			 (uint64_t)w->reader.bytes[w->reader.at + 1] << 8;
		w->reader.at += 2;
	} else if (f->length_rule != ETW_RULE_NONE &&
		   (!number_of(w, f->length_rule, f->length, &length) || length > UINT32_MAX)) {
		return false;
	}
	if (!etw_value_take(f, &w->reader, (size_t)length, &w->scratch))
		return false;
	w->value[index] = w->scratch.number;
	return true;
}

/*
 * Appends one value or one element of an array as text. A struct becomes {NAME=VALUE ...}. The
 * depth of structs is limited.
 */
static bool text_element(struct walk *w, unsigned index, unsigned depth)
{
	const struct etw_field *f = &w->layout->field[index];

	if (!spend_visit(w))
		return false;
	if (f->in != ETW_IN_STRUCT) {
		if (!take_value(w, index))
			return false;
		etw_value_text(f, &w->scratch, &w->text);
		return true;
	}
	if (depth == ETW_DEPTH_MAX)
		return false;
	etw_bytes_add(&w->text, "{", 1);
	for (unsigned i = 0, at = f->first; i < f->members; i++) {
		const struct etw_field *member;
		uint64_t count;

		if (at >= w->layout->fields || !spend_visit(w))
			return false;
		/* A member may be an array itself. */
		member = &w->layout->field[at];
		if (i)
			etw_bytes_add(&w->text, " ", 1);
		etw_bytes_add(&w->text, member->name, strlen(member->name));
		etw_bytes_add(&w->text, "=", 1);
		if (!count_of(w, member, &count))
			return false;
		if (member->count_rule != ETW_RULE_NONE)
			etw_bytes_add(&w->text, "[", 1);
		for (uint64_t n = 0; n < count; n++) {
			if (count == UINT64_MAX && w->reader.at == w->reader.size)
				break;
			if (n)
				etw_bytes_add(&w->text, " ", 1);
			if (!text_element(w, at, depth + 1))
				return false;
		}
		if (member->count_rule != ETW_RULE_NONE)
			etw_bytes_add(&w->text, "]", 1);
		at = member->next;
	}
	etw_bytes_add(&w->text, "}", 1);
	return true;
}

/* Appends an array as text in brackets. */
static bool text_array(struct walk *w, unsigned index, unsigned depth)
{
	uint64_t count;

	if (!count_of(w, &w->layout->field[index], &count))
		return false;
	etw_bytes_add(&w->text, "[", 1);
	for (uint64_t n = 0; n < count; n++) {
		if (count == UINT64_MAX && w->reader.at == w->reader.size)
			break;
		if (n)
			etw_bytes_add(&w->text, " ", 1);
		if (!text_element(w, index, depth))
			return false;
	}
	etw_bytes_add(&w->text, "]", 1);
	return true;
}

/*
 * Handles one field that is an array, or is not a struct. For a schema, the function adds a column.
 * For data, it decodes the value into the column or into "more". For text, it appends NAME=VALUE.
 * An array in a column becomes a text: the function collects this text in w->text and then stores
 * it with a NUL.
 */
static bool walk_column(struct walk *w, unsigned index, unsigned depth)
{
	const struct etw_field *f = &w->layout->field[index];
	bool array = f->count_rule != ETW_RULE_NONE;
	char name[2 * ETW_FIELD_NAME_MAX + 1];

	join_name(w, f->name, name);
	if (w->purpose == TO_SCHEMA) {
		if (has_column(w) && etw_schema_add(&w->schema, array ? "str" :
						 etw_value_type(etw_value_kind(f)), name,
						 array ? NULL : f->map))
			w->column++;
		else
			w->in_more = true;
		return true;
	}
	if (w->purpose == TO_TEXT || !has_column(w)) {
		begin_more(w, name);
		return array ? text_array(w, index, depth) : text_element(w, index, depth);
	}
	w->column++;
	if (!array) {
		if (!take_value(w, index))
			return false;
		etw_value_pack(&w->scratch, w->to);
		return true;
	}
	w->text.len = 0;
	if (!text_array(w, index, depth))
		return false;
	etw_bytes_add(w->to, w->text.bytes, w->text.len);
	etw_bytes_number(w->to, 0, 1);
	w->text.len = 0;
	return true;
}

/*
 * Handles the members of a struct that is no array. The struct's name becomes a prefix of their
 * names. The depth of nesting is limited.
 */
static bool walk_struct(struct walk *w, const struct etw_field *f, unsigned depth)
{
	char prefix[sizeof(w->prefix)];
	bool ok;

	if (depth == ETW_DEPTH_MAX)
		return false;
	memcpy(prefix, w->prefix, sizeof(prefix));
	snprintf(w->prefix, sizeof(w->prefix), "%.30s%.30s_", prefix, f->name);
	ok = walk_fields(w, f->first, f->members, depth + 1);
	memcpy(w->prefix, prefix, sizeof(prefix));
	return ok;
}

/*
 * Handles "count" fields. The first of them has the index "first". The index of the next field is
 * field->next, which skips the members of a struct. Returns false if the layout or the payload is
 * contradictory, or if the budget is used up.
 */
static bool walk_fields(struct walk *w, unsigned first, unsigned count, unsigned depth)
{
	for (unsigned i = 0, at = first; i < count; i++) {
		const struct etw_field *f;

		if (at >= w->layout->fields || !spend_visit(w))
			return false;
		f = &w->layout->field[at];
		if (f->in == ETW_IN_STRUCT && f->count_rule == ETW_RULE_NONE) {
			if (!walk_struct(w, f, depth))
				return false;
		} else if (f->in != ETW_IN_NULL && !walk_column(w, at, depth)) {
			return false;
		}
		at = f->next;
	}
	return true;
}

/*
 * The walk reserves space for "more" in the text of the schema. If all columns are in use when
 * "more" is needed, "more" replaces the last column, and the field of this column becomes a part of
 * "more".
 */
int etw_layout_schema(const struct etw_layout *layout, char *schema, size_t room,
		      unsigned columns, bool *more)
{
	struct walk w = {
		.layout = layout, .purpose = TO_SCHEMA, .budget = 4 * ETW_FIELDS_MAX,
		.columns = columns,
		.schema = { .text = schema, .used = strlen(schema),
			    .room = room - sizeof("str more;") },
	};

	*more = false;
	if (!walk_fields(&w, 0, layout->top, 0) || w.schema.no_memory)
		return w.schema.no_memory ? ETW_SCHEMA_NO_MEMORY : -1;
	if (w.in_more) {
		w.schema.room = room;
		/* "more" needs a column too. */
		if (w.column == columns) {
			char *last = schema + w.schema.used - 1;

			while (last > schema && last[-1] != ';')
				last--;
			*last = '\0';
			w.schema.used = (size_t)(last - schema);
			w.column--;
		}
		*more = etw_schema_text(&w.schema, "str more;");
	}
	return (int)w.column;
}

/*
 * Decodes one payload. The budget grows with the size of the payload, so that it is large enough
 * for a payload whose elements have at least one byte each. After a failure the caller ignores the
 * bytes that were appended.
 */
static enum etw_decoded etw_decode_decode(struct walk *w, const struct etw_decoding *decoding)
{
	struct etw_bytes *to = decoding->to;
	bool ok;

	w->to = to;
	w->most = decoding->most;
	w->reader = (struct etw_reader){ decoding->payload, decoding->size, 0,
					 decoding->pointer_bytes };
	w->budget = VISITS_OF_BYTE * ((uint64_t)decoding->size + ETW_FIELDS_MAX);
	w->value = calloc(w->layout->fields + 1, sizeof(*w->value));
	ok = w->value && walk_fields(w, 0, w->layout->top, 0);
	if (w->purpose == TO_TEXT || w->more)
		etw_bytes_add(to, w->text.bytes, w->text.len);
	if (w->more)
		etw_bytes_number(to, 0, 1);
	ok = ok && to->len <= w->most;
	w->too_long |= to->len > w->most;
	if (!w->value || w->scratch.text.no_memory || w->text.no_memory)
		to->no_memory = true;
	free(w->value);
	free(w->scratch.text.bytes);
	free(w->text.bytes);
	return to->no_memory ? ETW_NO_MEMORY : ok ? ETW_DECODED :
	       w->too_long ? ETW_TOO_LONG : ETW_CONTRADICTS;
}

enum etw_decoded etw_layout_decode(const struct etw_layout *layout,
				   const struct etw_decoding *decoding, unsigned columns, bool more)
{
	struct walk w = {
		.layout = layout, .purpose = TO_DATA, .columns = columns, .more = more,
	};

	return etw_decode_decode(&w, decoding);
}

enum etw_decoded etw_layout_text(const struct etw_layout *layout,
				 const struct etw_decoding *decoding)
{
	struct walk w = { .layout = layout, .purpose = TO_TEXT };

	return etw_decode_decode(&w, decoding);
}
