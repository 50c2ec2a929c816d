/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_export.c - the sink "etw": writes a flow of events as a log of ETW.
 *
 * In the file, the names and classes precede the events, and the class of a type may depend on any
 * other type. So the sink keeps the events in a temporary file until the last type is known.
 * Without --etw-plain, the payload of each event begins with the data that is needed to restore the
 * original log.
 */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/say.h"
#include "base/spool.h"
#include "convert/etw/etw_export.h"
#include "convert/octets.h"

#define ID_WIDE 0x80000000u /* the first number that wide_id() assigns */
#define DATA_IN_RECORD (ETW_RECORD_MAX - 1 - ETW_FULL_BYTES - ETW_PREFIX_BYTES)

/* etw_sink_close() frees the context also if the temporary file cannot be made. */
int etw_sink_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	const char *clock = fmt_option(flow, "etw-clock");
	struct etw_sink *s;

	/* Only the source "etw" accepts a number as the value of --etw-clock. */
	if (clock && strcmp(clock, "filetime") != 0 && !fmt_source_is(flow, "etw")) {
		fmt_option_wrong(flow, "etw-clock", "filetime");
		return -1;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return ENOMEM;
	*context = s;
	s->flow = flow;
	s->output = output;
	s->spool.fd = -1;
	s->plain = fmt_flag(flow, "etw-plain");
	s->filetime = clock && !strcmp(clock, "filetime");
	return spool_create_or_say(&s->spool.fd);
}

void etw_sink_close(void *context)
{
	struct etw_sink *s = context;

	if (!s)
		return;
	if (s->spool.fd >= 0)
		close(s->spool.fd);
	etw_writer_fini(&s->writer);
	tdestroy(s->wide, free);
	free(s->log_record);
	free(s);
}

/* The facts are needed at the end, when the header of the log is written. */
int etw_sink_begin(void *context, const struct fmt_facts *facts)
{
	struct etw_sink *s = context;

	s->facts = *facts;
	snprintf(s->session, sizeof(s->session), "%s", facts->name);
	return 0;
}

/*
 * The header of an ETW log has a single count of lost events. So the counts by cause are kept for
 * the records of the registry.
 */
int etw_sink_lost(void *context, const struct fmt_lost *lost)
{
	struct etw_sink *s = context;

	if (lost->counted && lost->cause >= 0 && lost->cause < POSIX_TRACE_LOST_CAUSES_NP)
		s->lost[lost->cause] += lost->count;
	return 0;
}

struct wide {
	uint64_t thread;
	uint32_t id;
};

