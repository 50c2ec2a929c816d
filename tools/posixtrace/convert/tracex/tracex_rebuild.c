/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_rebuild.c - writes an imported trace buffer again. Its words have their original values
 * and places, in little endian.
 *
 * The event with the header begins the rebuild. The header is as hostile as any data of a log.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "convert/octets.h"
#include "convert/tracex/tracex_export.h"

/* greatest number of entries without an event; they are 128 MiB of zeros */
#define UNUSED_MAX (1u << 22)
#define GAP_MAX 65536u        /* greatest number of bytes between registry and buffer */

/* The words of the header with the places of the parts. All of them are hostile. */
struct place {
	uint32_t base, registry_start, registry_end, buffer_start, buffer_end, current;
	unsigned name_bytes;
};

static bool is_named(const struct fmt_event *event, const char *name)
{
	return event->type->name_len == strlen(name) && !strcmp(event->type->name, name);
}

static void read_header(const unsigned char *header, struct place *place)
{
	place->base = octets_u32(header + 8);
	place->registry_start = octets_u32(header + 12);
	place->name_bytes = octets_u16(header + 18);
	place->registry_end = octets_u32(header + 20);
	place->buffer_start = octets_u32(header + 24);
	place->buffer_end = octets_u32(header + 28);
	place->current = octets_u32(header + 32);
}

/*
 * Begins a rebuild with this header. Returns false if the export cannot use the header, or if
 * memory is lacking; the log is then exported like any other log. The function checks the number of
 * slots and the size of a slot before it multiplies them.
 */
static bool tracex_rebuild_begin(struct tracex_sink *s, const unsigned char *header)
{
	struct place p;
	uint64_t entries;

	read_header(header, &p);
	if (octets_u32(header) != TRACEX_ID || !p.name_bytes ||
	    p.name_bytes > TRACEX_NAME_BYTES_MAX || p.registry_end < p.registry_start ||
	    p.buffer_end < p.buffer_start)
		return false;
	entries = (p.buffer_end - p.buffer_start) / TRACEX_ENTRY_BYTES;
	s->slot_bytes = TRACEX_SLOT_BYTES + p.name_bytes;
	s->slot_count = (p.registry_end - p.registry_start) / s->slot_bytes;
	/* The number of a slot has 16 bits, so a valid header has at most 65536 slots. */
	if (!entries || s->slot_count > 65536)
		return false;
	s->slots = calloc(s->slot_count ? s->slot_count : 1, s->slot_bytes);
	if (!s->slots)
		return false;
	for (size_t i = 0; i < s->slot_count; i++)
		s->slots[i * s->slot_bytes] = 1; /* never used */
	memcpy(s->header, header, sizeof(s->header));
	return true;
}

/*
 * Only a header in the first event begins a rebuild. Entries of other events before the header
 * would have another form in the spool.
 */
bool tracex_rebuild_wants(struct tracex_sink *s, const struct fmt_event *event)
{
	if (s->rebuild)
		return true;
	if (s->events || !is_named(event, TRACEX_HEADER_EVENT))
		return false;
	if (event->data_len != TRACEX_HEADER_BYTES) {
		fmt_fault(
			s->flow, FMT_NOTICE, FMT_NO_OFFSET, NULL,
			"TraceX does not open the layout of this log: "
			"it is exported like any other log");
		return false;
	}
	s->rebuild = tracex_rebuild_begin(s, event->data);
	return s->rebuild;
}

/*
 * Omits each event whose data does not have the length of an entry, and counts it as foreign.
 * Events of the stream itself are omitted without being counted. The number of a slot is hostile,
 * so the function compares it with the number of slots before use.
 */
