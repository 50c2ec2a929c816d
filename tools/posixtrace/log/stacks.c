/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stacks.c - keeps the stacks of a log by their numbers. */
#include "log/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "log/field.h"

/* These limits bound the memory that a hostile log can use. */
#define FRAMES_MOST (UINT32_C(1) << 24)
#define TYPES_MOST  65536

/*
 * Another program may use this name for a type with another schema, so the number of fields is
 * checked, too.
 */
bool stacks_is_type(const char *name, const struct posix_trace_schema_np *schema)
{
	return schema && schema->fields >= 2 && !strcmp(name, STACKS_EVENT);
}

/* Returns true if the entry at index has the number *key. table_find() calls this function. */
static bool is_number(const void *array, uint32_t index, const void *key)
{
	return ((const struct stacks_entry *)array)[index].number == *(const uint32_t *)key;
}

static uint32_t find_entry(const struct stacks *stacks, uint32_t number)
{
	return table_find(&stacks->table, hash_number(HASH_BEGIN, number), is_number,
			  stacks->entry, &number);
}

/*
 * Keeps the frames of the stack with this number. If a stack with this number is kept already, that
 * stack remains.
 */
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

void stacks_keep(struct stacks *stacks, const struct posix_trace_schema_np *schema,
		 const void *data, size_t len)
{
	struct posix_trace_value_np number, frames;

	if (posix_trace_field_get_np(schema, 0, 0, data, len, 0, &number) &&
	    posix_trace_field_get_np(schema, 1, 0, data, len, 0, &frames) &&
	    number.field->form == POSIX_TRACE_FORM_UNSIGNED_NP &&
	    frames.field->form == POSIX_TRACE_FORM_BYTES_NP)
		keep_frames(stacks, (uint32_t)number.u64, frames.data, frames.len);
}

bool stacks_take(struct stacks *stacks, const struct log_type *type,
		 const struct posix_trace_event_np *event)
{
	/*
	 * Most names differ from STACKS_EVENT in the first letter, so this test saves the
	 * comparison.
	 */
	if (*type->name != *STACKS_EVENT || !stacks_is_type(type->name, type->schema))
		return false;
	stacks_keep(stacks, type->schema, event->data, event->data_len);
	return true;
}

int stacks_field(const char *name, const struct posix_trace_schema_np *schema)
{
	const int field = field_index(schema, STACKS_FIELD);

	return field < 0 || schema->field[field].is_array || stacks_is_type(name, schema) ||
	       schema->field[field].form != POSIX_TRACE_FORM_UNSIGNED_NP ? -1 : field;
}

/*
 * Returns the result of stacks_field() for a type of the log. The result is kept, so it is computed
 * only once for each type.
 */
static int field_of_type(struct stacks *stacks, const struct log_type *type)
{
	size_t id = (size_t)type->id;
	int field;

	if (id < TYPES_MOST && id < stacks->places && stacks->place[id])
		return stacks->place[id] < 0 ? -1 : stacks->place[id] - 1;
	field = stacks_field(type->name, type->schema);
	if (id < TYPES_MOST && vec_reach(&stacks->place, &stacks->places, id))
		stacks->place[id] = field < 0 ? -1 : (signed char)(field + 1);
	return field;
}

bool stacks_get(const struct stacks *stacks, const char *name,
		const struct posix_trace_schema_np *schema, int field, const void *data, size_t len,
		struct stacks_found *found)
{
	struct posix_trace_value_np value;

	if (field < 0 || !stacks->entries ||
	    !posix_trace_field_get_np(schema, (unsigned)field, 0, data, len, 0, &value) ||
	    value.u64 > UINT32_MAX || !stacks_number(stacks, (uint32_t)value.u64, found))
		return false;
	found->is_exact = !strcmp(name, STACKS_SAMPLE);
	return true;
}

bool stacks_number(const struct stacks *stacks, uint32_t number, struct stacks_found *found)
{
	uint32_t index = find_entry(stacks, number);

	if (index == TABLE_NONE)
		return false;
	*found = (struct stacks_found){
		.frame = stacks->frame + stacks->entry[index].first,
		.count = stacks->entry[index].count, .number = number,
	};
	return true;
}

bool stacks_find(struct stacks *stacks, const struct log_type *type,
		 const struct posix_trace_event_np *event, struct stacks_found *found)
{
	return stacks_get(stacks, type->name, type->schema, field_of_type(stacks, type),
			  event->data, event->data_len, found);
}

/* Returns true if the log lists a type of stacks. */
static bool has_stacks(const struct logfile *log)
{
	for (size_t i = 0; i < log->types; i++)
		if (stacks_is_type(log->list[i]->name, log->list[i]->schema))
			return true;
	return false;
}

int stacks_before(struct stacks *stacks, struct logfile *log, int64_t begin_ns)
{
	struct posix_trace_event_np event;
	int err, unavailable;

	if (begin_ns <= log->info.first_ns || !has_stacks(log))
		return 0;
	err = posix_trace_rewind(log->trid);
	while (!err && !(err = posix_trace_getnext_np(log->trid, &event, &unavailable)) &&
	       !unavailable && event.time_ns < begin_ns)
		stacks_take(stacks, logfile_type(log, event.info.posix_event_id), &event);
	return err ? err : posix_trace_rewind(log->trid);
}

void stacks_fini(struct stacks *stacks)
{
	free(stacks->entry);
	free(stacks->frame);
	free(stacks->place);
	table_fini(&stacks->table);
	*stacks = (struct stacks){ .entries = 0 };
}
