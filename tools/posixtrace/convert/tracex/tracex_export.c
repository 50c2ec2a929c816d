/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_export.c - converts a flow of events into a trace buffer that TraceX opens.
 *
 * The registry precedes the events, and the length of a tick depends on the time of the last event.
 * So the sink keeps the events in a temporary file (the spool), as entries with times in
 * nanoseconds. A log that was imported from a trace buffer has the header and the entries of this
 * buffer. tracex_rebuild.c writes them unchanged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/spool.h"
#include "convert/octets.h"
#include "convert/tracex/tracex_export.h"
#include "convert/tracex/tracex_names.h"

/*
 * The ids of event types in the buffer: types of the user have ids from USER_FIRST on, predefined
 * types of POSIX from SYSTEM_FIRST + 1 on. Addresses have 32 bits, so the buffer must end below 4
 * GiB. ENTRIES_MAX leaves 2 MiB for header and registry.
 */
#define USER_FIRST 4096u
#define SYSTEM_FIRST 65527u
#define ENTRIES_MAX ((UINT64_C(1) << 27) - (1u << 16))
#define NANOSECONDS 1000000000

/*
 * Creates the side file. The sink does this first, so that an existing file of this name is refused
 * before any output is written. There is no side file for a pipe, because the name of the side file
 * is made from the name of the output. Returns -1 after it printed an error.
 */
static int create_names(struct tracex_sink *s, const struct fmt_output *output)
{
	if (!output->is_file)
		return 0;
	if (asprintf(&s->names_path, "%s.trxc", output->shown) < 0) {
		s->names_path = NULL;
		return ENOMEM;
	}
	if (!outfile_create(&s->names, s->names_path,
			    output->force ? OUTFILE_REPLACE : OUTFILE_REFUSE))
		return 0;
	free(s->names_path);
	s->names_path = NULL;
	return -1;
}

/*
 * The function sets *context as soon as the object exists, so that tracex_sink_close() frees the
 * object after an error.
 */
int tracex_sink_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	const char *fields = fmt_option(flow, "tracex-fields");
	struct tracex_sink *s;
	int err;

	if (fields && strcmp(fields, "len") != 0) {
		fmt_option_wrong(flow, "tracex-fields", "len");
		return -1;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return ENOMEM;
	*context = s;
	s->flow = flow;
	s->output = output;
	s->spool.fd = -1;
	s->with_len = fields != NULL;
	err = spool_create_or_say(&s->spool.fd);
	return err ? err : create_names(s, output);
}

/* If put_names() has not completed the side file, this function drops it. */
void tracex_sink_close(void *context)
{
	struct tracex_sink *s = context;

	if (!s)
		return;
	if (s->spool.fd >= 0)
		close(s->spool.fd);
	if (s->names_path)
		outfile_drop(&s->names);
	free(s->names_path);
	tracex_pairs_free(&s->pairs);
	free(s->slots);
	free(s);
}

int tracex_sink_object(void *context, const struct fmt_object *object)
{
	struct tracex_sink *s = context;

	return tracex_pairs_object(&s->pairs, object);
}

/*
 * Returns the id of an event type. A predefined type has an id in a separate range. The id of any
 * other type depends on its number in the log or, without such a number, on its place in the flow.
 * If all ids are in use, further types share the first id.
 */
static uint32_t id_of(const struct fmt_type *type)
{
	unsigned id = type->id;

	if (id && id < POSIX_TRACE_UNNAMED_USER_EVENT)
		return SYSTEM_FIRST + id;
	if (!id)
		id = POSIX_TRACE_UNNAMED_USER_EVENT + 1 + (unsigned)type->index;
	id += USER_FIRST - POSIX_TRACE_UNNAMED_USER_EVENT;
	return id <= SYSTEM_FIRST ? id : USER_FIRST;
}

/*
 * Appends an entry of TRACEX_ENTRY_BYTES to the spool. Returns 0, the error number of a write, or
 * -1 after a message that there are too many events.
 */
int tracex_sink_spool(struct tracex_sink *s, const unsigned char *entry)
{
	if (s->events >= ENTRIES_MAX) {
		say("%s: more than %llu events: split the log by time first", s->output->shown,
		    (unsigned long long)ENTRIES_MAX);
		return -1;
	}
	out_bytes(&s->spool, entry, TRACEX_ENTRY_BYTES);
	s->events++;
	return s->spool.err;
}

