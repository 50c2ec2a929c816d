/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/check_blocks.c - checks one block against the rules of FORMAT, and against the blocks
 * before it.
 *
 * ptx_log_payload() makes the checks that every reader makes (FORMAT B6, B7). This file adds the
 * rules that a reader of events does not need: exact ranges of time, numbers without gaps, the
 * index, schemas, mappings. Behind a damaged part, the numbers of blocks, the places and the sums
 * cannot agree any more. So the functions do not compare them there, and each damage is reported
 * once.
 *
 * A place (FORMAT 3.6) is an entry of the index: offset and times of a DATA block in an INDEX
 * block, or of an INDEX block in TOP. Rules such as I1 are rules of log/FORMAT.
 */
#include <errno.h>
#include <string.h>

#include "cursor/check_private.h"
#include "log/format_skips.h"
#include "record/schema.h"

/*
 * Remembers a DATA block's place as its writer did (log/write_index.c), so that INDEX blocks can be
 * compared as bytes.
 */
static void note_place(struct ptx_check *check, const struct ptx_log_found *found)
{
	struct ptx_log_place *place;

	if (!ptx_stored_room(&check->place, sizeof(*place), check->places, &check->places_max)) {
		check->err = ENOMEM;
		return;
	}
	if (found->block.time_max > check->time_top)
		check->time_top = found->block.time_max;
	/* The same fields as in log/write_index.c. */
	place = &check->place[check->places++];
	place->offset = found->offset;
	place->first_record = found->block.first_record;
	place->time_min = found->block.time_min;
	place->time_top = check->time_top;
}

/*
 * Checks a DATA block: its first event must directly follow the last event of the previous block
 * (FORMAT D3). Adds the block to the sum and the tally. In a sequence no event precedes the first
 * block. In slots ptx_check_slots() sets next_record for the first block, because older blocks may
 * have been overwritten.
 */
static void judge_data(struct ptx_check *check, const struct ptx_log_found *found,
		       const uint8_t *payload)
{
	const struct ptx_log_block *block = &found->block;
	struct ptx_log_sum *sum = &check->sum;
	size_t bytes = block->record_bytes;

	/*
	 * FORMAT D3: first_record of a block is first_record of the previous block plus the number
	 * of records of the previous block.
	 */
	if (block->first_record != check->next_record) {
		/* The difference is the number of events that a reader misses (FORMAT R7). */
		if (block->first_record > check->next_record)
			ptx_check_fault(check, found->offset, 0,
					"%llu events are missing before this block",
					(unsigned long long)(block->first_record -
							     check->next_record));
		else
			ptx_check_fault(check, found->offset, 0,
					"this block counts events that an earlier block has");
		/* From here on, counts of the whole log cannot agree. */
		check->damaged = true;
	}
	/*
	 * After a gap the counts continue with this block, so that the gap is reported once. Only
	 * in a hostile log next_record can wrap around. The only effect is a wrong report.
	 */
	check->next_record = block->first_record + block->records;
	/* The records were checked with the payload: type and source are in range. */
	ptx_log_tally_records(&check->tally, payload, bytes, (const void *)(payload + bytes));
	if (!sum->blocks++)
		sum->time_first = block->time_min;
	sum->time_last = block->time_max;
	sum->records += block->records;
	/*
	 * `bytes` is the size of the records without compression, also if the block is compressed
	 * (FORMAT 3.8).
	 */
	sum->record_bytes += bytes;
	note_place(check, found);
}

/*
 * Returns true if both arrays are equal. An empty array may be NULL, and memcmp() must not get
 * NULL.
 */
static bool same_places(const struct ptx_log_place *a, const struct ptx_log_place *b, size_t count)
{
	return !count || !memcmp(a, b, count * sizeof(*a));
}

/*
 * Checks FORMAT I1: an INDEX block has the places of the DATA blocks before it. In a damaged log
 * the places cannot be compared, so the function only notes the entry that TOP should have.
 */
