/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <pthread.h>
#include <string.h>

#include "base/crc32c.h"
#include "log/write_encode.h"

uint32_t ptx_log_crc_without(const void *bytes, size_t len, size_t field)
{
	static const uint8_t zero[4];
	const uint8_t *from = bytes;
	uint32_t crc = ptx_crc32c(0, from, field);

	crc = ptx_crc32c(crc, zero, sizeof(zero));
	return ptx_crc32c(crc, from + field + sizeof(zero), len - field - sizeof(zero));
}

/* Text is cut to fit; what is behind it was cleared with the structure. */
static void put_text(char *to, size_t room, const char *from)
{
	memcpy(to, from, strnlen(from, room - 1));
}

void ptx_log_encode_header(struct ptx_log_header *h, const struct ptx_log_facts *facts,
			   const struct ptx_log_origin *origin)
{
	const struct ptx_attr *attr = &facts->attr;

	memset(h, 0, sizeof(*h));
	memcpy(h->magic, PTX_LOG_MAGIC, sizeof(h->magic));
	h->version_major = PTX_LOG_MAJOR;
	h->version_minor = PTX_LOG_MINOR;
	h->header_bytes = PTX_LOG_HEADER_BYTES;
	h->byte_order = PTX_LOG_BYTE_ORDER;
	h->word_bytes = sizeof(void *);
	h->pthread_bytes = sizeof(pthread_t);
	h->event_set_bytes = PTX_EVENT_SET_BYTES;
	h->record_bytes = sizeof(struct ptx_record);
	h->block_bytes = sizeof(struct ptx_log_block);

	memcpy(h->uuid, origin->uuid, sizeof(h->uuid));
	h->log_id = origin->log_id;
	h->begin_time = origin->begin_ns;
	h->pid = facts->pid;
	h->writer_pid = origin->writer.pid;
	h->writer_start = origin->writer.start;
	h->writer_pid_space = origin->writer.pid_space;
	memcpy(h->boot_id, origin->writer.boot_id, sizeof(h->boot_id));
	h->file_device = origin->file.device;
	h->file_inode = origin->file.inode;
	h->clock_hz = facts->tick_hz;
	put_text(h->clock, sizeof(h->clock), facts->clock);
	put_text(h->host, sizeof(h->host), origin->host);

	h->stream_size = attr->stream_size;
	h->max_data_size = attr->max_data_size;
	h->log_size = attr->log_size;
	h->inheritance = attr->inheritance;
	h->stream_policy = attr->stream_policy;
	h->log_policy = attr->log_policy;
	h->attr_flags = attr->flags;
	h->clock_resolution = attr->clock_resolution_ns;
	h->creation_time = attr->creation_ns;
	put_text(h->name, sizeof(h->name), attr->name);
	put_text(h->generation, sizeof(h->generation), attr->generation);
}

void ptx_log_seal_header(struct ptx_log_header *header)
{
	header->header_crc = ptx_log_crc_without(header, PTX_LOG_CLOSING_AT,
						 offsetof(struct ptx_log_header, header_crc));
}

void ptx_log_seal_closing(struct ptx_log_closing *closing)
{
	closing->closing_crc = ptx_log_crc_without(closing, sizeof(*closing),
						   offsetof(struct ptx_log_closing, closing_crc));
}

void ptx_log_seal_block(struct ptx_log_block *block, size_t payload_bytes)
{
	block->magic = PTX_LOG_BLOCK_MAGIC;
	block->header_bytes = sizeof(*block);
	block->payload_bytes = (uint32_t)payload_bytes;
	block->payload_crc = ptx_crc32c(0, block + 1, payload_bytes);
	block->header_crc = ptx_log_crc_without(block, sizeof(*block),
						offsetof(struct ptx_log_block, header_crc));
}

static bool is_used(const struct ptx_ledger_line *line)
{
	return line->called || ptx_ledger_sum(line);
}

size_t ptx_log_ledger_bytes(const struct ptx_ledger *ledger)
{
	size_t types = 0;

	for (unsigned type = 1; type < PTX_TYPE_MAX; type++)
		types += is_used(&ledger->type[type]);
	return sizeof(ledger->total) + types * sizeof(struct ptx_log_type_line) +
	       ledger->threads * sizeof(struct ptx_log_thread_line);
}

void ptx_log_encode_ledger(const struct ptx_ledger *ledger, struct ptx_log_block *block,
			   void *payload)
{
	struct ptx_ledger_line *total = payload;
	struct ptx_log_type_line *type = (struct ptx_log_type_line *)(total + 1);
	struct ptx_log_thread_line *thread;
	uint32_t types = 0;

	*total = ledger->total;
	for (unsigned i = 1; i < PTX_TYPE_MAX; i++) {
		if (!is_used(&ledger->type[i]))
			continue;
		type->type = i;
		type->spare = 0;
		type->line = ledger->type[i];
		type++;
		types++;
	}
	thread = (struct ptx_log_thread_line *)type;
	for (size_t i = 0; i < ledger->threads; i++, thread++) {
		thread->pid = ledger->thread[i].pid;
		thread->tid = ledger->thread[i].tid;
		thread->thread = ledger->thread[i].thread;
		thread->line = ledger->thread[i].line;
	}
	block->records = types;
	block->sources = (uint32_t)ledger->threads;
}
