/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_event_info.c - reads TRACE_EVENT_INFO and EVENT_MAP_INFO (tdh.h). A merge of logs on a
 * Windows machine writes these structures into the new log, for the providers that are registered
 * on this machine.
 *
 * All offsets count from the beginning of the structure. Names are UTF-16 with a NUL.
 */
#include <stdlib.h>
#include <string.h>

#include "convert/etw/etw_describe.h"
#include "convert/etw/etw_text.h"
#include "convert/octets.h"

#define INFO_EVENT_ID 32
#define INFO_EVENT_VERSION 34
#define INFO_PROVIDER_NAME 52
#define INFO_TASK_NAME 68
#define INFO_OPCODE_NAME 72
#define INFO_PROPERTIES 100
#define INFO_TOP 104
#define INFO_PROPERTY 112 /* offset of the first property */
#define PROPERTY_BYTES 24

#define IS_STRUCT 0x1
#define LENGTH_IS_FIELD 0x2
#define COUNT_IS_FIELD 0x4
#define LENGTH_IS_FIXED 0x10
#define COUNT_IS_FIXED 0x20

#define MAP_BYTES 16
#define MAP_IS_BITS 0x2
#define MAP_IS_WBEM_BITS 0x10
#define MAP_VALUES_MAX 4096

/*
 * Stores the name at an offset. The caller frees the name. *name becomes NULL if there is no name.
 * Returns false if memory is lacking. A long name is shortened, because a description of 64 KiB
 * could refer to one long text thousands of times.
 */
static bool name_at(const unsigned char *p, size_t size, uint32_t offset, char **name)
{
	struct etw_bytes text = { 0 };

	*name = NULL;
	if (!offset || offset >= size)
		return true;
	size -= offset;
	etw_utf16_text(p + offset, size < 2 * ETW_NAME_CHARS ? size : 2 * ETW_NAME_CHARS, &text);
	/* Names of tasks and maps have a blank at their ends. */
	while (text.len && text.bytes[text.len - 1] == ' ')
		text.len--;
	etw_bytes_add(&text, "", 1);
	if (text.no_memory || text.len == 1)
		free(text.bytes);
	else
		*name = (char *)text.bytes;
	return !text.no_memory;
}

/*
 * Adds a field with the name of a property. A property without a name becomes a field with an empty
 * name, so that the index of each property is also the index of its field. Returns NULL if memory
 * is lacking.
 */
static struct etw_field *add_named(struct etw_layout *layout, const unsigned char *p, size_t size,
				   uint32_t name_offset)
{
	struct etw_field *field;
	char *name;

	if (!name_at(p, size, name_offset, &name))
		return NULL;
	field = etw_layout_add(layout, name ? name : "", name ? strlen(name) : 0);
	free(name);
	return field;
}

/*
 * Adds one EVENT_PROPERTY_INFO as a field. Returns false if memory is lacking, or if the
 * description lacks members of a struct. In the second case *why becomes this fault.
 */
static bool add_property(struct etw_describe *describe, struct etw_layout *layout,
			 const unsigned char *p, size_t size, unsigned index, unsigned count,
			 const char **why)
{
	const unsigned char *info = p + INFO_PROPERTY + (size_t)index * PROPERTY_BYTES;
	struct etw_field *field = add_named(layout, p, size, octets_u32(info + 4));
	uint32_t flags = octets_u32(info);
	char *map;
	bool ok;

	if (!field)
		return false;
	field->next = index + 1;
	field->count = octets_u16(info + 16);
	if (flags & COUNT_IS_FIELD)
		field->count_rule = ETW_RULE_FIELD;
	else if (flags & COUNT_IS_FIXED || field->count > 1)
		field->count_rule = ETW_RULE_FIXED;
	if (flags & IS_STRUCT) {
		field->in = ETW_IN_STRUCT;
		field->first = octets_u16(info + 8);
		field->members = octets_u16(info + 10);
		if (field->first + field->members > count)
			*why = "the members of one of its properties are outside its list";
		return !*why;
	}
	field->in = octets_u16(info + 8);
	field->out = octets_u16(info + 10);
	field->length = octets_u16(info + 18);
	if (flags & LENGTH_IS_FIELD)
		field->length_rule = ETW_RULE_FIELD;
	else if (flags & LENGTH_IS_FIXED ||
		 (field->length && (field->in == ETW_IN_UTF16 || field->in == ETW_IN_ANSI ||
				    field->in == ETW_IN_BINARY)))
		field->length_rule = ETW_RULE_FIXED;
	if (!name_at(p, size, octets_u32(info + 12), &map))
		return false;
	ok = !map || etw_describe_use_map(describe, p, layout, index, map);
	free(map);
	return ok;
}

