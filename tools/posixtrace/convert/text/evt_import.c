/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evt_import.c - the source "evt": reads events from lines of text.
 *
 * A line with a fault is reported with its number and skipped. Memory is bounded by the longest
 * line and by the number of types.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/vec.h"
#include "convert/text/evt.h"
#include "convert/text/evt_cursor.h"
#include "convert/text/evt_event.h"

#define LINE_BYTES ((size_t)1 << 22) /* longer lines are skipped */
#define READ_BYTES 65536
#define TYPES_MAX  65534
#define NAME_BYTES 1023

struct slot {
	uint32_t id;
	char *name;                  /* NULL: the input has no name for the type */
	/* NULL: no event had this type yet, or the type has got a new name since */
	const struct fmt_type *type;
};

struct reading {
	struct fmt_flow *flow;
	struct fmt_input *input;
	bool begun, big_endian;
	char *bytes;                 /* input that was read but not yet parsed */
	size_t begin, end, room;
	bool ended;
	uint64_t offset, line;       /* offset and number of the current line */
	struct slot *slot;           /* the types, in the order of their first lines */
	size_t slots;
	struct table of_id;
	/* data of the current event; at most half as long as the event's line */
	unsigned char *data;
	size_t data_room;
};

/* Reports a fault of the current line. Returns false. */
static bool report_line(struct reading *reading, const char *reason)
{
	fmt_fault(reading->flow, FMT_DAMAGED, reading->offset, NULL, "line %llu: %s",
		  (unsigned long long)reading->line, reason);
	return false;
}

/* ------------------------------------------------------------------ event types */

/* Returns true if the slot has this number. table_find() calls this function. */
static bool is_slot(const void *array, uint32_t index, const void *key)
{
	return ((const struct slot *)array)[index].id == *(const uint32_t *)key;
}

/*
 * Returns the slot of the event type with this number, and makes it if it does not exist. The
 * pointer is valid until the next call. Returns NULL after it has reported that there are too many
 * types, or that memory is lacking.
 */
static struct slot *slot_of(struct reading *reading, uint32_t id)
{
	const uint64_t hash = hash_number(HASH_BEGIN, id);
	const uint32_t index = table_find(&reading->of_id, hash, is_slot, reading->slot, &id);

	if (index != TABLE_NONE)
		return &reading->slot[index];
	if (reading->slots == TYPES_MAX) {
		report_line(reading, "too many event types");
		return NULL;
	}
	if (!vec_grow(&reading->slot, reading->slots, 1) ||
	    !table_add(&reading->of_id, hash, (uint32_t)reading->slots)) {
		report_line(reading, strerror(ENOMEM));
		return NULL;
	}
	reading->slot[reading->slots] = (struct slot){ .id = id };
	return &reading->slot[reading->slots++];
}

/*
 * Returns the flow's type for a slot. A type without a name gets a default name that has its
 * number.
 */
static const struct fmt_type *type_of(struct reading *reading, struct slot *slot)
{
	char nameless[EVT_NAMELESS_BYTES];
	struct fmt_type what = { .name = slot->name, .number = slot->id, .level = -1 };

	if (slot->type)
		return slot->type;
	if (!what.name) {
		snprintf(nameless, sizeof(nameless), EVT_NAMELESS, (unsigned)slot->id);
		what.name = nameless;
	}
	/*
	 * In a log, numbers below POSIX_TRACE_UNNAMED_USER_EVENT are those of system events. In the
	 * format evt such a number may belong to any type, so the type is identified by its name
	 * alone.
	 */
	if (slot->id >= POSIX_TRACE_UNNAMED_USER_EVENT && slot->id < 1024)
		what.id = slot->id;
	slot->type = fmt_type(reading->flow, &what);
	return slot->type;
}

/*
 * Calls fmt_begin() once, before the first event, because the byte order is then known. A line with
 * the byte order may follow lines with names, so the types that have names are registered only now.
 */