/* Orders by handle. The handles are in a tree, in which a search is fast for any handles. */
static int compare_wide(const void *a, const void *b)
{
	const struct wide *x = a, *y = b;

	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/*
 * Stores in *id the number of a thread whose handle is ID_WIDE or more. Such threads are numbered
 * in the order of their first use. Returns 0 or ENOMEM.
 */
static int wide_id(struct etw_sink *s, uint64_t thread, uint32_t *id)
{
	struct wide key = { .thread = thread }, **found, *new;

	found = tfind(&key, &s->wide, compare_wide);
	if (found) {
		*id = (*found)->id;
		return 0;
	}
	new = malloc(sizeof(*new));
	if (!new)
		return ENOMEM;
	*new = (struct wide){ .thread = thread, .id = ID_WIDE + s->wide_threads };
	if (!tsearch(new, &s->wide, compare_wide)) {
		free(new);
		return ENOMEM;
	}
	s->wide_threads++;
	*id = new->id;
	return 0;
}

/*
 * ETW has 32 bits for the number of a thread. If the event has the system's number of the thread,
 * the function stores that number. Otherwise it stores the handle, or the number from wide_id() if
 * the handle is ID_WIDE or more. Returns 0 or ENOMEM.
 */
static int thread_id(struct etw_sink *s, const struct fmt_event *event, uint32_t *id)
{
	if (!event->tid && event->thread >= ID_WIDE)
		return wide_id(s, event->thread, id);
	*id = event->tid ? event->tid : (uint32_t)event->thread;
	return 0;
}

/*
 * Appends the event and its data to the temporary file. The times of the first and the last event
 * become the beginning and the end of the log.
 */
int etw_sink_event(void *context, const struct fmt_event *event)
{
	struct etw_sink *s = context;
	struct spooled spooled = {
		.time_ns = event->time_ns,
		.thread = event->thread ? event->thread : event->tid,
		.address = event->address,
		.len = event->data_len,
		.type = (uint32_t)event->type->index,
		.pid = event->pid,
		.truncation = event->truncation,
	};
	int err;

	/* If the log was imported from ETW, the sink writes the original records. */
	if (etw_rewrite_wants(s, event))
		return etw_rewrite_event(s, event);
	err = thread_id(s, event, &spooled.tid);
	if (err)
		return err;
	if (!s->events++)
		s->first_ns = event->time_ns;
	s->last_ns = event->time_ns;
	out_bytes(&s->spool, &spooled, sizeof(spooled));
	out_bytes(&s->spool, event->data, event->data_len);
	return s->spool.err;
}

/*
 * Reads the next bytes of the temporary file. The function uses a buffer, because there are many
 * short events. Returns 0 or an error number.
 */
static int read_spool(struct etw_sink *s, void *to, size_t len)
{
	while (len) {
		size_t n = s->piece_len - s->piece_used;

		if (!n) {
			ssize_t got =
				pread(s->spool.fd, s->piece, sizeof(s->piece), (off_t)s->piece_at);

			if (got < 0 && errno == EINTR)
				continue;
			if (got <= 0)
				return got < 0 ? errno : EIO;
			s->piece_at += (uint64_t)got;
			s->piece_len = (size_t)got;
			s->piece_used = 0;
			continue;
		}
		if (n > len)
			n = len;
		memcpy(to, s->piece + s->piece_used, n);
		s->piece_used += n;
		to = (char *)to + n;
		len -= n;
	}
	return 0;
}

/* FILETIME counts in 100 ns. The time is rounded down. */
static int64_t filetime_of(int64_t ns)
{
	return ns / 100 - (ns % 100 < 0) + ETW_FILETIME_EPOCH;
}

/*
 * Returns the stamp for a time. The difference of two times may need more than 64 bits, so it has
 * 128 bits.
 */
static int64_t stamp_of(const struct etw_sink *s, int64_t start_ns, int64_t ns)
{
	__int128 stamp = (__int128)ns - start_ns + ETW_STAMP0;

	if (s->filetime)
		return filetime_of(ns);
	return stamp > INT64_MAX ? INT64_MAX : stamp < INT64_MIN ? INT64_MIN : (int64_t)stamp;
}

/*
 * Writes an event. Data that does not fit into one record continues in extension records (type 5).
 */
static int put_event(struct etw_sink *s, const struct etw_class *class, const struct spooled *e,
		     int64_t stamp)
{
	static unsigned char piece[ETW_PREFIX_BYTES + DATA_IN_RECORD];
	struct etw_full full = {
		.type = class->type, .level = class->level, .version = !s->plain,
		.tid = e->tid, .pid = e->pid, .stamp = stamp,
	};
	size_t prefix = s->plain ? 0 : ETW_PREFIX_BYTES;
	uint64_t left = e->len;
	unsigned char *p = piece;

	memcpy(full.guid, class->guid, ETW_GUID_BYTES);
	/* This is the prefix of ETW_PREFIX_BYTES, which etw_restore.c reads. */
	p = octets_put(p, class->id, 4);
	p = octets_put(p, (uint64_t)e->truncation, 4);
	p = octets_put(p, e->thread, 8);
	octets_put(p, e->address, 8);
	do {
		size_t len = left < DATA_IN_RECORD ? (size_t)left : DATA_IN_RECORD;
		unsigned char header[ETW_FULL_BYTES];
		int err = read_spool(s, piece + prefix, len);

		if (err)
			return err;
		etw_put_full(header, &full, sizeof(header) + prefix + len);
		err = etw_writer_add(&s->writer, stamp, header, sizeof(header), piece,
				     prefix + len);
		if (err)
			return err;
		left -= len;
		full.type = 5;
	} while (left);
	return 0;
}

/* Reads the events back in their order and writes them. */
static int put_events(struct etw_sink *s, const struct etw_class *classes, int64_t start_ns)
{
	for (uint64_t i = 0; i < s->events; i++) {
		struct spooled e;
		int err = read_spool(s, &e, sizeof(e));

		if (!err)
			err = put_event(s, &classes[e.type], &e, stamp_of(s, start_ns, e.time_ns));
		if (err)
			return err;
	}
	return 0;
}

/* Writes the log's header. The header is written last, because it has the number of buffers. */
static int put_log(struct etw_sink *s, int64_t start)
{
	const char *path = s->output->shown;
	unsigned char record[ETW_LOG_RECORD_MAX];
	uint64_t lost = 0;
	struct etw_new_log log = {
		.filetime = s->filetime,
		.pid = s->facts.pid,
		.start = start,
		.end = filetime_of(s->last_ns),
		.buffers = s->writer.buffers + (s->writer.filled > 0),
		.session = s->session,
		.file = path_last(path),
	};

	for (unsigned cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		lost += s->lost[cause];
	log.events_lost = lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX;
	return etw_writer_end(&s->writer, record, etw_put_log(record, &log));
}

/*
 * Writes the registry, the events, the end of the registry and, into the first buffer of the file,
 * the header. For a log that was imported from ETW, etw_rewrite_end() writes the header instead.
 * FILETIME has steps of 100 ns, so the start is rounded down. Stamps that are not FILETIMEs
 * themselves count from the rounded time.
 */
int etw_sink_end(void *context, const struct fmt_end *end)
{
	struct etw_sink *s = context;
	struct etw_class *classes;
	int64_t start, start_ns, stamp0;
	int err = out_flush(&s->spool);

	if (err)
		return err;
	if (s->rewrite)
		return etw_rewrite_end(s);
	if (end->has_ledger)
		memcpy(s->lost, end->ledger.lost, sizeof(s->lost));
	if (!s->events)
		s->first_ns = s->last_ns = s->facts.has_creation ? s->facts.creation_ns : 0;
	start = filetime_of(s->first_ns);
	start_ns = etw_filetime_ns(start);
	stamp0 = s->filetime ? start : ETW_STAMP0;
	classes = etw_classes(s->flow);
	if (!classes)
		return ENOMEM;
	err = etw_writer_init(&s->writer, s->output->fd, ETW_WRITE_BUFFER);
	if (!err)
		err = etw_registry_begin(s, classes, stamp0);
	if (!err)
		err = put_events(s, classes, start_ns);
	if (!err)
		err = etw_registry_end(s, end, stamp_of(s, start_ns, s->last_ns));
	if (!err)
		err = put_log(s, start);
	free(classes);
	return err;
}
