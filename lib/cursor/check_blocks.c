/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/check_blocks.c - one block against the rules, and against the blocks before it.
 */
#include <errno.h>
#include <string.h>

#include "cursor/check_private.h"
#include "record/schema.h"

static void note_place(struct ptx_check *check, const struct ptx_log_found *found)
{
	struct ptx_log_place *place;

	if (!ptx_stored_room(&check->place, sizeof(*place), check->places, &check->places_max)) {
		check->err = ENOMEM;
		return;
	}
	if (found->block.time_max > check->time_top)
		check->time_top = found->block.time_max;
	place = &check->place[check->places++];
	place->offset = found->offset;
	place->first_record = found->block.first_record;
	place->time_min = found->block.time_min;
	place->time_top = check->time_top;
}

/* D3 and the sum. */
static void judge_data(struct ptx_check *check, const struct ptx_log_found *found,
		       const uint8_t *payload)
{
	const struct ptx_log_block *block = &found->block;
	struct ptx_log_sum *sum = &check->sum;
	size_t bytes = block->record_bytes;

	if (check->any_block && block->first_record != check->next_record) {
		if (block->first_record > check->next_record)
			ptx_check_fault(check, found->offset, 0,
					"%llu events are missing before this block",
					(unsigned long long)(block->first_record -
							     check->next_record));
		else
			ptx_check_fault(check, found->offset, 0,
					"this block counts events that an earlier block has");
		check->damaged = true;
	}
	check->any_block = true;
	check->next_record = block->first_record + block->records;
	ptx_log_tally_records(&check->tally, payload, bytes, (const void *)(payload + bytes));
	if (!sum->blocks++)
		sum->time_first = block->time_min;
	sum->time_last = block->time_max;
	sum->records += block->records;
	sum->record_bytes += bytes;
	note_place(check, found);
}

static bool same_places(const struct ptx_log_place *a, const struct ptx_log_place *b, size_t count)
{
	return !count || !memcmp(a, b, count * sizeof(*a));
}

/* I1. Entries for what is damaged cannot be compared. */
static void judge_index(struct ptx_check *check, const struct ptx_log_found *found,
			const struct ptx_log_place *place)
{
	const struct ptx_log_block *block = &found->block;
	size_t waiting = check->places - check->indexed;
	int64_t least = block->records ? place[0].time_min : 0;
	struct ptx_log_place *top;

	for (uint32_t i = 0; i < block->records; i++)
		least = place[i].time_min < least ? place[i].time_min : least;
	/*
	 * In slots, INDEX blocks stand behind all that they cover; in a sequence after each part.
	 */
	if (!check->damaged &&
	    (block->records > waiting ||
	     (block->records < waiting && ptx_stored_is_sequence(check->log)) ||
	     !same_places(place, check->place + check->indexed, block->records)))
		ptx_check_fault(check, found->offset, found->end - found->offset,
				"the index does not agree with the blocks before it");
	check->indexed += block->records < waiting ? block->records : waiting;
	if (check->indexed == check->places)
		check->indexed = check->places = 0;
	if (!ptx_stored_room(&check->top, sizeof(*top), check->tops, &check->tops_max)) {
		check->err = ENOMEM;
		return;
	}
	top = &check->top[check->tops++];
	top->offset = found->offset;
	top->first_record = block->records ? place[0].first_record : 0;
	top->time_min = least;
	top->time_top = block->records ? place[block->records - 1].time_top : INT64_MIN;
}

static void judge_top(struct ptx_check *check, const struct ptx_log_found *found,
		      const struct ptx_log_place *place)
{
	if (!check->damaged && (found->block.records != check->tops ||
				!same_places(place, check->top, check->tops)))
		ptx_check_fault(check, found->offset, found->end - found->offset,
				"the top index does not agree with the index");
	if (!check->damaged && check->places > check->indexed)
		ptx_check_fault(check, found->offset, 0, "%zu blocks are not in the index",
				check->places - check->indexed);
}

static void note_names(struct ptx_check *check, const struct ptx_log_found *found,
		       const struct ptx_log_name *name)
{
	for (uint32_t i = 0; i < found->block.records; i++)
		check->named[name[i].type / 64] |= UINT64_C(1) << name[i].type % 64;
}

/* S2: a type whose schema cannot be used is opaque to every reader. */
static void judge_schemas(struct ptx_check *check, const struct ptx_log_found *found,
			  const struct ptx_log_schema *entry)
{
	struct posix_trace_schema_np schema;

	for (uint32_t i = 0; i < found->block.records; i++, entry = ptx_log_schema_next(entry)) {
		const char *text = ptx_log_schema_text(entry);
		const char *why = text ? ptx_schema_parse(text, &schema) :
				  entry->bytes > PTX_SCHEMA_BYTES ? "it is too long" :
				  "its end is not where it should be";

		if (why)
			ptx_check_fault(check, found->offset, found->end - found->offset,
					"event type %u has no good schema: %s", entry->type, why);
	}
}

/* M2 */
static void judge_mappings(struct ptx_check *check, const struct ptx_log_found *found,
			   const struct ptx_log_mapping *entry)
{
	for (uint32_t i = 0; i < found->block.records; i++, entry = ptx_log_mapping_next(entry)) {
		const char *why = ptx_log_check_mapping(entry);

		if (why)
			ptx_check_fault(check, found->offset, found->end - found->offset,
					"entry %u of a block of mappings is useless: %s", i, why);
	}
}

bool ptx_check_block(struct ptx_check *check, const struct ptx_log_found *found)
{
	const struct ptx_log_block *block = &found->block;
	const char *why;
	const void *payload = ptx_log_payload(&check->log->window, found, &why);

	if (payload)
		why = ptx_log_check_strictly(block, payload);
	if (why) {
		ptx_check_fault(check, found->offset, found->end - found->offset, "%s", why);
		check->damaged = true;
	}
	if (!payload)
		return false;
	if (block->type > 0 && block->type < PTX_LOG_TYPES) {
		if (block->number != check->number[block->type] && !check->damaged)
			ptx_check_fault(check, found->offset, 0,
					"this is block %llu of its type, expected is %llu",
					(unsigned long long)block->number,
					(unsigned long long)check->number[block->type]);
	}
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
		check->has_ledger = !check->err;
		break;
	case PTX_LOG_END:
		ptx_check_sum(check, found->offset, &((const struct ptx_log_end *)payload)->sum);
		break;
	}
	return true;
}

void ptx_check_sum(struct ptx_check *check, uint64_t offset, const struct ptx_log_sum *sum)
{
	if (check->damaged)
		return;
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
}
