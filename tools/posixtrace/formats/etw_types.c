/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_types.c - names, schemas and data of event types.
 *
 * A type is found by a hash of all that its name, layout and level are made of, so that these are
 * made once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/etw_describe.h"
#include "formats/etw_part.h"
#include "formats/etw_sink.h"
#include "formats/etw_tail.h"
#include "formats/etw_types.h"
#include "formats/octets.h"

#define LEVELS "{1=critical,2=error,3=warning,4=information,5=verbose}"
#define TYPES                                                                                      \
	"{0=info,1=start,2=end,3=dc_start,4=dc_end,5=extension,6=reply,7=dequeue,8=checkpoint}"
#define IDS "u32 thread;u32 process;s64 stamp"
#define CPU "u32 kernel_time;u32 user_time"

/* The data of an event that is not decoded: the record, its header first. */
static const char *const schemas[] = {
	[ETW_SYSTEM] = "u16 version;u8 header_type;x8 marker;u16 size;u8 type" TYPES
		       ";u8 group;" IDS ";" CPU,
	[ETW_COMPACT] =
		"u16 version;u8 header_type;x8 marker;u16 size;u8 type" TYPES ";u8 group;" IDS,
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

/* Behind decoded fields: what the header says beside process, thread and time. */
static const char *const behind[] = {
	/* The same for all three, since the kernel writes events of one type with either header. */
	[ETW_SYSTEM] = "u8 etw_type" TYPES ";u8 etw_version",
	[ETW_COMPACT] = "u8 etw_type" TYPES ";u8 etw_version",
	[ETW_FULL] = "u8 etw_type" TYPES ";u8 etw_version;u8 etw_level" LEVELS ";" CPU,
	[ETW_INSTANCE] = "u8 etw_type" TYPES ";u8 etw_version;u8 etw_level" LEVELS ";" CPU,
	[ETW_PERFINFO] = "u8 etw_type" TYPES ";u8 etw_version",
	[ETW_EVENT] = "u16 etw_id;u8 etw_version;u8 etw_level" LEVELS ";u8 etw_opcode" TYPES
		      ";u16 etw_task;x64 etw_keyword;" CPU ";bytes[16] etw_activity",
};
#define WINDOWS "Microsoft-Windows-"
#define BEHIND_FIELDS 10
#define ATTRIBUTES_BYTES (2 * ETW_NAME_BYTES + 64) /* @begin, @key and @level */

struct etw_type {
	uint64_t key;
	const struct fmt_type *type, *undecoded; /* undecoded is made when it is needed */
	const struct etw_layout *layout; /* NULL: the payload is not described */
	struct etw_layout *own;          /* the same, if nothing else frees it */
	unsigned columns;
	bool more;
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t key_of(const struct etw_record *r)
{
	uint32_t fields[] = { (uint32_t)r->kind, (uint32_t)r->group, r->type, r->id, r->component,
			      r->flags & 0x100, r->task, r->version, (uint32_t)r->level };
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
	struct etw_type **type = calloc(room, sizeof(*type));

	if (!type)
		return false;
	for (size_t i = 0; i < t->room; i++) {
		size_t at;

		if (!t->type[i])
			continue;
		for (at = t->type[i]->key & (room - 1); type[at]; at = (at + 1) & (room - 1))
			;
		type[at] = t->type[i];
	}
	free(t->type);
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

static bool is_kernel(const struct etw_record *r)
{
	return r->kind != ETW_MESSAGE && (r->group != ETW_NO_GROUP || etw_is_classic(r));
}

/* What describes the payload, if anything does. */
static void find_layout(const struct etw_types *t, const struct etw_record *r,
			struct etw_type *type)
{
	char class[ETW_GUID_TEXT];
	bool damaged = false;

	if (t->payload_only || t->raw || r->bad_items)
		return;
	if (r->schema)
		type->own = etw_tracelogging(r, &damaged);
	if (damaged)
		fmt_fault(t->flow, FMT_WARN, r->at, "E24",
			  "the description of a TraceLogging event is not whole: its payload is "
			  "not decoded");
	type->layout = type->own;
	if (!type->layout && !r->schema && t->file->describe)
		type->layout = etw_describe_find(t->file->describe, r);
	/* Pointers of the kernel have a size that some logs do not tell. */
	if (!type->layout && is_kernel(r) && t->file->pointer_bytes) {
		etw_class(r, class);
		type->layout = type->own = etw_kernel_layout(class, r->type, r->version);
	}
}

/* Processes begin in one thread and end in another: the process pairs them. */
static const char *key_field(const struct etw_record *r, const char *schema)
{
	char class[ETW_GUID_TEXT];

	etw_class(r, class);
	return !strcmp(class, "process") && is_kernel(r) && r->type >= 1 && r->type <= 4 &&
	       strstr(schema, " ProcessId;") ? "ProcessId" : NULL;
}

static bool is_process(const struct etw_record *r)
{
	char class[ETW_GUID_TEXT];

	etw_class(r, class);
	return is_kernel(r) && !strcmp(class, "process") && r->type >= 1 && r->type <= 4;
}

/* provider.event of a description, instead of their numbers. */
static void describe_name(const struct etw_record *r, const struct etw_layout *layout,
			  char name[ETW_NAME_BYTES])
{
	char class[ETW_GUID_TEXT], full[1024];
	const char *provider, *event = layout->event;

	if (!event || r->kind != ETW_EVENT || etw_is_classic(r))
		return;
	etw_class(r, class);
	provider = layout->provider ? layout->provider : class;
	/* Most long names are those of Windows itself, and have a task before the opcode. */
	for (int cut = 0; cut < 3; cut++) {
		if (cut == 1 && !strncmp(provider, WINDOWS, sizeof(WINDOWS) - 1))
			provider += sizeof(WINDOWS) - 1;
		if (cut == 2 && strchr(event, '/'))
			event = strchr(event, '/') + 1;
		if (snprintf(full, sizeof(full), "etw.%.500s.%.500s", provider, event) <
		    ETW_NAME_BYTES)
			break;
	}
	etw_shorten(full, name);
}

/*
 * A type with that name, or, if one exists whose fields differ, one whose name ends in a checksum
 * of its own schema: two versions of an event, or the 32-bit and the 64-bit one.
 */
static const struct fmt_type *unique_type(struct etw_types *t, struct fmt_type *type)
{
	const struct fmt_type *made = fmt_type(t->flow, type);
	const char *other = made->schema ? made->schema : "",
		   *ours = type->schema ? type->schema : "";
	size_t len = strcspn(ours, "@");
	char full[ETW_NAME_BYTES + 2048], name[ETW_NAME_BYTES];

	if (strcspn(other, "@") == len && !strncmp(ours, other, len))
		return made;
	/* The checksum of a name that is too long is that of the schema, too. */
	snprintf(full, sizeof(full), "%s %s", type->name, ours);
	etw_shorten_always(type->name, full, name);
	type->name = name;
	type->name_len = 0;
	return fmt_type(t->flow, type);
}

/* The schema of a described event. False: its layout cannot be one, so that it is not used. */
static bool describe(const struct etw_record *r, struct etw_type *made, char *schema, size_t size)
{
	struct posix_trace_schema_np *parsed = malloc(sizeof(*parsed));
	size_t used, room = size - strlen(behind[r->kind]) - ATTRIBUTES_BYTES;
	int columns = etw_layout_schema(made->layout, schema, room,
					POSIX_TRACE_FIELDS_MAX_NP - BEHIND_FIELDS, &made->more);
	bool good;

	made->columns = columns < 0 ? 0 : (unsigned)columns;
	used = strlen(schema);
	snprintf(schema + used, size - used, "%s", behind[r->kind]);
	good = columns >= 0 && parsed && !posix_trace_schema_parse_np(schema, parsed);
	free(parsed);
	return good;
}

static const struct fmt_type *make(struct etw_types *t, const struct etw_record *r,
				   struct etw_type *made)
{
	char name[ETW_NAME_BYTES], span[ETW_NAME_BYTES], schema[POSIX_TRACE_SCHEMA_MAX_NP + 1] = "";
	struct fmt_type type = { .name = name, .level = -1 };
	const char *key = NULL;
	size_t used;

	etw_name(r, name);
	if (r->level >= 1 && r->level <= 5)
		type.level = r->level;
	find_phase(r, &type, span);
	if (made->layout && describe(r, made, schema, sizeof(schema))) {
		describe_name(r, made->layout, name);
		key = key_field(r, schema);
	} else {
		made->layout = NULL;
		snprintf(schema, sizeof(schema), "%s", schemas[r->kind]);
	}
	/* Without its key a span of a process would pair what does not belong together. */
	if (is_process(r) && !key) {
		type.phase = FMT_MARK;
		type.span = NULL;
	}
	used = strlen(schema);
	if (type.span)
		used += (size_t)snprintf(schema + used, sizeof(schema) - used, ";@%s %s%s%s",
					 type.phase == FMT_BEGIN ? "begin" : "end", type.span,
					 key ? ";@key " : "", key ? key : "");
	if (type.level > 0)
		snprintf(schema + used, sizeof(schema) - used, ";@level %d", type.level);
	if (!t->payload_only)
		type.schema = schema;
	return unique_type(t, &type);
}

static struct etw_type *type_of(struct etw_types *t, const struct etw_record *r)
{
	uint64_t key = key_of(r);
	struct etw_type *type;
	size_t at;

	if (2 * t->count >= t->room && !grow(t))
		return NULL;
	for (at = key & (t->room - 1); t->type[at]; at = (at + 1) & (t->room - 1))
		if (t->type[at]->key == key)
			return t->type[at];
	type = calloc(1, sizeof(*type));
	if (!type)
		return NULL;
	type->key = key;
	find_layout(t, r, type);
	type->type = make(t, r, type);
	t->type[at] = type;
	t->count++;
	return type;
}

static unsigned pointer_bytes(const struct etw_types *t, const struct etw_record *r)
{
	if (is_kernel(r))
		return (unsigned)t->file->pointer_bytes;
	if (r->flags & 0x20)
		return 4;
	return r->flags & 0x40 || r->header_type == 19 ? 8 : 4;
}

/* The fields of `behind`. */
static void add_behind(const struct etw_record *r, struct etw_bytes *to)
{
	if (r->kind == ETW_EVENT) {
		etw_bytes_number(to, r->id, 2);
		etw_bytes_number(to, r->version, 1);
		etw_bytes_number(to, (uint64_t)r->level, 1);
		etw_bytes_number(to, r->type, 1);
		etw_bytes_number(to, r->task, 2);
		etw_bytes_number(to, octets_u64(r->bytes + 48), 8);
	} else {
		etw_bytes_number(to, r->type, 1);
		etw_bytes_number(to, r->version, 1);
		if (r->kind == ETW_FULL || r->kind == ETW_INSTANCE)
			etw_bytes_number(to, (uint64_t)r->level, 1);
	}
	if (r->kind == ETW_FULL || r->kind == ETW_INSTANCE || r->kind == ETW_EVENT) {
		etw_bytes_number(to, r->kernel, 4);
		etw_bytes_number(to, r->user, 4);
	}
	if (r->kind == ETW_EVENT)
		etw_bytes_add(to, r->bytes + 64, ETW_GUID_BYTES);
}

static bool decode(struct etw_types *t, const struct etw_record *r, const struct etw_type *type)
{
	struct etw_bytes *to = &t->data;
	unsigned char tail[ETW_TAIL_BYTES];

	to->len = 0;
	if (!etw_layout_decode(type->layout, r->bytes + r->header, r->size - r->header,
			       pointer_bytes(t, r), type->columns, type->more, to))
		return false;
	add_behind(r, to);
	if (t->records) {
		etw_bytes_add(to, r->bytes, r->size);
		octets_put(octets_put(tail, r->size, 4), ETW_TAIL_MARK, 4);
		etw_bytes_add(to, tail, sizeof(tail));
	}
	return !to->no_memory;
}

/* The type of events whose payload contradicts its description. */
static const struct fmt_type *undecoded(struct etw_types *t, const struct etw_record *r,
					struct etw_type *type)
{
	struct etw_type without = { .key = 0 };

	if (!t->short_told)
		fmt_fault(t->flow, FMT_WARN, r->at, "E24",
			  "the payload of an event \"%s\" is not as its description says: it is "
			  "kept as bytes",
			  type->type->name);
	t->short_told = true;
	if (!type->undecoded)
		type->undecoded = make(t, r, &without);
	return type->undecoded;
}

const struct fmt_type *etw_types_of(struct etw_types *t, const struct etw_record *r,
				    const void **data, size_t *len)
{
	struct etw_type *type = type_of(t, r);
	bool no_memory;

	if (!type)
		return NULL;
	*data = t->payload_only ? r->bytes + r->header : r->bytes;
	*len = t->payload_only ? r->size - r->header : r->size;
	if (!type->layout)
		return type->type;
	if (decode(t, r, type)) {
		*data = t->data.bytes;
		*len = t->data.len;
		return type->type;
	}
	no_memory = t->data.no_memory;
	t->data.no_memory = false;
	return no_memory ? NULL : undecoded(t, r, type);
}

const char *etw_types_text(struct etw_types *t, const struct etw_record *r)
{
	struct etw_type *type = type_of(t, r);

	t->data.len = 0;
	if (!type || !type->layout)
		return "";
	etw_bytes_add(&t->data, " ", 1);
	if (!etw_layout_text(type->layout, r->bytes + r->header, r->size - r->header,
			     pointer_bytes(t, r), &t->data))
		return "";
	/* A line of a listing stays one line. */
	for (size_t i = 0; i < t->data.len; i++)
		if (t->data.bytes[i] < ' ' || t->data.bytes[i] == 0x7f)
			t->data.bytes[i] = '?';
	etw_bytes_add(&t->data, "", 1);
	return t->data.no_memory || t->data.len < 3 ? "" : (const char *)t->data.bytes;
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
	for (size_t i = 0; i < t->room; i++)
		if (t->type[i]) {
			etw_layout_free(t->type[i]->own);
			free(t->type[i]);
		}
	free(t->type);
	free(t->data.bytes);
}