static void judge_index(struct ptx_check *check, const struct ptx_log_found *found,
			const struct ptx_log_place *place)
{
	const struct ptx_log_block *block = &found->block;
	/* The number of DATA blocks that were in no INDEX block so far. */
	size_t waiting = check->places - check->indexed;
	int64_t least = block->records ? place[0].time_min : 0;
	struct ptx_log_place *top;

	/* time_min of a TOP entry is the least time of all blocks of its INDEX block. */
	for (uint32_t i = 0; i < block->records; i++)
		least = place[i].time_min < least ? place[i].time_min : least;
	/*
	 * In a sequence an INDEX block has the places of all DATA blocks since the last INDEX
	 * block. In a log of slots the INDEX blocks follow all DATA blocks, and each INDEX block
	 * has the next part of the places.
	 */
	if (!check->damaged &&
	    (block->records > waiting ||
	     (block->records < waiting && ptx_stored_is_sequence(check->log)) ||
	     !same_places(place, check->place + check->indexed, block->records)))
		ptx_check_fault(check, found->offset, found->end - found->offset,
				"the index does not agree with the blocks before it");
	/* A hostile INDEX block may have more entries than there are DATA blocks. */
	check->indexed += block->records < waiting ? block->records : waiting;
	/*
	 * If all places are in an INDEX block, the array is emptied. Otherwise a long sequence
	 * would need memory for the places of the whole log.
	 */
	if (check->indexed == check->places)
		check->indexed = check->places = 0;
	if (!ptx_stored_room(&check->top, sizeof(*top), check->tops, &check->tops_max)) {
		check->err = ENOMEM;
		return;
	}
	top = &check->top[check->tops++];
	/* The entry that TOP should have for this block (FORMAT 3.6). */
	top->offset = found->offset;
	top->first_record = block->records ? place[0].first_record : 0;
	top->time_min = least;
	top->time_top = block->records ? place[block->records - 1].time_top : INT64_MIN;
}

/* Checks FORMAT I1 for TOP, and checks that every DATA block is in some INDEX block. */
static void judge_top(struct ptx_check *check, const struct ptx_log_found *found,
		      const struct ptx_log_place *place)
{
	if (!check->damaged && (found->block.records != check->tops ||
				!same_places(place, check->top, check->tops)))
		ptx_check_fault(check, found->offset, found->end - found->offset,
				"the top index does not agree with the index");
	/* FORMAT I1: every DATA block that belongs to the log has an entry. */
	if (!check->damaged && check->places > check->indexed)
		ptx_check_fault(check, found->offset, 0, "%zu blocks are not in the index",
				check->places - check->indexed);
}

/* Notes the types that have a name, for check_names() at the end of the check. */
static void note_names(struct ptx_check *check, const struct ptx_log_found *found,
		       const struct ptx_log_name *name)
{
	for (uint32_t i = 0; i < found->block.records; i++)
		/* The type is in range, because ptx_log_payload() has checked FORMAT N1. */
		check->named[name[i].type / 64] |= UINT64_C(1) << name[i].type % 64;
}

/*
 * Checks FORMAT S2: the text of each schema is valid. Readers ignore a schema that breaks this
 * rule, so the data of its type has no known meaning.
 */
static void judge_schemas(struct ptx_check *check, const struct ptx_log_found *found,
			  const struct ptx_log_schema *entry)
{
	/* Only the result of the parser is used, not this structure. */
	struct posix_trace_schema_np schema;

	for (uint32_t i = 0; i < found->block.records; i++, entry = ptx_log_schema_next(entry)) {
		/* NULL if the schema is too long, or is not a string of the given length. */
		const char *text = ptx_log_schema_text(entry);
		const char *why = text ? ptx_schema_parse(text, &schema) :
				  entry->bytes > PTX_SCHEMA_BYTES ? "it is too long" :
				  "its end is not where it should be";

		if (why)
			ptx_check_fault(check, found->offset, found->end - found->offset,
					"event type %u has no good schema: %s", entry->type, why);
	}
}

/*
 * Checks FORMAT M2. Readers ignore an entry that breaks this rule, so for them the addresses in the
 * range of the entry belong to no file.
 */
static void judge_mappings(struct ptx_check *check, const struct ptx_log_found *found,
			   const struct ptx_log_mapping *entry)
{
	for (uint32_t i = 0; i < found->block.records; i++, entry = ptx_log_mapping_next(entry)) {
		/* The variable `why` points to a constant text, or is NULL. */
		const char *why = ptx_log_check_mapping(entry);

		if (why)
			ptx_check_fault(check, found->offset, found->end - found->offset,
					"entry %u of a block of mappings is useless: %s", i, why);
	}
}

/*
 * The payload is checked for all types of blocks. In a damaged log blocks may be missing, so the
 * number of the block is not compared. Unknown types have no rules (FORMAT 3.3).
 */
