/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_payload.c - checks the payload of a block. This file checks rule B6 of log/FORMAT (the
 * checksum), and each of the rules D, N, I, L and E that concerns a single block.
 *
 * Each DATA block is checked once, after it was read: a plain block here, a packed block where it
 * is unpacked (format_pack.c). The cursor then moves from record to record without further checks.
 * The cursor and ptx_check_log() check the rules that compare blocks (FORMAT D3, I1, L2, E2).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/crc32c.h"
#include "log/format_pack.h"
#include "log/format_skips.h"
#include "log/read_decode.h"

/* FORMAT D2: the only flags that a record of a log has. IDENT exists in rings only. */
#define FLAGS_KNOWN (PTX_RECORD_LEN_MAX | PTX_RECORD_TRUNCATED | PTX_RECORD_LATE)

/* Called for each record of a plain block and each shape of a packed one: the readers' hot path. */
const char *ptx_log_check_kind(const struct ptx_log_block *block, uint32_t len_flags, unsigned type,
			       unsigned source)
{
	if (ptx_unlikely(len_flags & ~FLAGS_KNOWN))
		return "a record has flags that do not exist";
	/*
	 * One comparison checks both bounds of a type: type 0 wraps around to the
	 * greatest value.
	 */
	if (ptx_unlikely(type - 1u >= PTX_TYPE_MAX - 1u))
		return "a record's event type is out of range";
	if (ptx_unlikely(source >= block->sources))
		return "a record's thread is not in the block's table";
	return NULL;
}

/*
 * Checks FORMAT D1 and D2 for a plain block. `left` is the number of bytes that remain for records.
 * If a record is longer, the check fails before a byte behind the payload is read. Returns NULL, or
 * the reason of a failure.
 */
static const char *check_data(const struct ptx_log_block *block, const uint8_t *at)
{
	uint64_t table = (uint64_t)block->sources * sizeof(struct ptx_log_source);
	size_t left, size;
	uint32_t records = 0;
	const char *why;

	/* FORMAT D2 requires a record with time_min, and a cursor relies on a first record. */
	if (!block->records)
		return "a block without records";
	/* In a packed block only the lengths are checked; ptx_log_unpack() checks the events. */
	if (block->shapes)
		return ptx_log_check_packed(block);
	if (block->record_bytes + table != block->payload_bytes)
		return "a block has another length than its counts say";
	left = block->record_bytes;
	for (; left; at += size, left -= size, records++) {
		const struct ptx_record *record = (const void *)at;

		/* The header of the record must be inside the payload before its length is read. */
		if (ptx_unlikely(left < sizeof(*record)))
			return "a record's header runs past its block";
		size = ptx_record_size(ptx_record_len(record->len_flags));
		if (ptx_unlikely(size > left))
			return "a record runs past its block";
		why = ptx_log_check_kind(block, record->len_flags, record->type, record->source);
		if (ptx_unlikely(why))
			return why;
		/*
		 * FORMAT D2. A search by time skips blocks by these bounds. Without this check,
		 * such a search would miss a record outside of the bounds, and a sequential read
		 * would find it.
		 */
		if (ptx_unlikely((int64_t)record->time < block->time_min ||
				 (int64_t)record->time > block->time_max))
			return "a record's time is outside its block's range";
	}
	/* FORMAT D1: the bytes are used up; now the count must agree as well. */
	if (records != block->records)
		return "a block has another count of records than it says";
	return NULL;
}

/*
 * Checks FORMAT N1. A block must not have two names for one type. Returns NULL, or the reason of a
 * failure.
 */