static bool begin_once(struct reading *reading)
{
	struct fmt_facts facts = { .big_endian = reading->big_endian };

	if (reading->begun)
		return true;
	reading->begun = true;
	if (!fmt_begin(reading->flow, &facts))
		return false;
	for (size_t i = 0; i < reading->slots; i++)
		if (reading->slot[i].name)
			type_of(reading, &reading->slot[i]);
	return true;
}

static bool order_line(struct reading *reading, struct cursor *cursor)
{
	bool big_endian = cursor_take(cursor, "be");

	if ((!big_endian && !cursor_take(cursor, "le")) || !cursor_at_end(cursor))
		return report_line(reading, "the byte order must be le or be");
	if (reading->begun && big_endian != reading->big_endian)
		return report_line(reading, "the byte order cannot change after an event");
	reading->big_endian = big_endian;
	return true;
}

/*
 * Reads NUMBER "TEXT". The name ends at the last quote of the line, so a name may contain quotes.
 * Returns false if the line has a fault, which the function has reported.
 */
static bool name_line(struct reading *reading, struct cursor *cursor)
{
	const char *close = cursor->end;
	struct cursor rest;
	struct slot *slot;
	uint64_t id;
	size_t len;

	if (!cursor_hexadecimal(cursor, UINT32_MAX, &id))
		return report_line(reading, "the number of an event type is missing");
	cursor_blanks(cursor);
	while (close > cursor->p && close[-1] != '"')
		close--;
	if (!cursor_take(cursor, "\"") || close <= cursor->p)
		return report_line(reading, "a name must be in quotes");
	len = (size_t)(close - 1 - cursor->p);
	rest = (struct cursor){ close, cursor->end };
	if (!cursor_at_end(&rest))
		return report_line(reading, "only blanks may follow a name");
	if (len > NAME_BYTES || memchr(cursor->p, '\0', len))
		return report_line(reading, "a name has at most 1023 bytes and no NUL");
	slot = slot_of(reading, (uint32_t)id);
	if (!slot)
		return false;
	free(slot->name);
	slot->type = NULL;
	slot->name = strndup(cursor->p, len);
	if (!slot->name)
		return report_line(reading, strerror(ENOMEM));
	if (reading->begun)
		type_of(reading, slot);
	return true;
}

/* Reads an event. Returns false if the flow stops. A faulty line does not stop the flow. */
static bool event_line(struct reading *reading, struct cursor *cursor)
{
	struct fmt_event event = { .cpu = -1, .data = reading->data };
	const char *reason;
	struct slot *slot;
	uint64_t id = 0;

	reason = evt_event(cursor, reading->data, &event, &id);
	if (reason) {
		report_line(reading, reason);
		return true;
	}
	slot = slot_of(reading, (uint32_t)id);
	if (!slot)
		return true;
	if (!begin_once(reading))
		return false;
	event.type = type_of(reading, slot);
	return fmt_event(reading->flow, &event);
}

/* Reads one line. Returns false if the flow stops. */
static bool read_line(struct reading *reading, const char *text, size_t len)
{
	struct cursor cursor = { text, text + len };

	if (len && text[len - 1] == '\r')
		cursor.end--;
	if (cursor.p < cursor.end && *cursor.p == '#')
		return true;
	if (cursor_at_end(&cursor))
		return true;
	if (cursor_take(&cursor, "evt "))
		return event_line(reading, &cursor);
	if (cursor_take(&cursor, "name "))
		name_line(reading, &cursor);
	else if (cursor_take(&cursor, "order "))
		order_line(reading, &cursor);
	else
		report_line(reading, "this line is not an event, name, byte order or comment");
	return true;
}

/* ------------------------------------------------------------------ the file */

/*
 * Reads more bytes behind the bytes in the buffer. Returns false if memory is lacking, or if the
 * input cannot be read. The memory for data grows with the buffer, since two digits of a line
 * become one byte of data. The buffer grows only with the longest line, up to LINE_BYTES.
 */
