/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_rewrite.c - writes an imported log of ETW again, with its original records and its original
 * header.
 *
 * The new buffers are not compressed and belong to one processor. Some fields of the header are
 * changed: the name of the file, the size and the number of buffers, and the flag for compression.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "convert/etw/etw_export.h"
#include "convert/etw/etw_part.h"
#include "convert/octets.h"
#include "log/etw_tail.h"

#define LARGEST_BUFFER (16u << 20)

/*
 * Reads the header from the data of an event, which is hostile like all data, and replaces the file
 * name in it. Returns false if the data is not a header, or if memory is lacking. In this case the
 * log is exported like any other log.
 */
static bool begin_rewrite(struct etw_sink *s, const unsigned char *data, size_t len)
{
	const char *path = s->output->shown;
	struct etw_record r;
	const char *why;
	size_t fixed, names;
	uint32_t size;

	if (etw_record(data, len, &r, &why) || r.size != len || r.kind != ETW_SYSTEM || r.group ||
	    r.type)
		return false;
	fixed = 32 + (r.header_type == 2 ? ETW_LOG_HEADER64 : ETW_LOG_HEADER32);
	if (len < fixed)
		return false;
	for (names = fixed; names + 2 <= len && octets_u16(data + names); names += 2)
		;
	size = octets_u32(data + 32);
	if (size < ETW_WRITE_BUFFER)
		size = ETW_WRITE_BUFFER + 1024; /* space for the largest possible record */
	if (size > LARGEST_BUFFER)
		size = LARGEST_BUFFER;
	s->log_record = calloc(1, names + 2 + 2048);
	if (!s->log_record || etw_writer_init(&s->writer, s->output->fd, size & ~7u))
		return false;
	memcpy(s->log_record, data, names);
	names += 2; /* the NUL behind the name of the session */
	s->log_record_bytes =
		names + etw_put_utf16(path_last(path), s->log_record + names, 2048);
	if (s->log_record_bytes > UINT16_MAX)
		return false;
	octets_put(s->log_record + 4, s->log_record_bytes, 2);
	octets_put(s->log_record + 32, s->writer.size, 4);
	octets_put(s->log_record + 32 + 0x20,
		   octets_u32(s->log_record + 32 + 0x20) & ~ETW_MODE_COMPRESSED, 4);
	return true;
}

/*
 * An import has kept the header as the first event. If the first event is not a header, the log is
 * exported like any other log.
 */
bool etw_rewrite_wants(struct etw_sink *s, const struct fmt_event *event)
{
	static const char name[] = ETW_HEADER_EVENT;

	if (s->rewrite)
		return true;
	if (s->events || event->type->name_len != sizeof(name) - 1 ||
	    strcmp(event->type->name, name) != 0)
		return false;
	s->rewrite = begin_rewrite(s, event->data, event->data_len);
	return s->rewrite;
}

/*
 * Writes the record that an event has in its data. Events of the stream itself, and events whose
 * data has no record, are not written.
 */
int etw_rewrite_event(struct etw_sink *s, const struct fmt_event *event)
{
	const unsigned char *bytes;
	struct etw_record r;
	const char *why;
	size_t len, tail;

	if (event->type->id && event->type->id < POSIX_TRACE_UNNAMED_USER_EVENT)
		return 0; /* an event of the stream itself */
	if (!strcmp(event->type->name, ETW_HEADER_EVENT))
		return 0;
	bytes = event->data;
	len = event->data_len;
	/* A decoded event has its record at the end of the data. */
	tail = etw_tail(bytes, len);
	if (tail) {
		bytes += len - tail;
		len = tail - ETW_TAIL_BYTES;
	}
	if (etw_record(bytes, len, &r, &why) || r.size != len) {
		s->foreign++;
		return 0;
	}
	s->events++;
	return etw_writer_add(&s->writer, r.stamp, bytes, len, NULL, 0);
}

/* The number of buffers is known only at the end, so this function stores it in the header. */
int etw_rewrite_end(struct etw_sink *s)
{
	if (s->foreign)
		fmt_fault(s->flow, FMT_WARN, FMT_NO_OFFSET, NULL,
			  "events without a record of ETW as their data are left out: %llu",
			  (unsigned long long)s->foreign);
	octets_put(s->log_record + 32 + 0x24, s->writer.buffers + (s->writer.filled > 0), 4);
	return etw_writer_end(&s->writer, s->log_record, s->log_record_bytes);
}