int tracex_rebuild_event(struct tracex_sink *s, const struct fmt_event *event)
{
	const unsigned char *data = event->data;

	if (is_named(event, TRACEX_HEADER_EVENT))
		return 0;
	if (is_named(event, TRACEX_OBJECT_EVENT) && event->data_len == 2 + s->slot_bytes) {
		if (octets_u16(data) < s->slot_count)
			memcpy(s->slots + octets_u16(data) * s->slot_bytes, data + 2,
			       s->slot_bytes);
		return 0;
	}
	if (event->type->id && event->type->id < POSIX_TRACE_UNNAMED_USER_EVENT)
		return 0; /* an event of the stream itself */
	if (event->data_len != TRACEX_ENTRY_BYTES) {
		s->foreign++;
		return 0;
	}
	return tracex_sink_spool(s, data);
}

static void put_zeros(struct tracex_sink *s, uint64_t bytes)
{
	static const unsigned char zeros[4096];

	for (; bytes > sizeof(zeros); bytes -= sizeof(zeros))
		out_bytes(s->output->out, zeros, sizeof(zeros));
	out_bytes(s->output->out, zeros, bytes);
}

/* Writes "count" entries from the spool, beginning with the entry number "first". */
static int put_entries(struct tracex_sink *s, uint64_t first, uint64_t count)
{
	unsigned char piece[1024 * TRACEX_ENTRY_BYTES];
	off_t at = (off_t)(first * TRACEX_ENTRY_BYTES);
	uint64_t bytes = count * TRACEX_ENTRY_BYTES;

	while (bytes) {
		ssize_t n = pread(s->spool.fd, piece, bytes < sizeof(piece) ? bytes : sizeof(piece),
				  at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		out_bytes(s->output->out, piece, (size_t)n);
		at += n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

/*
 * Completes the rebuild. The events must fit into the buffer that the header describes. UNUSED_MAX
 * and GAP_MAX bound the number of zeros for a hostile header.
 */
int tracex_rebuild_end(struct tracex_sink *s)
{
	struct place p;
	uint64_t registry, entries, current = 0, gap = 0, unused;
	int err;

	read_header(s->header, &p);
	registry = p.registry_end - p.registry_start;
	entries = (p.buffer_end - p.buffer_start) / TRACEX_ENTRY_BYTES;
	if (s->events > entries || entries - s->events > UNUSED_MAX) {
		say("%s: %llu event%s, but the header of the trace buffer has room for %llu: "
		    "convert one log of one dump",
		    s->output->shown, (unsigned long long)s->events, text_plural(s->events),
		    (unsigned long long)entries);
		return -1;
	}
	if (s->foreign)
		fmt_fault(s->flow, FMT_WARN, FMT_NO_OFFSET, NULL,
			  "events without an entry of ThreadX as their data are left out: %llu",
			  (unsigned long long)s->foreign);
	out_bytes(s->output->out, s->header, sizeof(s->header));
	out_bytes(s->output->out, s->slots, s->slot_count * s->slot_bytes);
	put_zeros(s, registry - s->slot_count * s->slot_bytes);
	if (p.registry_start - p.base == TRACEX_HEADER_BYTES && p.buffer_start > p.registry_end)
		gap = p.buffer_start - p.registry_end;
	if (gap <= GAP_MAX)
		put_zeros(s, gap);
	if (p.current >= p.buffer_start && p.current < p.buffer_end &&
	    (p.current - p.buffer_start) % TRACEX_ENTRY_BYTES == 0)
		current = (p.current - p.buffer_start) / TRACEX_ENTRY_BYTES;
	/*
	 * The youngest entry is directly before "current", and the unused entries begin at
	 * "current". If the events wrap around the end of the buffer, they are written in two
	 * pieces.
	 */
	unused = entries - s->events;
	if (current >= s->events) {
		put_zeros(s, (current - s->events) * TRACEX_ENTRY_BYTES);
		err = put_entries(s, 0, s->events);
		put_zeros(s, (unused - (current - s->events)) * TRACEX_ENTRY_BYTES);
		return err;
	}
	err = put_entries(s, s->events - current, current);
	put_zeros(s, unused * TRACEX_ENTRY_BYTES);
	return err ? err : put_entries(s, 0, s->events - current);
}
