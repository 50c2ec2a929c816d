/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_payload.c - what may stand behind a block's header: the rules B6, D, N, I, L and E that
 * can be told from the block alone.
 *
 * A DATA block is walked once, when it was read: a plain one here, a packed one where it is
 * unpacked. The cursor then steps through it without looking left or right.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/crc32c.h"
#include "log/format_pack.h"
#include "log/read_decode.h"

#define FLAGS_KNOWN (PTX_RECORD_LEN_MAX | PTX_RECORD_TRUNCATED | PTX_RECORD_LATE)

const char *ptx_log_check_kind(const struct ptx_log_block *block, uint32_t len_flags, unsigned type,
			       unsigned source)
{
	if (ptx_unlikely(len_flags & ~FLAGS_KNOWN))
		return "a record has flags that do not exist";
	if (ptx_unlikely(type - 1u >= PTX_TYPE_MAX - 1u))
		return "a record's event type is out of range";
	if (ptx_unlikely(source >= block->sources))
		return "a record's thread is not in the block's table";
	return NULL;
}

static const char *check_data(const struct ptx_log_block *block, const uint8_t *at)
{
	uint64_t table = (uint64_t)block->sources * sizeof(struct ptx_log_source);
	size_t left, size;
	uint32_t records = 0;
	const char *why;

	if (!block->records)
		return "a block without records";
	if (block->shapes)
		return ptx_log_check_packed(block);
	if (block->record_bytes + table != block->payload_bytes)
		return "a block has another length than its counts say";
	left = block->record_bytes;
	for (; left; at += size, left -= size, records++) {
		const struct ptx_record *record = (const void *)at;

		if (ptx_unlikely(left < sizeof(*record)))
			return "a record's header runs past its block";
		size = ptx_record_size(ptx_record_len(record->len_flags));
		if (ptx_unlikely(size > left))
			return "a record runs past its block";
		why = ptx_log_check_kind(block, record->len_flags, record->type, record->source);
		if (ptx_unlikely(why))
			return why;
		if (ptx_unlikely((int64_t)record->time < block->time_min ||
				 (int64_t)record->time > block->time_max))
			return "a record's time is outside its block's range";
	}
	if (records != block->records)
		return "a block has another count of records than it says";
	return NULL;
}

static const char *check_names(const struct ptx_log_block *block, const struct ptx_log_name *name)
{
	uint8_t seen[PTX_TYPE_MAX] = { 0 };

	if (block->payload_bytes != (uint64_t)block->records * sizeof(*name))
		return "a block of names has another length than its count says";
	for (uint32_t i = 0; i < block->records; i++, name++) {
		if (!name->type || name->type >= PTX_TYPE_MAX)
			return "a name's event type is out of range";
		if (!memchr(name->name, 0, sizeof(name->name)))
			return "a name has no end";
		if (seen[name->type]++)
			return "an event type has two names";
	}
	return NULL;
}

static const char *check_places(const struct ptx_log_block *block, const struct ptx_log_place *p)
{
	if (block->payload_bytes != (uint64_t)block->records * sizeof(*p))
		return "a block of the index has another length than its count says";
	for (uint32_t i = 0; i < block->records; i++, p++) {
		if (p->offset & 7 || p->offset >= PTX_LOG_OFFSET_MAX)
			return "an offset in the index is impossible";
		if (i && p->time_top < p[-1].time_top)
			return "the index does not rise";
		if (i && p->first_record < p[-1].first_record)
			return "the index counts backwards";
	}
	return NULL;
}

static const char *check_ledger(const struct ptx_log_block *block, const uint8_t *payload)
{
	const struct ptx_log_type_line *type =
		(const void *)(payload + sizeof(struct ptx_ledger_line));
	uint32_t before = 0;

	if (block->payload_bytes !=
	    sizeof(struct ptx_ledger_line) + (uint64_t)block->records * sizeof(*type) +
		    (uint64_t)block->sources * sizeof(struct ptx_log_thread_line))
		return "the ledger has another length than its counts say";
	for (uint32_t i = 0; i < block->records; i++) {
		if (type[i].type <= before || type[i].type >= PTX_TYPE_MAX)
			return "the ledger's event types are out of range or order";
		before = type[i].type;
	}
	return NULL;
}

