/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_writer.c - collects records in a buffer (WMI_BUFFER_HEADER) and writes it when it is full. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf.h"
#include "convert/etw/etw_part.h"
#include "convert/etw/etw_write.h"
#include "convert/octets.h"

#define FLAG_FLUSHED 0x01
#define TYPE_LOG_HEADER 4
#define STATE_CLOSED 3
#define CLOCK_PERFORMANCE 1
#define CLOCK_SYSTEM 2

/* The number of buffers begins at 1, because buffer 0, which is written last, counts, too. */
int etw_writer_init(struct etw_writer *w, int fd, size_t size)
{
	memset(w, 0, sizeof(*w));
	w->fd = fd;
	w->size = size;
	w->buffers = 1;
	w->buffer = malloc(size);
	return w->buffer ? 0 : ENOMEM;
}

void etw_writer_fini(struct etw_writer *w)
{
	free(w->buffer);
	w->buffer = NULL;
}

/* Writes the buffer at an offset of the file. */
static int write_at(const struct etw_writer *w, uint64_t at)
{
	const unsigned char *p = w->buffer;
	size_t left = w->size;

	while (left) {
		ssize_t n = pwrite(w->fd, p, left, (off_t)at);

		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0) {
			p += n;
			left -= (size_t)n;
			at += (uint64_t)n;
		}
	}
	return 0;
}

/*
 * Completes the buffer's header. The rest of the buffer is filled with 0xff, which ends the
 * records. If "begun" is true, the buffer is the first of the file, and its header has no stamp.
 */
static void put_header(struct etw_writer *w, uint32_t sequence, unsigned flag, unsigned type,
		       bool begun)
{
	unsigned char *b = w->buffer;
	uint32_t filled = (uint32_t)w->filled;

	memset(b, 0, ETW_BUFFER_HEADER);
	memset(b + w->filled, 0xff, w->size - w->filled);
	octets_put(b + ETW_BUFFER_SIZE, w->size, 4);
	octets_put(b + ETW_BUFFER_SAVED, filled, 4);
	octets_put(b + 0x08, begun ? filled : w->size + filled, 4);
	octets_put(b + 0x10, begun ? 0 : (uint64_t)w->stamp, 8);
	octets_put(b + ETW_BUFFER_SEQUENCE, sequence, 8);
	octets_put(b + 0x2a, 1, 2);
	octets_put(b + ETW_BUFFER_STATE, STATE_CLOSED, 4);
	octets_put(b + ETW_BUFFER_OFFSET, filled, 4);
	octets_put(b + ETW_BUFFER_FLAG, flag, 2);
	octets_put(b + 0x36, type, 2);
}

/* Writes the open buffer, if any. Buffer 0 remains free for the header. */
static int close_buffer(struct etw_writer *w, bool last)
{
	int err;

	if (!w->filled)
		return 0;
	put_header(w, w->buffers, ETW_FLAG_PROCESSOR | (last ? FLAG_FLUSHED : 0), 0, false);
	err = write_at(w, (uint64_t)w->buffers * w->size);
	w->buffers++;
	w->filled = 0;
	return err;
}

/*
 * A record never crosses the end of a buffer. If the record does not fit into the open buffer, the
 * function writes this buffer and begins the next one.
 */
int etw_writer_add(struct etw_writer *w, int64_t stamp, const void *header, size_t header_len,
		   const void *payload, size_t payload_len)
{
	/* Records are aligned to 8 bytes. */
	size_t len = header_len + payload_len, padded = (len + 7) & ~(size_t)7;

	if (padded > w->size - ETW_BUFFER_HEADER)
		return EMSGSIZE;
	if (w->filled + padded > w->size) {
		int err = close_buffer(w, false);

		if (err)
			return err;
	}
	if (!w->filled)
		w->filled = ETW_BUFFER_HEADER;
	memcpy(w->buffer + w->filled, header, header_len);
	if (payload_len)
		memcpy(w->buffer + w->filled + header_len, payload, payload_len);
	memset(w->buffer + w->filled + len, 0, padded - len);
	w->filled += padded;
	w->stamp = stamp;
	return 0;
}

/*
 * The first buffer is written last. Until then the file has no header, so programs that read ETW
 * logs refuse the file.
 */
