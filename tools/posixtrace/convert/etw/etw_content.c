/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_content.c - loads one buffer, decompresses it and iterates over its records. The size of a
 * record gives the position of the next record, so the rest of a buffer cannot be read after a
 * damaged size.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/etw/etw_part.h"
#include "convert/octets.h"

#define END_OF_RECORDS 0xffffffffu
#define CONTENT_MAX (64u << 20) /* greatest number of bytes of a decompressed buffer */
/*
 * The greatest accepted ratio of decompressed to compressed bytes, so that a few compressed bytes
 * cannot require much memory. The ratio in real logs is far lower.
 */
#define RATIO_MAX 1024u

void etw_content_free(struct etw_content *content)
{
	free(content->bytes);
	memset(content, 0, sizeof(*content));
}

/*
 * Replaces the compressed bytes by the decompressed bytes. The header is not compressed. If the
 * buffer is damaged, the function drops it with a finding and returns 0, so that the other buffers
 * are still read.
 */
static int load_compressed(const struct etw_file *file, const struct etw_buffer *b, uint32_t there,
			   struct etw_content *content, struct findings *f)
{
	uint32_t size = octets_u32(content->bytes + ETW_BUFFER_SAVED);
	unsigned char *plain;

	if (size < ETW_BUFFER_HEADER || size > file->log.buffer_size || size > CONTENT_MAX ||
	    (uint64_t)size - ETW_BUFFER_HEADER > (uint64_t)there * RATIO_MAX) {
		finding(f, FINDING_DAMAGE, "E12", b->at + ETW_BUFFER_SAVED,
			"buffer %u decompresses to %u bytes; the log has buffers of %u", b->number,
			size, file->log.buffer_size);
		return 0;
	}
	plain = malloc(size);
	if (!plain)
		return ENOMEM;
	memcpy(plain, content->bytes, ETW_BUFFER_HEADER);
	if (!etw_xpress(content->bytes + ETW_BUFFER_HEADER, there - ETW_BUFFER_HEADER,
			plain + ETW_BUFFER_HEADER, size - ETW_BUFFER_HEADER)) {
		finding(f, FINDING_DAMAGE, "E11", b->at + ETW_BUFFER_HEADER,
			"buffer %u of %u bytes does not decompress to %u bytes: its records are "
			"lost",
			b->number, there, size);
		free(plain);
		return 0;
	}
	free(content->bytes);
	content->bytes = plain;
	content->filled = size;
	return 0;
}

/*
 * Returns the offset of the end of the records in a buffer, or 0 for an empty buffer. Writers store
 * this offset in one of two fields. If the offset is outside of the buffer, the function reports
 * this and returns the end of the buffer, so that the whole buffer is read.
 */
static uint32_t filled_end(const struct etw_buffer *b, const unsigned char *header,
			   struct findings *f)
{
	uint32_t end = octets_u32(header + ETW_BUFFER_OFFSET);

	if (!end)
		end = octets_u32(header + ETW_BUFFER_SAVED);
	if (!end)
		return 0;
	if (end >= ETW_BUFFER_HEADER && end <= b->size)
		return end;
	finding(f, FINDING_DAMAGE, "E06", b->at + ETW_BUFFER_OFFSET,
		"buffer %u is filled up to %u of %u bytes", b->number, end, b->size);
	return b->size;
}

/*
 * Reads at most b->size bytes, or the rest of the file if that is shorter. An uncompressed buffer
 * is read only up to the end of its last record.
 */
int etw_content_load(const struct etw_file *file, const struct etw_buffer *b,
		     struct etw_content *content, struct findings *f)
{
	uint64_t rest = file->input.size - b->at;
	uint32_t there = rest < b->size ? (uint32_t)rest : b->size, end;
	unsigned char header[ETW_BUFFER_HEADER];

	memset(content, 0, sizeof(*content));
	content->next = ETW_BUFFER_HEADER;
	content->stamp = file->log.stamp0;
	/*
	 * An incomplete file may end within its last buffer. The existing part of this buffer is
	 * read.
	 */
	if (there < b->size)
		finding(f, FINDING_DAMAGE, "E05", b->at,
			"buffer %u has %u bytes, the file ends after %u of them", b->number,
			b->size, there);
	if (etw_read(file, b->at, header, sizeof(header)))
		return EIO;
	if (!b->compressed) {
		end = filled_end(b, header, f);
		if (end < there)
			there = end;
	}
	if (there <= ETW_BUFFER_HEADER)
		return 0;
	content->bytes = malloc(there);
	if (!content->bytes)
		return ENOMEM;
	if (etw_read(file, b->at, content->bytes, there)) {
		etw_content_free(content);
		return EIO;
	}
	if (b->compressed)
		return load_compressed(file, b, there, content, f);
	content->filled = there;
	return 0;
}

/*
 * Stores the next record and returns true. Returns false behind the last record, or if the next
 * record is damaged. Records are aligned to 8 bytes.
 */
bool etw_content_next(const struct etw_file *file, const struct etw_buffer *b,
		      struct etw_content *content, struct etw_record *record, struct findings *f)
{
	size_t at = content->next;
	const char *why;
	char code[16];
	int fault;

	(void)file;
	if (at + 8 > content->filled || octets_u32(content->bytes + at) == END_OF_RECORDS)
		return false;
	fault = etw_record(content->bytes + at, content->filled - at, record, &why);
	if (fault) {
		/*
		 * The beginning of the next record is not known, so the rest of the buffer is lost.
		 */
		snprintf(code, sizeof(code), "E%02d", fault);
		finding(f, FINDING_DAMAGE, code, b->at + (b->compressed ? 0 : at),
			"buffer %u, offset %zu: %s (it begins with %02x%02x%02x%02x; %zu bytes "
			"are left)", b->number, at, why, content->bytes[at],
			content->bytes[at + 1], content->bytes[at + 2], content->bytes[at + 3],
			content->filled - at);
		content->next = content->filled;
		return false;
	}
	content->next = (at + record->size + 7) & ~(size_t)7;
	/*
	 * A record of a compressed buffer has no offset in the file, so the offset of its buffer is
	 * used.
	 */
	record->at = b->at + (b->compressed ? 0 : at);
	record->processor = b->processor;
	record->sequence = b->sequence;
	/* A record without a stamp gets the stamp of the record before it in the same buffer. */
	if (record->has_stamp)
		content->stamp = record->stamp;
	else
		record->stamp = content->stamp;
	if (record->bad_items)
		finding(f, FINDING_WARNING, "E15", record->at,
			"buffer %u, offset %zu: the extended items are not whole", b->number, at);
	return true;
}
