/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_buffers.c - lists the buffers of a file by their headers. The beginning of a buffer follows
 * only from the size in the header of the buffer before it, so a wrong size makes all later buffers
 * unreadable. With --etw-resync, the reader assumes that a buffer with a wrong size has the usual
 * size.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/vec.h"
#include "convert/etw/etw_part.h"
#include "convert/octets.h"

/*
 * Each caller has checked that the bytes are within the file. So if fewer bytes are read, the file
 * has become shorter since then, which is an error.
 */
int etw_read(const struct etw_file *file, uint64_t at, void *to, size_t len)
{
	return file->input.read(file->input.arg, at, to, len) == (int64_t)len ? 0 : EIO;
}

struct list { /* the state of etw_list_buffers() */
	struct etw_file *file;
	struct findings *f;
	/* how many buffers have the flag of lost events, and how many the flag of lost buffers */
	uint32_t lost_events, lost_buffers;
	bool processor_reported, sizes_differ;
};

/*
 * Adds the buffer at the offset "at". A buffer of a processor that the log does not have is added,
 * too, and a finding reports the first one. Returns 0 or ENOMEM.
 */
static int add_buffer(struct list *list, uint64_t at, uint32_t size, const unsigned char *header)
{
	struct etw_file *file = list->file;
	unsigned flag = octets_u16(header + ETW_BUFFER_FLAG);
	unsigned processor = octets_u16(header + ETW_BUFFER_PROCESSOR);
	struct etw_buffer *buffer;

	if (!vec_grow(&file->buffer, file->buffers, 1))
		return ENOMEM;
	/*
	 * Old systems store the number of the processor in one byte. With ETW_FLAG_PROCESSOR the
	 * number has 11 bits.
	 */
	processor &= flag & ETW_FLAG_PROCESSOR ? ETW_PROCESSORS - 1 : 0xff;
	list->lost_events += !!(flag & ETW_FLAG_EVENTS_LOST);
	list->lost_buffers += !!(flag & ETW_FLAG_BUFFER_LOST);
	list->sizes_differ |= file->buffers && file->buffer[file->buffers - 1].size != size;
	if (processor >= file->log.processors && !list->processor_reported) {
		list->processor_reported = true;
		finding(list->f, FINDING_WARNING, "E21", at + ETW_BUFFER_PROCESSOR,
			"buffer %zu is of processor %u; the log has %u processor%s", file->buffers,
			processor, file->log.processors, text_plural(file->log.processors));
	}
	buffer = &file->buffer[file->buffers];
	*buffer = (struct etw_buffer){
		.at = at,
		.sequence = (int64_t)octets_u64(header + ETW_BUFFER_SEQUENCE),
		.size = size,
		.number = (uint32_t)file->buffers,
		.processor = (uint16_t)processor,
		.compressed = flag & ETW_FLAG_COMPRESSED,
	};
	file->buffers++;
	return 0;
}

/*
 * Returns whether the file has only zeros from this offset on. Such zeros are no damage: they are
 * at the end of a file whose space was allocated in advance.
 */
static bool is_zero_from(const struct etw_file *file, uint64_t at)
{
	unsigned char piece[4096];

	while (at < file->input.size) {
		uint64_t rest = file->input.size - at;
		size_t len = rest < sizeof(piece) ? (size_t)rest : sizeof(piece);

		if (etw_read(file, at, piece, len))
			return false;
		for (size_t i = 0; i < len; i++)
			if (piece[i])
				return false;
		at += len;
	}
	return true;
}

/*
 * Handles a size that no buffer can have. Either *at is behind the last buffer, or the header at
 * *at is damaged. If list_all() can continue, the function moves *at to the next buffer and returns
 * true.
 */
static bool step_over(struct list *list, uint64_t *at, uint32_t size)
{
	const struct etw_file *file = list->file;

	if (file->buffers == file->log.buffers_written || is_zero_from(file, *at)) {
		finding(list->f, FINDING_WARNING, "E19", *at,
			"%llu bytes behind the last buffer are not read",
			(unsigned long long)(file->input.size - *at));
		return false;
	}
	finding(list->f, FINDING_DAMAGE, "E04", *at,
		"buffer %zu has %u bytes; wanted at least %d: %s", file->buffers, size,
		ETW_BUFFER_HEADER,
		list->sizes_differ     ? "the rest of the file is not read" :
		file->options.resync   ? "this buffer is skipped" :
					 "the rest of the file is not read (--etw-resync)");
	/* The usual size is known only if all buffers before this one have the same size. */
	if (!file->options.resync || list->sizes_differ)
		return false;
	*at += file->buffer[file->buffers - 1].size;
	return true;
}

/*
 * Lists all buffers. Each step advances by at least the size of a header, so a hostile file cannot
 * make the loop endless.
 */
static int list_all(struct list *list)
{
	struct etw_file *file = list->file;
	uint64_t at = 0;

	while (at < file->input.size) {
		unsigned char header[ETW_BUFFER_HEADER];
		uint32_t size;
		int err;

		if (file->input.size - at < sizeof(header)) {
			finding(list->f, FINDING_WARNING, "E19", at,
				"%llu bytes behind the last buffer are not read",
				(unsigned long long)(file->input.size - at));
			return 0;
		}
		if (etw_read(file, at, header, sizeof(header)))
			return EIO;
		size = octets_u32(header + ETW_BUFFER_SIZE);
		if (size < ETW_BUFFER_HEADER) {
			if (!step_over(list, &at, size))
				return 0;
			continue;
		}
		err = add_buffer(list, at, size, header);
		if (err)
			return err;
		at += size;
	}
	return 0;
}

/*
 * Orders the buffers as etw_walk.c reads them: by processor, then in the sequence in which the
 * processor has filled them.
 */
static int by_order(const void *a, const void *b)
{
	const struct etw_buffer *x = a, *y = b;

	if (x->processor != y->processor)
		return x->processor < y->processor ? -1 : 1;
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * Reads only the headers of 72 bytes, so the list of a large file costs one small read for each
 * buffer. The function compares the number of buffers in the log's header with the list. A finding
 * reports a difference, which is not an error, and other findings report losses.
 */
int etw_list_buffers(struct etw_file *file, struct findings *f)
{
	struct list list = { .file = file, .f = f };
	const struct etw_log *log = &file->log;
	int err = list_all(&list);

	if (err)
		return err;
	/*
	 * The writer of the log stores the number of buffers when it closes the session. If the
	 * file has a different number of buffers, it is incomplete.
	 */
	if (!log->buffers_written)
		finding(f, FINDING_WARNING, "E16", ETW_BUFFER_HEADER, "the session was not closed");
	else if (log->buffers_written != file->buffers)
		finding(f, FINDING_WARNING, "E16", ETW_BUFFER_HEADER,
			"%u buffer%s written, but the file has %zu", log->buffers_written,
			log->buffers_written == 1 ? " was" : "s were", file->buffers);
	if (log->events_lost || log->buffers_lost || list.lost_events || list.lost_buffers)
		finding(f, FINDING_NOTICE, "E22", ETW_BUFFER_HEADER,
			"%u event%s and %u buffer%s were lost; buffers with the mark of lost "
			"events: %u, of lost buffers: %u", log->events_lost,
			text_plural(log->events_lost), log->buffers_lost,
			text_plural(log->buffers_lost), list.lost_events, list.lost_buffers);
	qsort(file->buffer, file->buffers, sizeof(*file->buffer), by_order);
	return 0;
}