int etw_writer_end(struct etw_writer *w, const void *log_record, size_t len)
{
	int err = close_buffer(w, true);

	if (err)
		return err;
	if (len > w->size - ETW_BUFFER_HEADER)
		return EMSGSIZE;
	memcpy(w->buffer + ETW_BUFFER_HEADER, log_record, len);
	w->filled = ETW_BUFFER_HEADER + len;
	while (w->filled % 8)
		w->buffer[w->filled++] = 0;
	put_header(w, 0, ETW_FLAG_PROCESSOR | FLAG_FLUSHED, TYPE_LOG_HEADER, true);
	return write_at(w, 0);
}

/* The header type 20 is FULL_HEADER64, and 0xc0 the marker of all such headers. */
void etw_put_full(unsigned char header[ETW_FULL_BYTES], const struct etw_full *full, size_t size)
{
	unsigned char *p = octets_put(header, size, 2);

	p = octets_put(p, 20, 1);
	p = octets_put(p, 0xc0, 1);
	p = octets_put(p, full->type, 1);
	p = octets_put(p, full->level, 1);
	p = octets_put(p, full->version, 2);
	p = octets_put(p, full->tid, 4);
	p = octets_put(p, full->pid, 4);
	p = octets_put(p, (uint64_t)full->stamp, 8);
	memcpy(p, full->guid, ETW_GUID_BYTES);
	octets_put(p + ETW_GUID_BYTES, 0, 8); /* no CPU time is known */
}

/*
 * A character beyond U+FFFF becomes two surrogates. A text that is too long ends between two
 * characters.
 */
size_t etw_put_utf16(const char *text, unsigned char *to, size_t room)
{
	const char *end = text + strlen(text);
	size_t used = 0;

	while (text < end) {
		uint32_t c;
		size_t n = utf8_take(text, (size_t)(end - text), &c), bytes;

		if (!n)
			c = UTF_REPLACEMENT;
		bytes = c < 0x10000 ? 2 : 4;
		if (used + bytes + 2 > room)
			break;
		if (bytes == 4) {
			octets_put(to + used, 0xd800 + ((c - 0x10000) >> 10), 2);
			octets_put(to + used + 2, 0xdc00 + ((c - 0x10000) & 0x3ff), 2);
		} else {
			octets_put(to + used, c, 2);
		}
		used += bytes;
		text += n ? n : 1;
	}
	octets_put(to + used, 0, 2);
	return used + 2;
}

/*
 * The offsets are the offsets of TRACE_LOGFILE_HEADER on 64-bit systems. Fields for which an export
 * has no value get the values of a usual system.
 */
size_t etw_put_log(unsigned char record[ETW_LOG_RECORD_MAX], const struct etw_new_log *log)
{
	unsigned char *p = record + 32;
	size_t size = 32 + ETW_LOG_HEADER64;

	memset(record, 0, ETW_LOG_RECORD_MAX);
	octets_put(p, ETW_WRITE_BUFFER, 4);
	octets_put(p + 4, 0x05010000 | 10, 4);  /* 10.0.1.5 */
	octets_put(p + 8, 19041, 4);
	octets_put(p + 0x0c, 1, 4);             /* processors */
	octets_put(p + 0x10, (uint64_t)log->end, 8);
	octets_put(p + 0x18, 156250, 4);
	octets_put(p + 0x20, 1, 4);             /* sequential */
	octets_put(p + 0x24, log->buffers, 4);
	octets_put(p + 0x28, 1, 4);
	octets_put(p + 0x2c, 8, 4);
	octets_put(p + 0x30, log->events_lost, 4);
	octets_put(p + 0x34, 1000, 4);          /* MHz */
	octets_put(p + 0xf8, (uint64_t)log->start - 10000000, 8);
	octets_put(p + 0x100, log->filetime ? 10000000 : 1000000000, 8);
	octets_put(p + 0x108, (uint64_t)log->start, 8);
	octets_put(p + 0x110, log->filetime ? CLOCK_SYSTEM : CLOCK_PERFORMANCE, 4);
	size += etw_put_utf16(log->session, record + size, 1024);
	size += etw_put_utf16(log->file, record + size, 1024);
	octets_put(record, 2, 2);               /* version */
	octets_put(record + 2, 2, 1);           /* SYSTEM64 */
	octets_put(record + 3, 0xc0, 1);
	octets_put(record + 4, size, 2);
	octets_put(record + 12, log->pid, 4);
	octets_put(record + 16, (uint64_t)(log->filetime ? log->start : ETW_STAMP0), 8);
	return size;
}
