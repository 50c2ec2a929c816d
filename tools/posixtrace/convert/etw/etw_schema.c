/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_schema.c - builds a valid schema (record/schema.h of the library) from hostile names. */
#include "convert/etw/etw_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAP_NAMES_MAX 48 /* a schema may have 128; the fields of the header need some of them */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Returns whether names in a schema may have the character. isalnum() would also accept other
 * letters in some locales.
 */
static bool is_name_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c);
}

/* Makes a name that a schema allows: letters, digits and _, with no digit at the beginning. */
static void clean_name(const char *name, char *to, size_t room)
{
	size_t used = 0;

	if (is_digit(*name) || !*name)
		to[used++] = '_';
	for (; *name && used + 1 < room; name++)
		to[used++] = is_name_character(*name) ? *name : '_';
	to[used] = '\0';
}

/*
 * Returns whether a field has this name. In a schema, a name is behind a blank and before ; { or [.
 */
static bool is_in_schema(const char *schema, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = schema; (at = strstr(at, name)); at += len)
		if (at > schema && at[-1] == ' ' && strchr(";{[", at[len]))
			return true;
	return false;
}

/*
 * Returns whether the name belongs to "more" or to one of the fields of the record's header, which
 * follow the decoded fields.
 */
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

/*
 * Appends {VALUE=NAME,...} to the item, or {|VALUE=NAME,...} for bits. Returns false if "map" is
 * NULL or empty, or if the schema would have too many names.
 */
static bool add_map(const struct etw_schema *s, const struct etw_map *map, struct etw_bytes *item)
{
	char text[ETW_FIELD_NAME_MAX + 24], name[ETW_FIELD_NAME_MAX + 1];

	if (!map || !map->entries || s->map_names + map->entries > MAP_NAMES_MAX)
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

/*
 * The function builds the whole item before it adds the item, so that a schema never ends within an
 * item.
 */
bool etw_schema_add(struct etw_schema *s, const char *type, const char *name,
		    const struct etw_map *map)
{
	char clean[ETW_FIELD_NAME_MAX - 3], unique[ETW_FIELD_NAME_MAX + 8];
	struct etw_bytes item = { 0 };
	size_t named;
	bool fits, maps;

	clean_name(name, clean, sizeof(clean));
	snprintf(unique, sizeof(unique), "%s", clean);
	for (unsigned n = 2; is_taken(unique) || is_in_schema(s->text, unique); n++)
		snprintf(unique, sizeof(unique), "%s_%u", clean, n % 100);
	etw_bytes_add(&item, type, strlen(type));
	etw_bytes_add(&item, " ", 1);
	etw_bytes_add(&item, unique, strlen(unique));
	named = item.len;
	maps = add_map(s, map, &item);
	/*
	 * If there is no room for the item, its names of values are dropped. If there is still no
	 * room, the whole field is dropped.
	 */
	if (maps && s->used + item.len + 2 > s->room) {
		item.len = named;
		maps = false;
	}
	s->no_memory |= item.no_memory;
	fits = !item.no_memory && s->used + item.len + 2 <= s->room;
	if (fits) {
		memcpy(s->text + s->used, item.bytes, item.len);
		s->used += item.len;
		s->text[s->used++] = ';';
		s->text[s->used] = '\0';
		if (maps)
			s->map_names += (unsigned)map->entries;
	}
	free(item.bytes);
	return fits;
}

/* The text is a constant of this program, such as the field "more", and needs no check. */
bool etw_schema_text(struct etw_schema *s, const char *text)
{
	size_t len = strlen(text);

	if (s->used + len >= s->room)
		return false;
	memcpy(s->text + s->used, text, len + 1);
	s->used += len;
	return true;
}
