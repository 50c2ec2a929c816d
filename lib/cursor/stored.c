/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cursor/stored.c - the events of a log, one after the other.
 *
 * A block is checked once, when it is taken; ptx_stored_next() then only steps.
 */
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "cursor/stored_private.h"

bool ptx_stored_take(struct ptx_stored *stored, const struct ptx_log_found *found)
{
	const uint8_t *payload = ptx_log_payload(&stored->window, found, &stored->damage);

	if (!payload)
		return false;
	stored->at = payload;
	stored->end = payload + found->block.record_bytes;
	stored->source = (const void *)stored->end;
	stored->next_number = found->block.number + 1;
	stored->any_number = false;
	return true;
}

/* The next event is told to stand behind damage. */
static void skipped(struct ptx_stored *stored)
{
	stored->gap = true;
	stored->damaged_parts++;
}

/* Where reading goes on after offset, in a log whose damaged parts are skipped. */
static bool skip_damage(struct ptx_stored *stored, uint64_t offset)
{
	struct ptx_log_found found;

	if (!stored->salvage ||
	    !ptx_log_resync(&stored->window, offset, stored->data_end, stored->header.log_id,
			    &found))
		return false;
	stored->next_offset = found.offset;
	skipped(stored);
	return true;
}

static bool next_in_sequence(struct ptx_stored *stored)
{
	struct ptx_log_found found;
	const char *why;

	for (;;) {
		enum ptx_log_verdict verdict;

		if (stored->next_offset > stored->stop_offset)
			return false;
		verdict =
			ptx_log_find(&stored->window, stored->next_offset, stored->data_end,
				     stored->header.log_id, &found, &why);

		if (verdict != PTX_LOG_GOOD) {
			if (stored->next_offset >= stored->data_end ||
			    (stored->live && verdict == PTX_LOG_SHORT))
				return false; /* the end, for now */
			stored->damage = why;
			if (!skip_damage(stored, stored->next_offset + 8))
				return false;
			continue;
		}
		if (found.block.type == PTX_LOG_END) {
			stored->damage = NULL;
			stored->ended = true;
			return false;
		}
		if (found.block.type != PTX_LOG_DATA) {
			/*
			 * It is for others, who need it when the log was cut; no event is missing.
			 */
			if (!stored->live && !ptx_log_payload(&stored->window, &found, &why))
				stored->damaged_parts++;
			stored->next_offset = found.end;
			continue;
		}
		if (found.block.number != stored->next_number && !stored->any_number) {
			stored->damage = "a block is missing";
			if (!stored->salvage)
				return false;
			skipped(stored);
			if (found.block.number < stored->next_number) { /* seen already */
				stored->next_offset = found.end;
				continue;
			}
		}
		if (found.block.time_min > stored->until_ns) {
			stored->next_offset = found.end;
			stored->next_number = found.block.number + 1;
			stored->any_number = false;
			continue;
		}
		if (ptx_stored_take(stored, &found)) {
			stored->next_offset = found.end;
			return true;
		}
		if (!stored->salvage)
			return false;
		skipped(stored);
		stored->next_offset = found.end;
	}
}

/*
 * The index of a completed log does not say the numbers, which are taken to rise by one: where a
 * writer died and blocks were damaged before somebody went on, they do not. It says how many events
 * came before.
 */
static bool belongs(const struct ptx_stored *stored, const struct ptx_stored_slot *slot,
		    const struct ptx_log_block *block)
{
	return block->type == PTX_LOG_DATA &&
	       (block->number == slot->number ||
		(stored->complete && stored->salvage && block->number >= stored->next_number &&
		 block->first_record == slot->first_record));
}

static bool next_in_slots(struct ptx_stored *stored)
{
	while (stored->next_slot < stored->slots && stored->next_slot < stored->stop_slot) {
		const struct ptx_stored_slot *slot = &stored->slot[stored->next_slot];
		struct ptx_log_found found;
		bool good = ptx_log_find(&stored->window, slot->offset,
					 slot->offset + stored->header.slot_bytes,
					 stored->header.log_id, &found,
					 &stored->damage) == PTX_LOG_GOOD;

		if (good && !belongs(stored, slot, &found.block)) {
			stored->damage = stored->complete &&
						 found.block.first_record == slot->first_record ?
					 "a block is missing" :
					 "a slot holds another block than it should";
			good = false;
		}
		if (good && found.block.number != stored->next_number && !stored->any_number) {
			stored->damage = "a block is missing";
			if (!stored->salvage)
				return false;
			skipped(stored);
		}
		good = good && ptx_stored_take(stored, &found);
		if (!good && !stored->salvage)
			return false;
		stored->next_slot++;
		if (good)
			return true;
		skipped(stored);
	}
	stored->ended = stored->next_slot == stored->slots;
	return false;
}

bool ptx_stored_next_block(struct ptx_stored *stored)
{
	bool found;

	stored->at = stored->end = NULL;
	stored->damage = NULL;
	if (stored->live)
		ptx_log_window_measure(&stored->window);
	found = ptx_stored_is_sequence(stored) ? next_in_sequence(stored) : next_in_slots(stored);
	if (!found && stored->live)
		stored->window.have = 0; /* what was not there may come */
	return found;
}

bool ptx_stored_next(struct ptx_stored *stored, struct ptx_stored_event *event)
{
	const struct ptx_log_source *source;
	const struct ptx_record *record;

	event->first = false;
	if (ptx_unlikely(stored->at == stored->end)) {
		if (!ptx_stored_next_block(stored))
			return false;
		event->first = true;
	}
	record = (const void *)stored->at;
	stored->at += ptx_record_size(ptx_record_len(record->len_flags));
	source = &stored->source[record->source];
	event->record = record;
	event->pid = source->pid;
	event->tid = source->tid;
	event->thread = source->thread;
	event->gap = stored->gap;
	stored->gap = false;
	return true;
}

void ptx_stored_rewind(struct ptx_stored *stored)
{
	stored->at = stored->end = NULL;
	stored->gap = false;
	stored->next_offset = PTX_LOG_HEADER_BYTES;
	stored->next_slot = 0;
	stored->next_number = stored->slots ? stored->slot[0].number : 0;
	stored->any_number = false;
	stored->damage = NULL;
	stored->damaged_parts = 0;
	stored->ended = false;
}

const char *ptx_stored_damage(const struct ptx_stored *stored)
{
	return stored->damage;
}