static bool read_more(struct reading *reading)
{
	ssize_t n;

	if (reading->begin) {
		reading->end -= reading->begin;
		memmove(reading->bytes, reading->bytes + reading->begin, reading->end);
		reading->begin = 0;
	}
	if (!vec_reserve(&reading->bytes, &reading->room, reading->end, READ_BYTES) ||
	    !vec_reserve(&reading->data, &reading->data_room, 0, reading->room / 2)) {
		fmt_fault(reading->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(ENOMEM));
		return false;
	}
	n = fmt_read(reading->flow, reading->input, reading->bytes + reading->end,
		     reading->room - reading->end);
	if (n < 0)
		return false;
	reading->end += (size_t)n;
	reading->ended = !n;
	return true;
}

/*
 * Skips a line that is too long, and keeps the bytes behind it. A file of another format may have
 * no line ends, so memory must not grow with the length of a line.
 */
static bool skip_line(struct reading *reading)
{
	report_line(reading, "the line has more than 4 MiB");
	for (;;) {
		char *newline = memchr(reading->bytes + reading->begin, '\n',
				       reading->end - reading->begin);

		if (newline || reading->ended) {
			size_t next =
				newline ? (size_t)(newline - reading->bytes) + 1 : reading->end;

			reading->offset += next - reading->begin;
			reading->begin = next;
			return true;
		}
		reading->offset += reading->end - reading->begin;
		reading->begin = reading->end;
		if (!read_more(reading))
			return false;
	}
}

/*
 * Reads all lines, or the lines up to the one at which the flow stops. The last line may lack its
 * line end. Returns false if the input cannot be read further.
 */
static bool read_lines(struct reading *reading)
{
	while (!reading->ended || reading->begin < reading->end) {
		const char *text = NULL, *newline = NULL;
		size_t have = reading->end - reading->begin, len;

		if (have) {
			text = reading->bytes + reading->begin;
			newline = memchr(text, '\n', have);
		}
		/*
		 * Messages have the number of the line. A line is counted when it is complete or
		 * too long.
		 */
		reading->line += newline || have > LINE_BYTES || (reading->ended && have);
		if (!newline && have > LINE_BYTES) {
			if (!skip_line(reading))
				return false;
			continue;
		}
		if (!newline && !reading->ended) {
			if (!read_more(reading))
				return false;
			continue;
		}
		len = newline ? (size_t)(newline - text) : have;
		if (!read_line(reading, text, len))
			return true;
		reading->begin += newline ? len + 1 : len;
		reading->offset += newline ? len + 1 : len;
	}
	return true;
}

/*
 * Many formats have lines that begin with #, so the function skips such lines, and empty lines. The
 * first other line decides.
 */
bool evt_detect(const struct fmt_head *head)
{
	const char *p = (const char *)head->bytes, *end = p + head->len;

	while (p < end) {
		struct cursor cursor = { p, end };
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		if (cursor_take(&cursor, "evt id=") || cursor_take(&cursor, "order le") ||
		    cursor_take(&cursor, "order be") || cursor_take(&cursor, "name 0x"))
			return true;
		if (*p != '#' && *p != '\n' && *p != '\r')
			return false;
		if (!newline)
			return false;
		p = newline + 1;
	}
	return false;
}

int evt_import(struct fmt_flow *flow, struct fmt_input *input)
{
	struct reading reading = { .flow = flow, .input = input };
	struct fmt_end end = { .complete = true };
	bool good;

	good = read_lines(&reading);
	/* A file without events is a valid trace. */
	if (good && begin_once(&reading))
		fmt_finish(flow, &end);
	for (size_t i = 0; i < reading.slots; i++)
		free(reading.slot[i].name);
	free(reading.slot);
	table_fini(&reading.of_id);
	free(reading.bytes);
	free(reading.data);
	return good ? TOOL_OK : TOOL_FAILURE;
}
