/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_layout.c - layouts of payloads, the schemas made of them, and payloads decoded by them.
 *
 * Schema and data are made by the same walk over the fields, so that both have the same columns: a
 * struct that occurs once gives a column for each member, an array gives one text.
 */
#include "formats/etw_layout.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/etw_value.h"

#define NAME_MAX_BYTES 63 /* of a schema's field */
#define MAP_NAMES_MAX 48  /* a schema has 128 in all */

struct etw_layout *etw_layout_new(void)
{
	return calloc(1, sizeof(struct etw_layout));
}

void etw_layout_free(struct etw_layout *layout)
{
	if (!layout)
		return;
	for (unsigned i = 0; i < layout->fields; i++)
		free(layout->field[i].name);
	free(layout->field);
	free(layout->provider);
	free(layout->event);
	free(layout);
}

struct etw_field *etw_layout_add(struct etw_layout *layout, const char *name, size_t len)
{
	struct etw_field *field;

	if (layout->fields == ETW_FIELDS_MAX)
		return NULL;
	/* Doubled whenever the count is a power of two. */
	if (!(layout->fields & (layout->fields - 1))) {
		size_t room = layout->fields ? 2 * (size_t)layout->fields : 1;

		field = reallocarray(layout->field, room, sizeof(*field));
		if (!field)
			return NULL;
		layout->field = field;
	}
	field = &layout->field[layout->fields];
	memset(field, 0, sizeof(*field));
	/* Longer ones would fit nowhere, and a hostile one could be repeated for each element. */
	field->name = strndup(name, len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES);
	if (!field->name)
		return NULL;
	layout->fields++;
	return field;
}

void etw_map_free(struct etw_map *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->entries; i++)
		free(map->entry[i].name);
	free(map->entry);
	free(map);
}

bool etw_map_add(struct etw_map *map, uint32_t value, const char *name)
{
	struct etw_map_entry *more =
		reallocarray(map->entry, map->entries + 1, sizeof(*more));

	if (!more)
		return false;
	map->entry = more;
	more[map->entries] = (struct etw_map_entry){ value, strndup(name, NAME_MAX_BYTES) };
	if (!more[map->entries].name)
		return false;
	map->entries++;
	return true;
}

/* ---- the walk */

enum purpose { TO_SCHEMA, TO_DATA, TO_TEXT };

struct walk {
	const struct etw_layout *layout;
	enum purpose purpose;
	struct etw_reader reader; /* empty for a schema */
	uint64_t *value; /* of each field, the last one taken: counts and lengths of others */
	uint64_t budget;        /* elements that may still be taken: hostile counts end */
	struct etw_bytes *to;
	struct etw_bytes text;  /* where arrays and `more` grow */
	struct etw_value scratch;
	unsigned column, columns; /* those so far, and how many there may be */
	bool more, in_more;     /* `more` exists; it has begun */
	char *schema;
	size_t used, room;
	unsigned map_names;
	char prefix[NAME_MAX_BYTES + 1]; /* of the struct whose members these are */
};

static bool walk_fields(struct walk *w, unsigned first, unsigned count, unsigned depth);

/* A name that a schema takes: letters, digits and _, no digit first. */
static void clean_name(const char *name, char *to, size_t room)
{
	size_t used = 0;

	if (isdigit((unsigned char)*name) || !*name)
		to[used++] = '_';
	for (; *name && used + 1 < room; name++)
		to[used++] = isalnum((unsigned char)*name) ? *name : '_';
	to[used] = '\0';
}

static bool is_in_schema(const char *schema, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = schema; (at = strstr(at, name)); at += len)
		if (at > schema && at[-1] == ' ' && strchr(";{[", at[len]))
			return true;
	return false;
}

/* The names of what follows the decoded fields. */
static bool is_taken(const char *name)
{
	static const char *const taken[] = {
		"etw_type", "etw_version", "etw_level", "etw_id", "etw_opcode", "etw_task",
		"etw_keyword", "etw_activity", "kernel_time", "user_time", "more",
	};

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (!strcmp(taken[i], name))
			return true;
	return false;
}

static bool schema_map(const struct walk *w, const struct etw_map *map, struct etw_bytes *item)
{
	char text[NAME_MAX_BYTES + 24], name[NAME_MAX_BYTES + 1];

	if (!map || !map->entries || w->map_names + map->entries > MAP_NAMES_MAX)
		return false;
	for (size_t i = 0; i < map->entries; i++) {
		clean_name(map->entry[i].name, name, sizeof(name));
		snprintf(text, sizeof(text), map->bits ? "%s0x%x=%s" : "%s%u=%s",
			 i ? "," : map->bits ? "{|" : "{", map->entry[i].value, name);
		etw_bytes_add(item, text, strlen(text));
	}
	etw_bytes_add(item, "}", 1);
	return true;
}

/* Adds "TYPE NAME" to the schema if there is room, else false. A name that is taken gets a number.
 */
