/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_types.c - names and schemas of event types; a name takes long to make, so that it is made once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/etw_sink.h"
#include "formats/etw_types.h"

#define LEVELS "{1=critical,2=error,3=warning,4=information,5=verbose}"
#define TYPES "{0=info,1=start,2=end,3=dc_start,4=dc_end,5=extension,6=reply,7=dequeue,8=checkpoint}"
#define IDS "u32 thread;u32 process;s64 stamp"
#define CPU "u32 kernel_time;u32 user_time"

/* What stands in the data, the record's header first. */
static const char *const schemas[] = {
	[ETW_SYSTEM] = "u16 version;u8 header_type;x8 marker;u16 size;u8 type" TYPES ";u8 group;" IDS
		       ";" CPU,
	[ETW_COMPACT] = "u16 version;u8 header_type;x8 marker;u16 size;u8 type" TYPES ";u8 group;" IDS,
	[ETW_FULL] = "u16 size;u8 header_type;x8 marker;u8 type" TYPES ";u8 level" LEVELS
		     ";u16 version;" IDS ";bytes[16] guid;" CPU,
	[ETW_INSTANCE] = "u16 size;u8 header_type;x8 marker;u8 type" TYPES ";u8 level" LEVELS
			 ";u16 version;" IDS ";bytes[16] guid;" CPU,
	[ETW_PERFINFO] = "u16 version;u8 header_type;x8 marker;u16 size;u8 type;u8 group;s64 stamp",
	[ETW_EVENT] = "u16 size;u8 header_type;x8 marker;x16 flags;x16 property;" IDS
		      ";bytes[16] guid;u16 id;u8 version;u8 channel;u8 level" LEVELS
		      ";u8 opcode" TYPES ";u16 task;x64 keyword;" CPU ";bytes[16] activity",
	[ETW_MESSAGE] = "u16 size;u8 version;x8 marker;u16 number;x16 options",
	[ETW_SKIPPED] = "",
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Of what the name is made. */
static uint64_t key_of(const struct etw_record *r)
{
	uint32_t fields[] = { (uint32_t)r->kind, (uint32_t)r->group, r->type, r->id, r->component,
			      r->flags & 0x100, r->task, r->version > 0, (uint32_t)r->level };
	uint64_t key = mix(UINT64_C(0xcbf29ce484222325), fields, sizeof(fields));

	key = mix(key, r->guid, sizeof(r->guid));
	if (r->schema)
		key = mix(key, r->schema, r->schema_bytes);
	if (r->traits)
		key = mix(key, r->traits, r->traits_bytes);
	return key ? key : 1;
}

static bool grow(struct etw_types *t)
{
	size_t room = t->room ? 2 * t->room : 256;
	uint64_t *key = calloc(room, sizeof(*key));
	const struct fmt_type **type = calloc(room, sizeof(*type));

	if (!key || !type) {
		free(key);
		free(type);
		return false;
	}
	for (size_t i = 0; i < t->room; i++) {
		size_t at;

		if (!t->key[i])
			continue;
		for (at = t->key[i] & (room - 1); key[at]; at = (at + 1) & (room - 1))
			;
		key[at] = t->key[i];
		type[at] = t->type[i];
	}
	free(t->key);
	free(t->type);
	t->key = key;
	t->type = type;
	t->room = room;
	return true;
}

/* Begins and ends: of a class its types, of a provider the opcodes of a task. */
static void find_phase(const struct etw_record *r, struct fmt_type *type, char *span)
{
	char class[ETW_GUID_TEXT];

	if (r->kind == ETW_MESSAGE || (r->type != 1 && r->type != 2))
		return;
	etw_class(r, class);
	if (r->kind == ETW_EVENT && !etw_is_classic(r))
		snprintf(span, ETW_NAME_BYTES, "etw.%s.%u", class, r->task);
	else
		snprintf(span, ETW_NAME_BYTES, "etw.%s", class);
	type->phase = r->type == 1 ? FMT_BEGIN : FMT_END;
	type->span = span;
}

/* One thread begins a process and another sees it end: the process itself pairs them. */
static bool add_process(const struct etw_types *t, const struct etw_record *r, struct fmt_type *type,
			char *schema, size_t room)
{
	size_t pointer = t->file->pointer_bytes, used = strlen(schema);
	char class[ETW_GUID_TEXT];

	etw_class(r, class);
	if (strcmp(class, "process") != 0 || r->type < 1 || r->type > 4)
		return false;
	if (r->version && !pointer) { /* where the process stands, nobody knows */
		type->phase = FMT_MARK;
		type->span = NULL;
		return false;
	}
	used += (size_t)snprintf(schema + used, room - used, "%s;u32 process_id;u32 parent_id",
				 !r->version ? "" : pointer == 8 ? ";x64 key" : ";x32 key");
	if (type->span)
		snprintf(schema + used, room - used, ";@%s %s;@key process_id",
			 type->phase == FMT_BEGIN ? "begin" : "end", type->span);
	return true;
}

static const struct fmt_type *make(struct etw_types *t, const struct etw_record *r)
{
	char name[ETW_NAME_BYTES], span[ETW_NAME_BYTES], schema[1024];
	struct fmt_type type = { .name = name, .level = -1 };
	size_t used;

	etw_name(r, name);
	if (r->level >= 1 && r->level <= 5)
		type.level = r->level;
	find_phase(r, &type, span);
	used = (size_t)snprintf(schema, sizeof(schema), "%s", schemas[r->kind]);
	if (!add_process(t, r, &type, schema, sizeof(schema)) && type.span)
		snprintf(schema + used, sizeof(schema) - used, ";@%s %s",
			 type.phase == FMT_BEGIN ? "begin" : "end", type.span);
	used = strlen(schema);
	if (type.level > 0)
		snprintf(schema + used, sizeof(schema) - used, ";@level %d", type.level);
	if (!t->payload_only)
		type.schema = schema;
	return fmt_type(t->flow, &type);
}

const struct fmt_type *etw_types_of(struct etw_types *t, const struct etw_record *r)
{
	uint64_t key = key_of(r);
	size_t at;

	if (2 * t->count >= t->room && !grow(t))
		return NULL;
	for (at = key & (t->room - 1); t->key[at]; at = (at + 1) & (t->room - 1))
		if (t->key[at] == key)
			return t->type[at];
	t->key[at] = key;
	t->type[at] = make(t, r);
	t->count++;
	return t->type[at];
}

const struct fmt_type *etw_types_header(struct etw_types *t)
{
	const char *pointer = t->file->log.wide ? "x64" : "x32";
	char schema[1024];
	struct fmt_type type = { .name = ETW_HEADER_EVENT, .level = -1, .schema = schema };

	snprintf(schema, sizeof(schema),
		 "%s;u32 buffer_size;u8[4] windows;u32 build;u32 processors;s64 end_time;"
		 "u32 timer_resolution;u32 maximum_file_size;x32 mode;u32 buffers_written;"
		 "u32 start_buffers;u32 pointer_size;u32 events_lost;u32 cpu_mhz;%s logger_name;"
		 "%s file_name;bytes[176] time_zone;s64 boot_time;s64 frequency;s64 start_time;"
		 "u32 clock{1=performance,2=system,3=cpu};u32 buffers_lost",
		 schemas[ETW_SYSTEM], pointer, pointer);
	return fmt_type(t->flow, &type);
}

void etw_types_free(struct etw_types *t)
{
	free(t->key);
	free(t->type);
}