static const char *check_names(const struct ptx_log_block *block, const struct ptx_log_name *name)
{
	/*
	 * There is a counter for each type. A counter cannot overflow, because the second name of a
	 * type ends the check.
	 */
	uint8_t seen[PTX_TYPE_MAX] = { 0 };

	/* With 64 bits the product cannot overflow, so equality proves the count. */
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

/*
 * Checks the form of INDEX and TOP entries, and their order: a binary search finds the first block
 * only if time_top never decreases (FORMAT 3.6). The code in cursor/ checks whether the blocks are
 * there (FORMAT I1). Returns NULL, or the reason of a failure.
 */
static const char *check_places(const struct ptx_log_block *block, const struct ptx_log_place *p)
{
	if (block->payload_bytes != (uint64_t)block->records * sizeof(*p))
		return "a block of the index has another length than its count says";
	for (uint32_t i = 0; i < block->records; i++, p++) {
		/* The reader adds sizes to offsets. With offsets of 48 bits no sum overflows. */
		if (p->offset & 7 || p->offset >= PTX_LOG_OFFSET_MAX)
			return "an offset in the index is impossible";
		if (i && p->time_top < p[-1].time_top)
			return "the index does not rise";
		/*
		 * The search by number relies on the order of first_record, as the search by time
		 * relies on the order of time_top.
		 */
		if (i && p->first_record < p[-1].first_record)
			return "the index counts backwards";
	}
	return NULL;
}

/*
 * Checks that the counts agree with the length, and that types rise, so that no type has two lines.
 * The sums (FORMAT L1, L2) are not checked here. A reader shows the ledger as the writer computed
 * it, and posix_trace_check_np() reports sums that are wrong. Returns NULL, or the reason of a
 * failure.
 */
static const char *check_ledger(const struct ptx_log_block *block, const uint8_t *payload)
{
	const struct ptx_log_type_line *type =
		(const void *)(payload + sizeof(struct ptx_log_line));
	uint32_t before = 0;

	if (block->payload_bytes !=
	    sizeof(struct ptx_log_line) + (uint64_t)block->records * sizeof(*type) +
		    (uint64_t)block->sources * sizeof(struct ptx_log_thread_line))
		return "the ledger has another length than its counts say";
	for (uint32_t i = 0; i < block->records; i++) {
		/*
		 * The types must rise strictly from 1 on: type 0 is not permitted, and no type
		 * occurs twice.
		 */
		if (type[i].type <= before || type[i].type >= PTX_TYPE_MAX)
			return "the ledger's event types are out of range or order";
		before = type[i].type;
	}
	return NULL;
}

/*
 * Checks the END block. Returns NULL, or the reason of a failure. A later minor version may have a
 * longer END block. The offsets are only candidates: the cursor reads the blocks at these offsets
 * and checks the blocks.
 */
static const char *check_end(const struct ptx_log_block *block, const struct ptx_log_end *end)
{
	/* In a later version payload_bytes may be larger. */
	if (block->payload_bytes < sizeof(*end))
		return "the END block is too short";
	if ((end->names_offset | end->ledger_offset | end->top_offset | end->lists_offset) & 7)
		return "an offset in the END block is impossible";
	return NULL;
}

/*
 * The checksum is compared first (FORMAT B6). So damaged bytes do not reach the other checks. The
 * other checks are necessary because a forged log has correct checksums.
 */
const char *ptx_log_check_sum(const struct ptx_log_block *block, const void *stored, size_t bytes)
{
	uint32_t crc = ptx_crc32c(0, stored, bytes);

	/*
	 * For the same reason as CHECKSUM_IS() in read_decode.c, a build for fuzzing accepts any
	 * checksum here.
	 */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	crc = block->payload_crc;
#endif
	return crc != block->payload_crc ? "the checksum of a block is wrong" : NULL;
}

const char *ptx_log_check_content(const struct ptx_log_block *block, const void *payload)
{
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
	case PTX_LOG_SKIPS:
		return ptx_log_check_skips(block, payload);
	/* This version does not support the type: a reader skips the block (FORMAT 3.3). */
	default:
		return NULL;
	}
}

/*
 * Only posix_trace_check_np() needs these checks. A reader of events needs neither zero padding nor
 * an exact range of time. This function need not check that each record is inside the range:
 * check_data() or ptx_log_unpack() has compared each record.
 */