/*
 * An entry has room for 16 bytes of data. Longer data loses its end. With --tracex-fields=len the
 * first 4 bytes have the length and, in the upper two bits, the truncation.
 */
static void put_data(const struct tracex_sink *s, const struct fmt_event *event, unsigned char *to)
{
	size_t room = 16;

	if (s->with_len) {
		uint32_t len =
			event->data_len < 0x3fffffff ? (uint32_t)event->data_len : 0x3fffffff;

		to = octets_put(to, len | (uint32_t)event->truncation << 30, 4);
		room -= 4;
	}
	if (event->data_len)
		memcpy(to, event->data, event->data_len < room ? event->data_len : room);
}

/*
 * TraceX would treat an event that is older than its predecessor as an overflow of the timer. So
 * such an event gets the time of its predecessor, and is counted. A time may be any number of 64
 * bits, so differences are computed with unsigned numbers, which cannot overflow.
 */
int tracex_sink_event(void *context, const struct fmt_event *event)
{
	struct tracex_sink *s = context;
	unsigned char entry[TRACEX_ENTRY_BYTES] = { 0 };
	uint64_t thread = event->thread ? event->thread : event->tid;
	uint32_t token = TRACEX_CONTEXT_INITIALIZE;
	int64_t time_ns = event->time_ns;

	if (tracex_rebuild_wants(s, event))
		return tracex_rebuild_event(s, event);
	if (!s->events)
		s->first_ns = s->last_ns = time_ns;
	if (time_ns < s->last_ns) {
		time_ns = s->last_ns;
		s->backward++;
	}
	s->last_ns = time_ns;
	if (event->pid || thread) {
		int err = tracex_pairs_token(&s->pairs, event->pid, thread, &token);

		if (err)
			return err;
	}
	/*
	 * The nanoseconds are stored in the places of the stamp and of the priority word, until
	 * put_entries() replaces them by ticks.
	 */
	octets_put(entry, token, 4);
	octets_put(entry + 4, (uint64_t)time_ns - (uint64_t)s->first_ns, 4);
	octets_put(entry + 8, id_of(event->type), 4);
	octets_put(entry + 12, ((uint64_t)time_ns - (uint64_t)s->first_ns) >> 32, 4);
	put_data(s, event, entry + 16);
	return tracex_sink_spool(s, entry);
}

/*
 * Writes the header. The base address is 0, so that addresses are offsets in the file. The header
 * describes a full buffer whose first entry is the oldest one.
 */
static void put_header(struct tracex_sink *s, uint64_t slots, uint64_t entries)
{
	unsigned char header[TRACEX_HEADER_BYTES], *p = header;
	uint64_t registry_end = TRACEX_HEADER_BYTES +
				slots * (TRACEX_SLOT_BYTES + TRACEX_NAME_BYTES);

	p = octets_put(p, TRACEX_ID, 4);
	p = octets_put(p, 0xffffffff, 4);
	p = octets_put(p, 0, 4);
	p = octets_put(p, TRACEX_HEADER_BYTES, 4);
	p = octets_put(p, 0, 2);
	p = octets_put(p, TRACEX_NAME_BYTES, 2);
	p = octets_put(p, registry_end, 4);
	p = octets_put(p, registry_end, 4);
	p = octets_put(p, registry_end + entries * TRACEX_ENTRY_BYTES, 4);
	p = octets_put(p, registry_end, 4);
	p = octets_put(p, 0xaaaaaaaa, 4);
	p = octets_put(p, 0xbbbbbbbb, 4);
	octets_put(p, 0xcccccccc, 4);
	out_bytes(s->output->out, header, sizeof(header));
}

/*
 * Writes the slot of a timer that never existed. The name of the slot has the length of a tick, and
 * its parameters have the time of the first event. Without this slot a dump has no absolute time;
 * see tracex_source_clock.c. The parameters cannot have a time before 1970 or after 2106.
 */