bool ptx_check_block(struct ptx_check *check, const struct ptx_log_found *found)
{
	const struct ptx_log_block *block = &found->block;
	const char *why;
	const void *payload = ptx_log_payload(&check->log->window, found, &why);

	/*
	 * Checks padding and exact times. ptx_log_payload() has decompressed and unpacked the
	 * block.
	 */
	if (payload)
		why = ptx_log_check_strictly(block, payload);
	/*
	 * After a fault the counts of the whole log cannot be compared, because events may be
	 * missing.
	 */
	if (why) {
		ptx_check_fault(check, found->offset, found->end - found->offset, "%s", why);
		check->damaged = true;
	}
	/*
	 * A reader that does not know compression would read the compressed bytes as records. So
	 * the header must have a flag that makes such a reader refuse the log.
	 */
	if (found->form.frame_bytes && !check->log->header_damage &&
	    !(check->log->header.flags_incompatible & PTX_LOG_COMPRESSED_LOG))
		ptx_check_fault(check, found->offset, 0,
				"a block is compressed, but the header does not say so");
	/*
	 * If a block breaks only the rules of ptx_log_check_strictly(), its content is still used.
	 */
	if (!payload)
		return false;
	if (block->type > 0 && block->type < PTX_LOG_TYPES) {
		if (block->number != check->number[block->type] && !check->damaged)
			ptx_check_fault(check, found->offset, 0,
					"this is block %llu of its type, expected is %llu",
					(unsigned long long)block->number,
					(unsigned long long)check->number[block->type]);
	}
	/*
	 * The next expected number is this block's number + 1, even if this block's number was
	 * wrong. So a wrong number is reported once.
	 */
	ptx_log_follow(check->number, block);
	switch (block->type) {
	case PTX_LOG_DATA:
		judge_data(check, found, payload);
		break;
	case PTX_LOG_NAMES:
		note_names(check, found, payload);
		break;
	case PTX_LOG_SCHEMAS:
		judge_schemas(check, found, payload);
		break;
	case PTX_LOG_MAPPINGS:
		judge_mappings(check, found, payload);
		break;
	case PTX_LOG_INDEX:
		judge_index(check, found, payload);
		break;
	case PTX_LOG_TOP:
		judge_top(check, found, payload);
		break;
	case PTX_LOG_LEDGER:
		check->err = ptx_log_decode_ledger(block, payload, &check->ledger);
		/*
		 * ptx_log_payload() has checked the form of the ledger; check.c compares its
		 * counts.
		 */
		check->has_ledger = !check->err;
		break;
	case PTX_LOG_SKIPS:
		if (check->has_ledger)
			ptx_log_decode_skips(block, payload, &check->ledger);
		break;
	case PTX_LOG_END:
		ptx_check_sum(check, found->offset, &((const struct ptx_log_end *)payload)->sum);
		break;
	}
	return true;
}

/*
 * Compares each member that can be computed from the blocks (FORMAT E2). The status cannot be
 * computed. If a log of slots has no blocks, neither can the number of overwritten events.
 */
void ptx_check_sum(struct ptx_check *check, uint64_t offset, const struct ptx_log_sum *sum)
{
	/*
	 * If the log is damaged, the damage has been reported already, and a different sum would
	 * only repeat the report.
	 */
	if (check->damaged)
		return;
	/* The comparisons are separate, so that the report shows which count is wrong. */
	if (sum->blocks != check->sum.blocks)
		ptx_check_fault(
			check, offset, 0, "the END block counts %llu blocks, there are %llu",
			(unsigned long long)sum->blocks, (unsigned long long)check->sum.blocks);
	if (sum->records != check->sum.records)
		ptx_check_fault(
			check, offset, 0, "the END block counts %llu events, there are %llu",
			(unsigned long long)sum->records, (unsigned long long)check->sum.records);
	if (sum->record_bytes != check->sum.record_bytes ||
	    sum->time_first != check->sum.time_first || sum->time_last != check->sum.time_last)
		ptx_check_fault(check, offset, 0,
				"the END block's sizes or times are not those of the events");
	if (sum->overwritten != check->sum.overwritten &&
	    (check->sum.blocks || ptx_stored_is_sequence(check->log)))
		ptx_check_fault(check, offset, 0,
				"the END block counts %llu overwritten events, the blocks %llu",
				(unsigned long long)sum->overwritten,
				(unsigned long long)check->sum.overwritten);
}