static const char *check_end(const struct ptx_log_block *block, const struct ptx_log_end *end)
{
	if (block->payload_bytes < sizeof(*end))
		return "the END block is too short";
	if ((end->names_offset | end->ledger_offset | end->top_offset | end->lists_offset) & 7)
		return "an offset in the END block is impossible";
	return NULL;
}

const char *ptx_log_check_payload(const struct ptx_log_block *block, const void *payload)
{
	uint32_t crc = ptx_crc32c(0, payload, block->payload_bytes);

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	crc = block->payload_crc;
#endif
	if (crc != block->payload_crc)
		return "the checksum of a block is wrong";
	switch (block->type) {
	case PTX_LOG_DATA:
		return check_data(block, payload);
	case PTX_LOG_NAMES:
		return check_names(block, payload);
	case PTX_LOG_INDEX:
	case PTX_LOG_TOP:
		return check_places(block, payload);
	case PTX_LOG_LEDGER:
		return check_ledger(block, payload);
	case PTX_LOG_END:
		return check_end(block, payload);
	case PTX_LOG_SCHEMAS:
		return ptx_log_check_schemas(block, payload);
	case PTX_LOG_OBJECTS:
		return ptx_log_check_objects(block, payload);
	case PTX_LOG_MAPPINGS:
		return ptx_log_check_mappings(block, payload);
	default:
		return NULL;
	}
}

const char *ptx_log_check_strictly(const struct ptx_log_block *block, const void *payload)
{
	const uint8_t *at = payload, *end;
	int64_t min = INT64_MAX, max = INT64_MIN;

	if (block->type != PTX_LOG_DATA)
		return NULL;
	for (end = at + block->record_bytes; at < end;) {
		const struct ptx_record *record = (const void *)at;
		size_t len = ptx_record_len(record->len_flags);

		min = (int64_t)record->time < min ? (int64_t)record->time : min;
		max = (int64_t)record->time > max ? (int64_t)record->time : max;
		for (size_t i = sizeof(*record) + len; i < ptx_record_size(len); i++)
			if (at[i])
				return "a record's padding is not zero";
		at += ptx_record_size(len);
	}
	if (min != block->time_min || max != block->time_max)
		return "a block's range of time is wider than its records'";
	return NULL;
}

void ptx_log_decode_names(const struct ptx_log_block *block, const void *payload,
			  struct ptx_log_known *known)
{
	const struct ptx_log_name *name = payload;

	for (uint32_t i = 0; i < block->records; i++, name++) {
		memcpy(known->name[name->type], name->name, sizeof(name->name));
		known->set[name->type / 64] |= UINT64_C(1) << name->type % 64;
	}
}

static void take(uint64_t *from, uint64_t events)
{
	*from -= events < *from ? events : *from;
}

static void subtract(struct ptx_ledger_line *from, const struct ptx_ledger_line *line)
{
	take(&from->called, line->called);
	take(&from->reported, line->reported);
	take(&from->unread, line->unread);
	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		take(&from->lost[cause], line->lost[cause]);
}

/* The line of type 0 is the rest of the total (FORMAT L2). */
int ptx_log_decode_ledger(const struct ptx_log_block *block, const void *payload,
			  struct ptx_ledger *ledger)
{
	const struct ptx_ledger_line *total = payload;
	const struct ptx_log_type_line *type = (const void *)(total + 1);
	const struct ptx_log_thread_line *from = (const void *)(type + block->records);
	struct ptx_ledger_thread *thread = NULL;

	/* Not by ptx_ledger_thread(): its search would take for ever in a table made for that. */
	if (block->sources) {
		thread = calloc(block->sources, sizeof(*thread));
		if (!thread)
			return ENOMEM;
	}
	ptx_ledger_fini(ledger);
	ledger->total = *total;
	ledger->type[0] = *total;
	for (uint32_t i = 0; i < block->records; i++) {
		ledger->type[type[i].type] = type[i].line;
		subtract(&ledger->type[0], &type[i].line);
	}
	for (uint32_t i = 0; i < block->sources; i++) {
		thread[i].pid = from[i].pid;
		thread[i].tid = from[i].tid;
		thread[i].thread = from[i].thread;
		thread[i].line = from[i].line;
	}
	if (thread) {
		ledger->thread = thread;
		ledger->room = ledger->threads = block->sources;
	}
	return 0;
}