static void put_clock(struct tracex_sink *s, uint64_t tick)
{
	/* room for any number, although a tick has at most 11 digits */
	char name[sizeof(TRACEX_CLOCK_NAME) + 20];
	int64_t ns = s->first_ns % NANOSECONDS, seconds = s->first_ns / NANOSECONDS;

	if (ns < 0) {
		ns += NANOSECONDS;
		seconds--;
	}
	if (seconds < 0 || seconds > UINT32_MAX) {
		fmt_fault(s->flow, FMT_WARN, FMT_NO_OFFSET, NULL,
			  "the first event is before 1970 or after 2106: times in %s begin with "
			  "1970",
			  s->output->shown);
		seconds = ns = 0;
	}
	snprintf(name, sizeof(name), TRACEX_CLOCK_NAME, (unsigned long long)tick);
	tracex_pairs_put_slot(s->output->out, TRACEX_TIMER, TRACEX_CLOCK_POINTER, (uint32_t)seconds,
			      (uint32_t)ns, name);
}

/*
 * Writes a RUNNING event. The sink adds such events to a buffer with fewer than two entries,
 * because TraceX reads the second entry without a check.
 */
static void put_running(struct tracex_sink *s)
{
	unsigned char entry[TRACEX_ENTRY_BYTES] = { 0 };

	octets_put(entry, TRACEX_CONTEXT_INITIALIZE, 4);
	octets_put(entry + 8, TRACEX_RUNNING, 4);
	out_bytes(s->output->out, entry, sizeof(entry));
}

/*
 * Copies the spool and replaces the nanoseconds by ticks. The spool has only whole entries, so each
 * piece ends between two entries.
 */
static int put_entries(struct tracex_sink *s, uint64_t tick)
{
	unsigned char piece[1024 * TRACEX_ENTRY_BYTES];
	off_t at = 0;

	for (;;) {
		ssize_t n = pread(s->spool.fd, piece, sizeof(piece), at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : 0;
		at += n;
		for (unsigned char *p = piece; p + TRACEX_ENTRY_BYTES <= piece + n;
		     p += TRACEX_ENTRY_BYTES) {
			uint64_t ns = octets_u32(p + 4) | (uint64_t)octets_u32(p + 12) << 32;

			octets_put(p + 4, 0, 4);
			octets_put(p + 12, ns / tick, 4);
			out_bytes(s->output->out, p, TRACEX_ENTRY_BYTES);
		}
	}
}

/*
 * Writes the side file. The struct out is allocated, because its buffer is too large for the stack.
 * After success the side file is closed, and tracex_sink_close() does not drop it.
 */
static int put_names(struct tracex_sink *s)
{
	struct out *out;
	int status;

	if (!s->names_path)
		return 0;
	out = malloc(sizeof(*out));
	if (!out)
		return ENOMEM;
	out->used = 0;
	out->err = 0;
	out->fd = s->names.fd;
	out_str(out, "Start\n");
	for (size_t i = 0; i < fmt_types(s->flow); i++) {
		const struct fmt_type *type = fmt_type_at(s->flow, i);

		tracex_names_put(out, id_of(type), type->name, type->name_len);
	}
	out_str(out, "End\n");
	if (out_flush(out)) {
		say("%s: %s", s->names_path, strerror(out->err));
		status = TOOL_FAILURE;
	} else {
		status = outfile_keep(&s->names);
	}
	free(out);
	if (status)
		return -1;
	outfile_close(&s->names);
	free(s->names_path);
	s->names_path = NULL;
	return 0;
}

/* The tick is the least power of ten, in nanoseconds, for which all times fit in 32 bits. */
int tracex_sink_end(void *context, const struct fmt_end *end)
{
	struct tracex_sink *s = context;
	uint64_t span = (uint64_t)s->last_ns - (uint64_t)s->first_ns, tick = 1, missing;
	int err = out_flush(&s->spool);

	(void)end;
	if (err)
		return err;
	if (s->rebuild)
		return tracex_rebuild_end(s);
	while (span / tick > UINT32_MAX)
		tick *= 10;
	missing = s->events < 2 ? 2 - s->events : 0;
	tracex_pairs_omit_threads(&s->pairs);
	put_header(s, tracex_pairs_slots(&s->pairs) + 1, s->events + missing);
	put_clock(s, tick);
	tracex_pairs_put(&s->pairs, s->output->out);
	for (; missing; missing--)
		put_running(s);
	err = put_entries(s, tick);
	if (s->backward)
		fmt_fault(s->flow, FMT_WARN, FMT_NO_OFFSET, NULL,
			  "events that are older than the event before them, and get its time in "
			  "%s: %llu",
			  s->output->shown, (unsigned long long)s->backward);
	return err ? err : put_names(s);
}
