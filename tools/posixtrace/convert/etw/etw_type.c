/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_type.c - makes the name, the schema and the span of an event type. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/etw/etw_describe.h"
#include "convert/etw/etw_part.h"
#include "convert/etw/etw_sink.h"
#include "convert/etw/etw_type.h"

#define LEVELS "{1=critical,2=error,3=warning,4=information,5=verbose}"
#define TYPES \
	"{0=info,1=start,2=end,3=dc_start,4=dc_end,5=extension,6=reply,7=dequeue,8=checkpoint}"
#define IDS "u32 thread;u32 process;s64 stamp"
#define CPU "u32 kernel_time;u32 user_time"

/*
 * The schemas of events that are not decoded. The data of such an event is the record, so its
 * schema has the fields of the record's header.
 */
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

/*
 * The fields of the header that follow the decoded fields. They lack process, thread and time,
 * because each event has these.
 */
static const char *const behind[] = {
	/*
	 * SYSTEM, COMPACT and PERFINFO have the same fields here, since the kernel may write events
	 * of one type with any of these headers.
	 */
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

/* Returns whether the schema has all fields of a key. */
static bool has_fields(const char *schema, const char *key)
{
	while (*key) {
		size_t len = strcspn(key, ",");
		char item[64];

		snprintf(item, sizeof(item), " %.*s;", (int)len, key);
		if (!strstr(schema, item))
			return false;
		key += len + (key[len] == ',');
	}
	return true;
}

/*
 * Finds whether the event begins or ends a span. For a kernel event this depends on the type, and
 * for a provider's event on the opcode. *key becomes the names of the fields that pair the
 * beginning with the end, or NULL if the thread pairs them. If the schema lacks the fields of the
 * key, the event does not belong to a span, because pairing by thread would join events of
 * different subjects.
 */
static void find_phase(const struct etw_record *r, const char *schema, struct fmt_type *type,
		       char span[ETW_NAME_BYTES], const char **key)
{
	enum etw_role role = r->type == 1 ? ETW_ROLE_BEGIN :
			     r->type == 2 ? ETW_ROLE_END : ETW_ROLE_NONE;
	char class[ETW_GUID_TEXT];

	*key = NULL;
	if (r->kind == ETW_MESSAGE)
		return;
	etw_class(r, class);
	if (etw_is_kernel(r))
		*key = etw_kernel_key(class, r->type, &role);
	if (role == ETW_ROLE_NONE || (*key && !has_fields(schema, *key)))
		return;
	if (etw_is_provider(r))
		snprintf(span, ETW_NAME_BYTES, "etw.%s.%u", class, r->task);
	else
		snprintf(span, ETW_NAME_BYTES, "etw.%s", class);
	type->phase = role == ETW_ROLE_BEGIN ? FMT_BEGIN : FMT_END;
	type->span = span;
}

/*
 * If the description of a provider's event has the name of the event, the name of the type becomes
 * PROVIDER.EVENT. PROVIDER is the class if the description has no name of the provider.
 */
static void describe_name(const struct etw_record *r, const struct etw_layout *layout,
			  char name[ETW_NAME_BYTES])
{
	char class[ETW_GUID_TEXT], full[1024];
	const char *provider, *event = layout->event;

	if (!event || !etw_is_provider(r))
		return;
	etw_class(r, class);
	provider = layout->provider ? layout->provider : class;
	/*
	 * If the name is too long, "Microsoft-Windows-" is removed from it. If the name is still
	 * too long, the task before the opcode is removed, too.
	 */
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
 * Returns the type with that name. Two versions of an event, or its 32-bit and 64-bit forms, have
 * the same name and different fields. In this case the name of the second type ends with a checksum
 * of its whole name and its schema.
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
	snprintf(full, sizeof(full), "%s %s", type->name, ours);
	etw_shorten_always(type->name, full, name);
	type->name = name;
	type->name_len = 0;
	return fmt_type(t->flow, type);
}

/*
 * Makes the schema of a described event. Returns 1, or 0 if there is no valid schema for the
 * layout, or ETW_SCHEMA_NO_MEMORY.
 */
static int etw_type_describe(const struct etw_record *r, struct etw_type *made, char *schema,
			      size_t size)
{
	static struct posix_trace_schema_np parsed; /* large */
	size_t used, room = size - strlen(behind[r->kind]) - ATTRIBUTES_BYTES;
	int columns = etw_layout_schema(made->layout, schema, room,
					POSIX_TRACE_FIELDS_MAX_NP - BEHIND_FIELDS, &made->more);

	made->columns = columns < 0 ? 0 : (unsigned)columns;
	used = strlen(schema);
	snprintf(schema + used, size - used, "%s", behind[r->kind]);
	if (columns == ETW_SCHEMA_NO_MEMORY)
		return columns;
	return columns >= 0 && !posix_trace_schema_parse_np(schema, &parsed);
}

/*
 * The schema has the fields, then @begin or @end with @key, then @level. etw_type_describe() has
 * reserved space for these attributes.
 */
const struct fmt_type *etw_type_make(struct etw_types *t, const struct etw_record *r,
				     struct etw_type *made)
{
	char name[ETW_NAME_BYTES], span[ETW_NAME_BYTES], schema[POSIX_TRACE_SCHEMA_MAX_NP + 1] = "";
	struct fmt_type type = { .name = name, .level = -1 };
	const char *key;
	int described = 0;
	size_t used;

	etw_name(r, name);
	if (r->level >= 1 && r->level <= 5)
		type.level = r->level;
	if (made->layout)
		described = etw_type_describe(r, made, schema, sizeof(schema));
	if (described == ETW_SCHEMA_NO_MEMORY)
		return NULL;
	if (described) {
		describe_name(r, made->layout, name);
	} else {
		made->layout = NULL;
		snprintf(schema, sizeof(schema), "%s", schemas[r->kind]);
	}
	find_phase(r, schema, &type, span, &key);
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

/*
 * The schema is that of TRACE_LOGFILE_HEADER. Its two pointers have the size of pointers on the
 * system that wrote the log.
 */
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
