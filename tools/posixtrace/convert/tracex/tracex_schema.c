/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_schema.c - makes schemas of entries, slots and the header from TraceX's descriptions of
 * fields.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "convert/tracex/tracex_schema.h"

#define LABEL_BYTES 33 /* bytes of the name that is made from a label */

static bool is_state(const char *info)
{
	return !strcmp(info, "previous state") || !strcmp(info, "new state") ||
	       !strcmp(info, "thread state");
}

/* Returns true if the field is a pointer, for which the registry may have a name. */
static bool is_pointer(const char *info)
{
	return text_ends_with(info, "ptr") || text_ends_with(info, "pointer") ||
	       text_ends_with(info, "instance") || text_ends_with(info, "thread");
}

/* Returns whether the field is shown in hexadecimal: addresses, sets of bits and unknown fields. */
static bool is_hex(const char *info)
{
	return text_ends_with(info, "address") || text_ends_with(info, "mask") ||
	       text_ends_with(info, "flags") || !strncmp(info, "header", 6) || !*info;
}

/*
 * Returns the type of a field in the schema. The type must have the size of a word in the entry,
 * since fields follow one another without gaps.
 */
static const char *type_of(const struct tracex *d, const char *info)
{
	if (is_pointer(info))
		return d->wide ? "ptr" : "ptr32";
	if (is_hex(info))
		return d->wide ? "x64" : "x32";
	return d->wide ? "u64" : "u32";
}

/*
 * Writes the name of a field. For example, "thread ptr" becomes thread_ptr. If no name can be made
 * from the description, the name is "info" and the number of the field.
 */
static void put_identifier(char *to, size_t room, const char *info, unsigned number)
{
	size_t len = 0;

	if (!*info || isdigit((unsigned char)*info) || !strncmp(info, "info", 4)) {
		snprintf(to, room, "info%u", number);
		return;
	}
	for (; info[len] && len < room - 1; len++)
		to[len] = isalnum((unsigned char)info[len]) && (unsigned char)info[len] < 0x80 ?
				  info[len] : '_';
	to[len] = '\0';
}

/*
 * Returns the names of values for a field that is an enumeration of ThreadX, or "" for other
 * fields.
 */
static const char *values_of(const char *info)
{
	if (is_state(info))
		return "{0=ready,1=completed,2=terminated,3=suspended,4=sleep,5=queue,6=semaphore,"
		       "7=event_flags,8=block_pool,9=byte_pool,10=io,11=file,12=tcp_ip,13=mutex,"
		       "14=priority_change}";
	if (!strcmp(info, "wait option"))
		return "{0=no_wait,0xffffffff=forever}";
	if (!strcmp(info, "get option"))
		return "{0=or,1=or_clear,2=and,3=and_clear}";
	return "";
}

/* Returns whether label[count] equals an earlier label, or the name of a field of all entries. */
static bool is_taken(char (*label)[LABEL_BYTES], unsigned count)
{
	static const char *const own[] = {
		"context", "priority_word", "event", "id_high", "cpu", "stamp",
	};

	for (unsigned i = 0; i < count; i++)
		if (!strcmp(label[count], label[i]))
			return true;
	for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcmp(label[count], own[i]))
			return true;
	return false;
}

/*
 * Two fields of a schema must not have the same name. So if a label repeats the name of an earlier
 * field, the function replaces the label by "info" and the number of the field. A label may be any
 * text, because it may be from the side file.
 */
void tracex_schema_entry(const struct tracex *d, const char *const info[4], const char *items,
			 char *schema)
{
	char name[4][LABEL_BYTES];
	int used;

	if (d->wide)
		used = snprintf(
			schema, TRACEX_SCHEMA_BYTES,
			"ptr context;x64 priority_word;u16 event;x8 id_high;u8 cpu;x32 id_upper;"
			"u64 stamp");
	else
		used = snprintf(
			schema, TRACEX_SCHEMA_BYTES,
			"ptr32 context;x32 priority_word;u16 event;x8 id_high;u8 cpu;u32 stamp");
	for (unsigned i = 0; i < 4; i++) {
		put_identifier(name[i], sizeof(name[i]), info[i], i + 1);
		if (is_taken(name, i))
			snprintf(name[i], sizeof(name[i]), "info%u", i + 1);
		used += snprintf(schema + used, TRACEX_SCHEMA_BYTES - (size_t)used, ";%s %s%s",
				 type_of(d, info[i]), name[i], values_of(info[i]));
	}
	snprintf(schema + used, TRACEX_SCHEMA_BYTES - (size_t)used, "%s", items);
}

/* The wide layout has 4 bytes of padding behind its two numbers of 16 bits. */
void tracex_schema_header(const struct tracex *d, char *schema)
{
	const char *w = d->wide ? "64" : "32";

	snprintf(schema, TRACEX_SCHEMA_BYTES,
		 "x%s id;x%s timer_mask;x%s base;x%s registry_start;u16 reserved1;u16 name_size;%s"
		 "x%s registry_end;x%s buffer_start;x%s buffer_end;x%s current;"
		 "x%s reserved2;x%s reserved3;x%s reserved4",
		 w, w, w, w, d->wide ? "u32 padding;" : "", w, w, w, w, w, w, w);
}

void tracex_schema_slot(const struct tracex *d, char *schema)
{
	const char *w = d->wide ? "64" : "32";

	snprintf(schema, TRACEX_SCHEMA_BYTES,
		 "u16 slot;u8 available{0=used,1=freed};u8 type;x8 reserved1;u8 reserved2;%s"
		 "x%s pointer;u%s parameter1;u%s parameter2;str[%u] name",
		 d->wide ? "u32 padding;" : "", w, w, w, d->name_bytes);
}
