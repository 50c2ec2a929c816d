/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stacks.c - keeps the stacks of a log by their numbers. */
#include "log/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "log/integer.h"

/* Limits for a log with senseless stacks. */
#define FRAMES_MOST (UINT32_C(1) << 24)
#define TYPES_MOST  65536

/* Types that record and attach make; other types may use the name for something else. */
static bool is_stack_type(const struct log_type *type)
{
	return type->schema && type->schema->fields >= 2 && !strcmp(type->name, STACKS_EVENT);
}

/* Compares for the table. */
static bool is_number(const void *array, uint32_t index, const void *key)
{
	return ((const struct stacks_entry *)array)[index].number == *(const uint32_t *)key;
}

static uint32_t find_entry(const struct stacks *stacks, uint32_t number)
{
	return table_find(&stacks->table, hash_number(HASH_BEGIN, number), is_number,
			  stacks->entry, &number);
}

/* Keeps the frames of a number. The first stack of a number remains. */
static void keep_frames(struct stacks *stacks, uint32_t number, const void *frames, size_t bytes)
{
	size_t count = bytes / sizeof(uint64_t);

	if (find_entry(stacks, number) != TABLE_NONE)
		return;
	if (stacks->is_full || stacks->frames + count > FRAMES_MOST ||
	    !vec_grow(&stacks->frame, stacks->frames, count + 1) ||
	    !vec_grow(&stacks->entry, stacks->entries, 1) ||
	    !table_add(&stacks->table, hash_number(HASH_BEGIN, number),
		       (uint32_t)stacks->entries)) {
		stacks->is_full = true;
		return;
	}
	memcpy(stacks->frame + stacks->frames, frames, count * sizeof(uint64_t));
	stacks->entry[stacks->entries++] = (struct stacks_entry){
		.number = number, .count = (uint32_t)count, .first = stacks->frames,
	};
	stacks->frames += count;
}

bool stacks_take(struct stacks *stacks, const struct log_type *type,
		 const struct posix_trace_event_np *event)
{
	struct posix_trace_value_np number, frames;

	/* Most types differ in the first letter. */
	if (*type->name != *STACKS_EVENT || !is_stack_type(type))
		return false;
	if (posix_trace_field_get_np(type->schema, 0, 0, event->data, event->data_len, 0,
				     &number) &&
	    posix_trace_field_get_np(type->schema, 1, 0, event->data, event->data_len, 0,
				     &frames) &&
	    number.field->form == POSIX_TRACE_FORM_UNSIGNED_NP &&
	    frames.field->form == POSIX_TRACE_FORM_BYTES_NP)
		keep_frames(stacks, (uint32_t)number.u64, frames.data, frames.len);
	return true;
}

/* Returns the index of the field that refers to a stack, -1 if the type has none. */
static int field_of(struct stacks *stacks, const struct log_type *type)
{
	size_t id = (size_t)type->id;
	int field = -1;

	if (id < TYPES_MOST && id < stacks->places && stacks->place[id])
		return stacks->place[id] < 0 ? -1 : stacks->place[id] - 1;
	for (unsigned i = 0; field < 0 && type->schema && i < type->schema->fields; i++)
		if (!strcmp(type->schema->field[i].name, STACKS_FIELD) &&
		    !type->schema->field[i].is_array &&
		    type->schema->field[i].form == POSIX_TRACE_FORM_UNSIGNED_NP &&
		    !is_stack_type(type))
			field = (int)i;
	if (id < TYPES_MOST && vec_reach(&stacks->place, &stacks->places, id))
		stacks->place[id] = field < 0 ? -1 : (signed char)(field + 1);
	return field;
}

bool stacks_find(struct stacks *stacks, const struct log_type *type,
		 const struct posix_trace_event_np *event, struct stacks_found *found)
{
	int field = field_of(stacks, type);
	struct posix_trace_value_np value;
	uint32_t index;

	if (field < 0 || !stacks->entries ||
	    !posix_trace_field_get_np(type->schema, (unsigned)field, 0, event->data,
				      event->data_len, 0, &value) ||
	    value.u64 > UINT32_MAX)
		return false;
	index = find_entry(stacks, (uint32_t)value.u64);
	if (index == TABLE_NONE)
		return false;
	*found = (struct stacks_found){
		.frame = stacks->frame + stacks->entry[index].first,
		.count = stacks->entry[index].count, .number = stacks->entry[index].number,
		.is_exact = !strcmp(type->name, "cpu.sample"),
	};
	return true;
}

void stacks_fini(struct stacks *stacks)
{
	free(stacks->entry);
	free(stacks->frame);
	free(stacks->place);
	table_fini(&stacks->table);
	*stacks = (struct stacks){ .entries = 0 };
}
