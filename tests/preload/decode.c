/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/decode.c - prints the shim's events of a log, each field by its schema. It is no test
 * itself.
 *
 *	decode LOG    one line an event: PID TID NAME FIELD=VALUE...
 *
 * Other events are omitted. If data does not match the schema exactly, the program exits with 1.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>

#include "preload/patch_plan.h"
#include "preload/types.h"

static const struct {
	const char *name, *schema;
} types[] = {
#define TYPE(type, family, name, schema) { name, schema },
	SHIM_TYPES(TYPE)
#undef TYPE
};

static const struct {
	const char *name;
	size_t bytes;
	char as; /* s signed, u unsigned, x hexadecimal, t text */
} fields[] = {
	{ "u8", 1, 'u' },  { "u16", 2, 'u' }, { "u32", 4, 'u' }, { "u64", 8, 'u' },
	{ "s8", 1, 's' },  { "s16", 2, 's' }, { "s32", 4, 's' }, { "s64", 8, 's' },
	{ "x8", 1, 'x' },  { "x16", 2, 'x' }, { "x32", 4, 'x' }, { "x64", 8, 'x' },
	{ "ns", 8, 'u' },  { "ptr", 8, 'x' }, { "errno", 4, 's' }, { "str", 0, 't' },
	{ "o32", 4, 'x' }, { "fd", 4, 's' },  { "signal", 4, 's' }, { "wait", 4, 'x' },
	{ "bool", 1, 'u' },
};

static const unsigned char *data, *end;

static void print_text(void)
{
	const unsigned char *stop = memchr(data, '\0', (size_t)(end - data));

	for (; data < (stop ? stop : end); data++)
		putchar(*data == '\n' ? ' ' : *data);
	data += stop != NULL;
}

static bool print_number(size_t bytes, char as)
{
	uint64_t value = 0;

	if ((size_t)(end - data) < bytes)
		return false;
	for (size_t i = 0; i < bytes; i++) /* of this machine: little-endian, or all of 8 bytes */
		value |= (uint64_t)data[i] << 8 * i;
	data += bytes;
	if (as == 's')
		printf("%" PRId64, (int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes));
	else
		printf(as == 'x' ? "0x%" PRIx64 : "%" PRIu64, value);
	return true;
}

/* The last field of some types is absent unless the user asked for it. */
static bool print_content(void)
{
	uint32_t bytes;

	if (data == end)
		return true;
	if ((size_t)(end - data) < sizeof bytes)
		return false;
	memcpy(&bytes, data, sizeof bytes);
	data += sizeof bytes;
	if ((size_t)(end - data) != bytes)
		return false;
	printf(" data=%.*s", (int)bytes, (const char *)data);
	data = end;
	return true;
}

static bool print_field(const char *type, const char *name)
{
	if (!strcmp(type, "bytes"))
		return print_content();
	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		if (strcmp(fields[i].name, type) != 0)
			continue;
		printf(" %s=", name);
		if (fields[i].as != 't')
			return print_number(fields[i].bytes, fields[i].as);
		print_text();
		return true;
	}
	return false;
}

/* Attributes, which begin with @, do not describe data. */
static bool print_fields(const char *schema)
{
	char type[64], name[64];

	while (*schema) {
		schema += strspn(schema, " ");
		if (*schema != '@' && (sscanf(schema, "%63[a-z0-9] %63[^;{]", type, name) != 2 ||
				       !print_field(type, name)))
			return false;
		schema += strcspn(schema, ";");
		schema += *schema == ';';
	}
	return data == end;
}

static bool print_event(const struct posix_trace_event_np *event, const char *name)
{
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		bool is_whole;

		if (strcmp(types[i].name, name) != 0)
			continue;
		data = event->data;
		end = data + event->data_len;
		printf("%d %d %s", (int)event->info.posix_pid, (int)event->tid, name);
		is_whole = print_fields(types[i].schema);
		putchar('\n');
		return is_whole;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct posix_trace_event_np event;
	char name[TRACE_EVENT_NAME_MAX + 1];
	int unavailable, status = 0;
	trace_id_t trid;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid)) {
		fprintf(stderr, "decode: %s: no log\n", argc == 2 ? argv[1] : "?");
		return 2;
	}
	while (!posix_trace_getnext_np(trid, &event, &unavailable) && !unavailable)
		if (!posix_trace_eventid_get_name(trid, event.info.posix_event_id, name) &&
		    !print_event(&event, name)) {
			fprintf(stderr, "decode: %s: %zu bytes are not what its schema says\n",
				name, event.data_len);
			status = 1;
		}
	return status;
}