const char *ptx_log_check_strictly(const struct ptx_log_block *block, const void *payload)
{
	const uint8_t *at = payload, *end;
	int64_t min = INT64_MAX, max = INT64_MIN;

	/* Only records have padding and times. */
	if (block->type != PTX_LOG_DATA)
		return NULL;
	/* The records were checked or unpacked before, so the last record ends at `end`. */
	for (end = at + block->record_bytes; at < end;) {
		const struct ptx_record *record = (const void *)at;
		size_t len = ptx_record_len(record->len_flags);

		min = (int64_t)record->time < min ? (int64_t)record->time : min;
		max = (int64_t)record->time > max ? (int64_t)record->time : max;
		/*
		 * Padding that is not zero might be bytes of the writer's memory that do not belong
		 * in the log.
		 */
		for (size_t i = sizeof(*record) + len; i < ptx_record_size(len); i++)
			if (at[i])
				return "a record's padding is not zero";
		at += ptx_record_size(len);
	}
	if (min != block->time_min || max != block->time_max)
		return "a block's range of time is wider than its records'";
	return NULL;
}

/*
 * A name in a later block of the log overrides that of an earlier block; both names are equal in a
 * valid log.
 */
void ptx_log_decode_names(const struct ptx_log_block *block, const void *payload,
			  struct ptx_log_known *known)
{
	const struct ptx_log_name *name = payload;

	for (uint32_t i = 0; i < block->records; i++, name++) {
		/* The type is in range, because FORMAT N1 was checked. */
		memcpy(known->name[name->type], name->name, sizeof(name->name));
		known->set[name->type / 64] |= UINT64_C(1) << name->type % 64;
	}
}

/* Subtracts, but never to less than 0: a hostile ledger may have lines that exceed its total. */
static void subtract_events(uint64_t *from, uint64_t events)
{
	*from -= events < *from ? events : *from;
}

/* Subtracts a type's line from the rest, column by column. */
static void read_payload_subtract(struct ptx_ledger_line *from, const struct ptx_ledger_line *line)
{
	subtract_events(&from->called, line->called);
	subtract_events(&from->reported, line->reported);
	subtract_events(&from->unread, line->unread);
	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		subtract_events(&from->lost[cause], line->lost[cause]);
}

/*
 * The caller's ledger changes only after the last allocation. The payload passed check_ledger(), so
 * types are in range and the lines end within it. The line of type 0 is the rest of the total that
 * no type has (FORMAT L2).
 */
int ptx_log_decode_ledger(const struct ptx_log_block *block, const void *payload,
			  struct ptx_ledger *ledger)
{
	const struct ptx_log_line *total = payload;
	const struct ptx_log_type_line *type = (const void *)(total + 1);
	const struct ptx_log_thread_line *from = (const void *)(type + block->records);
	struct ptx_ledger_thread *thread = NULL;

	/*
	 * ptx_ledger_thread() is not used here, because it searches all threads for each line.
	 * A hostile ledger may have 2^29 bytes of lines, and such searches would take far too
	 * long.
	 */
	if (block->sources) {
		thread = calloc(block->sources, sizeof(*thread));
		if (!thread)
			return ENOMEM;
	}
	ptx_ledger_fini(ledger);
	/*
	 * The lines are copied as they are: ptx_check_log() reports whether they add up. The line
	 * of type 0 begins as the total. Then the lines of the other types are subtracted from it.
	 */
	ptx_log_line_load(&ledger->total, total);
	ledger->type[0] = ledger->total;
	for (uint32_t i = 0; i < block->records; i++) {
		ptx_log_line_load(&ledger->type[type[i].type], &type[i].line);
		read_payload_subtract(&ledger->type[0], &ledger->type[type[i].type]);
	}
	for (uint32_t i = 0; i < block->sources; i++) {
		/*
		 * The lines keep the order of the file. The line of pid 0 has the events of no
		 * known thread (FORMAT 3.7).
		 */
		thread[i].pid = from[i].pid;
		thread[i].tid = from[i].tid;
		thread[i].thread = from[i].thread;
		ptx_log_line_load(&thread[i].line, &from[i].line);
	}
	/* A ledger without threads has no array. */
	if (thread) {
		ledger->thread = thread;
		ledger->room = ledger->threads = block->sources;
	}
	return 0;
}