/*
 * Stores the name of the event: "Task/Opcode", or only "Task" if the opcode is missing or is the
 * default "win:Info". *name becomes NULL if there is no task. Returns false if memory is lacking.
 */
static bool event_name(const unsigned char *p, size_t size, char **name)
{
	char *task, *opcode = NULL;
	const char *short_opcode;
	struct etw_bytes text = { 0 };
	bool ok = name_at(p, size, octets_u32(p + INFO_TASK_NAME), &task) &&
		  name_at(p, size, octets_u32(p + INFO_OPCODE_NAME), &opcode);

	if (ok && task) {
		short_opcode = opcode && !strncmp(opcode, "win:", 4) ? opcode + 4 : opcode;
		etw_bytes_add(&text, task, strlen(task));
		if (short_opcode && strcmp(short_opcode, "Info") != 0) {
			etw_bytes_add(&text, "/", 1);
			etw_bytes_add(&text, short_opcode, strlen(short_opcode));
		}
		etw_bytes_add(&text, "", 1);
	}
	free(task);
	free(opcode);
	ok = ok && !text.no_memory;
	if (ok)
		*name = (char *)text.bytes;
	else
		free(text.bytes);
	return ok;
}

/* The function first checks by the sizes that all properties are within the record. */
bool etw_event_info(struct etw_describe *describe, const unsigned char *p, size_t size,
		    const char **why)
{
	uint32_t count, top;
	struct etw_layout *layout;
	bool ok = true;

	*why = "it is shorter than its fields";
	if (size < INFO_PROPERTY)
		return false;
	count = octets_u32(p + INFO_PROPERTIES);
	top = octets_u32(p + INFO_TOP);
	if (count > ETW_FIELDS_MAX || top > count ||
	    size - INFO_PROPERTY < (size_t)count * PROPERTY_BYTES)
		return false;
	*why = NULL;
	layout = etw_layout_new();
	if (!layout)
		return false;
	for (uint32_t i = 0; ok && i < count; i++)
		ok = add_property(describe, layout, p, size, i, count, why);
	if (!ok || !name_at(p, size, octets_u32(p + INFO_PROVIDER_NAME), &layout->provider) ||
	    !event_name(p, size, &layout->event)) {
		etw_describe_drop(describe, layout);
		return false;
	}
	layout->top = top;
	return etw_describe_add(describe, p, octets_u16(p + INFO_EVENT_ID), p[INFO_EVENT_VERSION],
				layout);
}

/*
 * Entries without a name are skipped. An entry is a name for a value of 32 bits. A flag of the map
 * decides whether the values are bits.
 */
bool etw_map_info(struct etw_describe *describe, const unsigned char *p, size_t size,
		  const char **why)
{
	/*
	 * The structure follows the GUID of the provider. Offsets count from the beginning of the
	 * structure.
	 */
	const unsigned char *info = p + ETW_GUID_BYTES;
	struct etw_map *map;
	uint32_t entries;
	char *name;
	bool ok = true;

	*why = "it is shorter than its entries";
	if (size < ETW_GUID_BYTES + MAP_BYTES)
		return false;
	size -= ETW_GUID_BYTES;
	entries = octets_u32(info + 8);
	if (entries > MAP_VALUES_MAX || size - MAP_BYTES < (size_t)entries * 8)
		return false;
	*why = NULL;
	if (!name_at(info, size, octets_u32(info), &name))
		return false;
	if (!name)
		return true; /* no field can refer to a map without a name */
	map = calloc(1, sizeof(*map));
	if (!map) {
		free(name);
		return false;
	}
	map->bits = octets_u32(info + 4) & (MAP_IS_BITS | MAP_IS_WBEM_BITS);
	for (uint32_t i = 0; ok && i < entries; i++) {
		const unsigned char *entry = info + MAP_BYTES + (size_t)i * 8;
		char *text;

		ok = name_at(info, size, octets_u32(entry), &text);
		if (text)
			ok = etw_map_add(map, octets_u32(entry + 4), text);
		free(text);
	}
	if (ok)
		ok = etw_describe_map(describe, p, name, map);
	else
		etw_map_free(map);
	free(name);
	return ok;
}
