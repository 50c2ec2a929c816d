/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_encode.c - makes the header of a log, checksums, and the ledger block.
 *
 * Structures are cleared first, so that spare fields and the bytes behind a text do not bring other
 * memory of the program into the file. The byte order is that of the machine (FORMAT 1.3).
 */
#include <pthread.h>
#include <string.h>

#include "base/crc32c.h"
#include "log/format_skips.h"
#include "log/write_encode.h"

/*
 * The checksum is computed in three parts: the bytes before the field, four zeros, and the bytes
 * behind the field. So bytes in constant memory need not be copied.
 */
uint32_t ptx_log_crc_without(const void *bytes, size_t len, size_t field)
{
	/* Every checksum of the format has 4 bytes. */
	static const uint8_t zero[4];
	const uint8_t *from = bytes;
	/* CRC-32C of a part continues with the checksum of the parts before it. */
	uint32_t crc = ptx_crc32c(0, from, field);

	/* The field itself counts as zero (FORMAT 1.3). */
	crc = ptx_crc32c(crc, zero, sizeof(zero));
	return ptx_crc32c(crc, from + field + sizeof(zero), len - field - sizeof(zero));
}

/*
 * Copies a text, shortened to fit with a NUL. The rest of the field is zero, because the caller has
 * cleared the structure.
 */
static void put_text(char *to, size_t room, const char *from)
{
	memcpy(to, from, strnlen(from, room - 1));
}

/*
 * Sets the fields of FORMAT 2.1. ptx_log_mark_compressed() changes some of them for a log with
 * compressed blocks.
 */
void ptx_log_encode_header(struct ptx_log_header *h, const struct ptx_log_facts *facts,
			   const struct ptx_log_origin *origin)
{
	const struct ptx_attr *attr = &facts->attr;

	/* Spare fields and areas are zero. */
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, PTX_LOG_MAGIC, sizeof(h->magic));
	/* A log without compressed blocks has version 1.2, which older readers support. */
	h->version_major = PTX_LOG_MAJOR;
	h->version_minor = PTX_LOG_MINOR;
	h->header_bytes = PTX_LOG_HEADER_BYTES;
	h->byte_order = PTX_LOG_BYTE_ORDER;
	/* Sizes that identify the type of machine (FORMAT H2). */
	h->word_bytes = sizeof(void *);
	h->pthread_bytes = sizeof(pthread_t);
	h->event_set_bytes = PTX_EVENT_SET_BYTES;
	h->record_bytes = sizeof(struct ptx_record);
	h->block_bytes = sizeof(struct ptx_log_block);

	/* The identity of the log, of its writer and of its file (FORMAT R4). */
	memcpy(h->uuid, origin->uuid, sizeof(h->uuid));
	h->log_id = origin->log_id;
	h->begin_time = origin->begin_ns;
	/* The traced process. The writer may be another process. */
	h->pid = facts->pid;
	h->writer_pid = origin->writer.pid;
	h->writer_start = origin->writer.start;
	h->writer_pid_space = origin->writer.pid_space;
	memcpy(h->boot_id, origin->writer.boot_id, sizeof(h->boot_id));
	h->file_device = origin->file.device;
	h->file_inode = origin->file.inode;
	/* The clock of the events, for a reader that needs the precision of their times. */
	h->clock_hz = facts->tick_hz;
	/* These names are for people. Programs compare clock_hz and the boot id instead. */
	put_text(h->clock, sizeof(h->clock), facts->clock);
	put_text(h->host, sizeof(h->host), origin->host);

	/* The attributes, as a program will get them from the log (FORMAT 2.1). */
	h->stream_size = attr->stream_size;
	h->max_data_size = attr->max_data_size;
	h->log_size = attr->log_size;
	h->inheritance = attr->inheritance;
	h->stream_policy = attr->stream_policy;
	h->log_policy = attr->log_policy;
	/*
	 * The flags show whether the program set the policy, and whether the attributes are those
	 * of a stream.
	 */
	h->attr_flags = attr->flags;
	h->clock_resolution = attr->clock_resolution_ns;
	h->creation_time = attr->creation_ns;
	/* Both texts are shortened to fit the field and end with a NUL (FORMAT H6). */
	put_text(h->name, sizeof(h->name), attr->name);
	put_text(h->generation, sizeof(h->generation), attr->generation);
}

