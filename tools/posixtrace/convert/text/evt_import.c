/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* evt_import.c - events as text: the reader. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/text/evt.h"
#include "convert/text/evt_cursor.h"
#include "convert/text/evt_event.h"

#define LINE_BYTES ((size_t)1 << 22) /* a line of more is left out */
#define READ_BYTES 65536
#define SLOTS      (1u << 17)
#define TYPES_MAX  65534
#define NAME_BYTES 1023

struct slot {
	bool used, is_waiting;       /* in named */
	uint32_t id;
	char *name;                  /* NULL: none was given */
	const struct fmt_type *type; /* NULL: no event yet, or a name since */
};

struct reading {
	struct fmt_flow *flow;
	struct fmt_input *input;
	bool begun, big_endian, too_many;
	char *bytes;                 /* what was read and not yet taken */
	size_t begin, end, room;
	bool ended;
	uint64_t offset, line;       /* of the line at hand */
	struct slot *slot;           /* hash table by id */
	size_t types;
	struct slot **named;         /* before the first event, in their order */
	size_t names, name_room;
	unsigned char *data;
	size_t data_room;
};

static bool bad(struct reading *reading, const char *reason)
{
	fmt_fault(reading->flow, FMT_DAMAGED, reading->offset, NULL, "line %llu: %s",
		  (unsigned long long)reading->line, reason);
	return false;
}

/* ------------------------------------------------------------------ event types */

static struct slot *slot_of(struct reading *reading, uint32_t id)
{
	size_t i = (id * UINT32_C(2654435761)) >> 15;

	for (;; i = (i + 1) % SLOTS) {
		struct slot *slot = &reading->slot[i];

		if (slot->used && slot->id == id)
			return slot;
		if (slot->used)
			continue;
		if (reading->types == TYPES_MAX)
			return NULL;
		reading->types++;
		slot->used = true;
		slot->id = id;
		return slot;
	}
}

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
	/* Numbers below are of system events, whatever an event list calls them. */
	if (slot->id >= POSIX_TRACE_UNNAMED_USER_EVENT && slot->id < 1024)
		what.id = slot->id;
	slot->type = fmt_type(reading->flow, &what);
	return slot->type;
}

static bool begin(struct reading *reading)
{
	struct fmt_facts facts = { .big_endian = reading->big_endian };

	if (reading->begun)
		return true;
	reading->begun = true;
	if (!fmt_begin(reading->flow, &facts))
		return false;
	for (size_t i = 0; i < reading->names; i++)
		type_of(reading, reading->named[i]);
	return true;
}

/* The order of the numbers may stand behind names, so that these wait. */
static bool keep_named(struct reading *reading, struct slot *slot)
{
	if (reading->begun) {
		type_of(reading, slot);
		return true;
	}
	if (slot->is_waiting)
		return true;
	if (reading->names == reading->name_room) {
		size_t room = reading->name_room ? 2 * reading->name_room : 64;
		struct slot **more = realloc(reading->named, room * sizeof(struct slot *));

		if (!more)
			return false;
		reading->named = more;
		reading->name_room = room;
	}
	reading->named[reading->names++] = slot;
	slot->is_waiting = true;
	return true;
}

static bool order_line(struct reading *reading, struct cursor *cursor)
{
	bool big_endian = cursor_take(cursor, "be");

	if ((!big_endian && !cursor_take(cursor, "le")) || !cursor_at_end(cursor))
		return bad(reading, "the order is le or be");
	if (reading->begun && big_endian != reading->big_endian)
		return bad(reading, "the order changes behind an event");
	reading->big_endian = big_endian;
	return true;
}

static bool name_line(struct reading *reading, struct cursor *cursor)
{
	const char *close = cursor->end;
	struct slot *slot;
	uint64_t id;
	size_t len;

	if (!cursor_hexadecimal(cursor, UINT32_MAX, &id))
		return bad(reading, "no number of an event type");
	cursor_blanks(cursor);
	while (close > cursor->p && close[-1] != '"')
		close--;
	if (!cursor_take(cursor, "\"") || close <= cursor->p)
		return bad(reading, "a name stands in quotes");
	len = (size_t)(close - 1 - cursor->p);
	if (len > NAME_BYTES || memchr(cursor->p, '\0', len))
		return bad(reading, "a name has at most 1023 bytes and no NUL");
	slot = slot_of(reading, (uint32_t)id);
	if (!slot)
		return bad(reading, "too many event types");
	free(slot->name);
	slot->type = NULL;
	slot->name = strndup(cursor->p, len);
	return (slot->name && keep_named(reading, slot)) || bad(reading, strerror(ENOMEM));
}