static bool schema_item(struct walk *w, const char *type, const char *name,
			const struct etw_map *map)
{
	char clean[NAME_MAX_BYTES - 3], unique[NAME_MAX_BYTES + 8];
	struct etw_bytes item = { 0 };
	size_t named;
	bool fits, maps;

	clean_name(name, clean, sizeof(clean));
	snprintf(unique, sizeof(unique), "%s", clean);
	for (unsigned n = 2; is_taken(unique) || is_in_schema(w->schema, unique); n++)
		snprintf(unique, sizeof(unique), "%s_%u", clean, n % 100);
	etw_bytes_add(&item, type, strlen(type));
	etw_bytes_add(&item, " ", 1);
	etw_bytes_add(&item, unique, strlen(unique));
	named = item.len;
	maps = schema_map(w, map, &item);
	/* The names of values are dropped before the field is. */
	if (maps && w->used + item.len + 2 > w->room) {
		item.len = named;
		maps = false;
	}
	fits = !item.no_memory && w->used + item.len + 2 <= w->room;
	if (fits) {
		memcpy(w->schema + w->used, item.bytes, item.len);
		w->used += item.len;
		w->schema[w->used++] = ';';
		w->schema[w->used] = '\0';
		if (maps)
			w->map_names += (unsigned)map->entries;
	}
	free(item.bytes);
	return fits;
}

static bool schema_text(struct walk *w, const char *text)
{
	size_t len = strlen(text);

	if (w->used + len >= w->room)
		return false;
	memcpy(w->schema + w->used, text, len + 1);
	w->used += len;
	return true;
}

/* The struct's name and the member's, each cut to what a schema has room for. */
static void join_name(const struct walk *w, const char *name, char full[2 * NAME_MAX_BYTES + 1])
{
	snprintf(full, 2 * NAME_MAX_BYTES + 1, "%s%s", w->prefix, name);
}

/* Whether the next column has a place of its own; the first that has none begins `more`. */
static bool has_column(struct walk *w)
{
	return !w->in_more && w->column < w->columns;
}

static void begin_more(struct walk *w, const char *name)
{
	w->in_more = true;
	if (w->text.len)
		etw_bytes_add(&w->text, " ", 1);
	etw_bytes_add(&w->text, name, strlen(name));
	etw_bytes_add(&w->text, "=", 1);
}

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

/* How many elements a field has in this payload; REST is UINT64_MAX. */
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

/* Each visit of a field costs one: structs that contain each other, and hostile counts, end. */
static bool spend(struct walk *w)
{
	if (!w->budget)
		return false;
	w->budget--;
	return true;
}

static bool take(struct walk *w, unsigned index)
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

/* One element of an array, or one field of a struct in an array, as text. */
static bool text_element(struct walk *w, unsigned index, unsigned depth)
{
	const struct etw_field *f = &w->layout->field[index];

	if (!spend(w))
		return false;
	if (f->in != ETW_IN_STRUCT) {
		if (!take(w, index))
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

		if (at >= w->layout->fields || !spend(w))
			return false;
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

static bool walk_column(struct walk *w, unsigned index, unsigned depth)
{
	const struct etw_field *f = &w->layout->field[index];
	bool array = f->count_rule != ETW_RULE_NONE;
	char name[2 * NAME_MAX_BYTES + 1];

	join_name(w, f->name, name);
	if (w->purpose == TO_SCHEMA) {
		if (has_column(w) && schema_item(w, array ? "str" :
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
		if (!take(w, index))
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

static bool walk_fields(struct walk *w, unsigned first, unsigned count, unsigned depth)
{
	for (unsigned i = 0, at = first; i < count; i++) {
		const struct etw_field *f;

		if (at >= w->layout->fields || !spend(w))
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

int etw_layout_schema(const struct etw_layout *layout, char *schema, size_t room,
		      unsigned columns, bool *more)
{
	struct walk w = {
		.layout = layout, .purpose = TO_SCHEMA, .budget = 4 * ETW_FIELDS_MAX,
		.columns = columns, .schema = schema, .used = strlen(schema),
		.room = room - sizeof("str more;"),
	};

	*more = false;
	if (!walk_fields(&w, 0, layout->top, 0))
		return -1;
	if (w.in_more) {
		w.room = room;
		/* `more` needs a column too. */
		if (w.column == columns) {
			char *last = schema + w.used - 1;

			while (last > schema && last[-1] != ';')
				last--;
			*last = '\0';
			w.used = (size_t)(last - schema);
			w.column--;
		}
		*more = schema_text(&w, "str more;");
	}
	return (int)w.column;
}

static bool decode(struct walk *w, const unsigned char *payload, size_t size,
		   unsigned pointer_bytes)
{
	bool ok;

	w->reader = (struct etw_reader){ payload, size, 0, pointer_bytes };
	w->budget = 2 * ((uint64_t)size + ETW_FIELDS_MAX);
	w->value = calloc(w->layout->fields + 1, sizeof(*w->value));
	ok = w->value && walk_fields(w, 0, w->layout->top, 0);
	free(w->value);
	free(w->scratch.text.bytes);
	return ok && !w->scratch.text.no_memory && !w->text.no_memory;
}

bool etw_layout_decode(const struct etw_layout *layout, const unsigned char *payload, size_t size,
		       unsigned pointer_bytes, unsigned columns, bool more, struct etw_bytes *to)
{
	struct walk w = { .layout = layout, .purpose = TO_DATA, .to = to, .columns = columns };
	bool ok = decode(&w, payload, size, pointer_bytes);

	if (ok && more) {
		etw_bytes_add(to, w.text.bytes, w.text.len);
		etw_bytes_number(to, 0, 1);
	}
	free(w.text.bytes);
	return ok && !to->no_memory;
}

bool etw_layout_text(const struct etw_layout *layout, const unsigned char *payload, size_t size,
		     unsigned pointer_bytes, struct etw_bytes *to)
{
	struct walk w = { .layout = layout, .purpose = TO_TEXT };
	bool ok = decode(&w, payload, size, pointer_bytes);

	if (ok)
		etw_bytes_add(to, w.text.bytes, w.text.len);
	free(w.text.bytes);
	return ok && !to->no_memory;
}