/*
 * header_crc covers all bytes before the closing area (FORMAT H3). The closing area has its own
 * checksum.
 */
void ptx_log_seal_header(struct ptx_log_header *header)
{
	header->header_crc = ptx_log_crc_without(header, PTX_LOG_CLOSING_AT,
						 offsetof(struct ptx_log_header, header_crc));
}

/*
 * The closing area has its own checksum, because the writer writes it again without the rest of the
 * header.
 */
void ptx_log_seal_closing(struct ptx_log_closing *closing)
{
	closing->closing_crc = ptx_log_crc_without(closing, sizeof(*closing),
						   offsetof(struct ptx_log_closing, closing_crc));
}

/*
 * A reader of version 1.2 would read compressed bytes as records. The flag makes such a reader
 * refuse the log.
 */
void ptx_log_mark_compressed(struct ptx_log_header *header, int level)
{
	header->version_minor = PTX_LOG_MINOR_COMPRESSED;
	header->flags_incompatible |= PTX_LOG_COMPRESSED_LOG;
	header->compression = level;
}

/*
 * The header has the payload's checksum, so the function computes that checksum before the
 * header's.
 */
void ptx_log_seal_longer_block(struct ptx_log_block *block, size_t header_bytes,
			       size_t payload_bytes)
{
	/* These fields are set in the same way for all types of blocks. */
	block->magic = PTX_LOG_BLOCK_MAGIC;
	block->header_bytes = (uint16_t)header_bytes;
	block->payload_bytes = (uint32_t)payload_bytes;
	block->payload_crc = ptx_crc32c(0, (const uint8_t *)block + header_bytes, payload_bytes);
	block->header_crc = ptx_log_crc_without(block, header_bytes,
						offsetof(struct ptx_log_block, header_crc));
}

/* Readers accept longer headers than this header. */
void ptx_log_seal_block(struct ptx_log_block *block, size_t payload_bytes)
{
	ptx_log_seal_longer_block(block, sizeof(*block), payload_bytes);
}

/* Returns true if any count of the line is not 0. The type then gets a line in the file. */
static bool is_used(const struct ptx_ledger_line *line)
{
	return line->called || ptx_ledger_sum(line);
}

/* Each thread of the ledger has a line, even if all its counts are 0. */
size_t ptx_log_ledger_bytes(const struct ptx_ledger *ledger)
{
	size_t types = 0;

	for (unsigned type = 1; type < PTX_TYPE_MAX; type++)
		/* Type 0 is no type and has no line. */
		types += is_used(&ledger->type[type]);
	return sizeof(struct ptx_log_line) + types * sizeof(struct ptx_log_type_line) +
	       ledger->threads * sizeof(struct ptx_log_thread_line);
}

/*
 * The caller has ptx_log_ledger_bytes() bytes of room. The lines of types are in rising order, as
 * FORMAT 3.7 requires.
 */
void ptx_log_encode_ledger(const struct ptx_ledger *ledger, struct ptx_log_block *block,
			   void *payload)
{
	struct ptx_log_line *total = payload;
	struct ptx_log_type_line *type = (struct ptx_log_type_line *)(total + 1);
	struct ptx_log_thread_line *thread;
	uint32_t types = 0;

	/* The total is the first line of the payload. */
	ptx_log_line_store(total, &ledger->total);
	for (unsigned i = 1; i < PTX_TYPE_MAX; i++) {
		if (!is_used(&ledger->type[i]))
			continue;
		/* There is one line for each type that occurs, in ascending order. */
		type->type = i;
		type->spare = 0;
		ptx_log_line_store(&type->line, &ledger->type[i]);
		type++;
		types++;
	}
	/* The lines of threads begin behind the last line of a type. */
	thread = (struct ptx_log_thread_line *)type;
	for (size_t i = 0; i < ledger->threads; i++, thread++) {
		/*
		 * The identity is as in a table of threads (FORMAT 3.4). The line of pid 0 is of no
		 * known thread (FORMAT 3.7).
		 */
		thread->pid = ledger->thread[i].pid;
		thread->tid = ledger->thread[i].tid;
		thread->thread = ledger->thread[i].thread;
		ptx_log_line_store(&thread->line, &ledger->thread[i].line);
	}
	/*
	 * Both counts are in the header of the block; check_ledger() compares the length with them.
	 */
	block->records = types;
	block->sources = (uint32_t)ledger->threads;
}