/* False: the flow stops. */
static bool event_line(struct reading *reading, struct cursor *cursor)
{
	struct fmt_event event = { .cpu = -1, .data = reading->data };
	const char *reason;
	struct slot *slot;
	uint64_t id = 0;

	reason = evt_event(cursor, reading->data, &event, &id);
	if (reason) {
		bad(reading, reason);
		return true;
	}
	slot = slot_of(reading, (uint32_t)id);
	if (!slot) {
		bad(reading, "too many event types");
		return true;
	}
	if (!begin(reading))
		return false;
	event.type = type_of(reading, slot);
	return fmt_event(reading->flow, &event);
}

static bool line(struct reading *reading, const char *text, size_t len)
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
		bad(reading, "this is neither an event nor a name, an order or a comment");
	return true;
}

/* ------------------------------------------------------------------ the file */

/* More bytes behind what is there; false: no memory or no input. */
static bool fill(struct reading *reading)
{
	ssize_t n;

	if (reading->begin) {
		reading->end -= reading->begin;
		memmove(reading->bytes, reading->bytes + reading->begin, reading->end);
		reading->begin = 0;
	}
	if (reading->room - reading->end < READ_BYTES) {
		size_t room = reading->room ? 2 * reading->room : 2 * READ_BYTES;
		char *bytes = realloc(reading->bytes, room);
		unsigned char *data = realloc(reading->data, room / 2);

		reading->bytes = bytes ? bytes : reading->bytes;
		reading->data = data ? data : reading->data;
		if (!bytes || !data) {
			fmt_fault(reading->flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s",
				  strerror(ENOMEM));
			return false;
		}
		reading->room = room;
	}
	n = fmt_read(reading->flow, reading->input, reading->bytes + reading->end,
		     reading->room - reading->end);
	if (n < 0)
		return false;
	reading->end += (size_t)n;
	reading->ended = !n;
	return true;
}

/* A line so long that nobody wrote it: leaves it out, and keeps what stands behind it. */
static bool skip_line(struct reading *reading)
{
	bad(reading, "a line of more than 4 MiB");
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
		if (!fill(reading))
			return false;
	}
}

static bool lines(struct reading *reading)
{
	while (!reading->ended || reading->begin < reading->end) {
		const char *text = NULL, *newline = NULL;
		size_t have = reading->end - reading->begin, len;

		if (have) {
			text = reading->bytes + reading->begin;
			newline = memchr(text, '\n', have);
		}
		reading->line += newline || have > LINE_BYTES || (reading->ended && have);
		if (!newline && have > LINE_BYTES) {
			if (!skip_line(reading))
				return false;
			continue;
		}
		if (!newline && !reading->ended) {
			if (!fill(reading))
				return false;
			continue;
		}
		len = newline ? (size_t)(newline - text) : have;
		if (!line(reading, text, len))
			return true;
		reading->begin += newline ? len + 1 : len;
		reading->offset += newline ? len + 1 : len;
	}
	return true;
}

/* A comment alone could be of any file: the first line that is none decides. */
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

	reading.slot = calloc(SLOTS, sizeof(*reading.slot));
	if (!reading.slot)
		return fmt_fault(flow, FMT_REFUSE, FMT_NO_OFFSET, NULL, "%s", strerror(ENOMEM));
	good = lines(&reading);
	if (good && begin(&reading))
		fmt_finish(flow, &end);
	for (size_t i = 0; reading.types && i < SLOTS; i++)
		if (reading.slot[i].used)
			free(reading.slot[i].name);
	free(reading.slot);
	free(reading.named);
	free(reading.bytes);
	free(reading.data);
	return good ? TOOL_OK : TOOL_FAILURE;
}
