/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plan.c - the records of a plan: one block is in memory, and all other blocks are in a temporary
 * file.
 *
 * While scan.c makes the plan, the last block is in memory, because most spans are short, so that
 * most changes concern this block. During the second reading the blocks are read one after the
 * other.
 */
#include "convert/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spool.h"
#include "base/vec.h"
#include "base/whole.h"

int plan_init(struct plan *plan)
{
	int err;

	memset(plan, 0, sizeof(*plan));
	/* plan_fini() must work after each failure below. */
	plan->fd = -1;
	plan->record = calloc(PLAN_BLOCK, sizeof(*plan->record));
	if (!plan->record)
		return ENOMEM;
	err = spool_create(&plan->fd);
	if (err)
		plan->fd = -1;
	return err;
}

void plan_fini(struct plan *plan)
{
	for (size_t i = 0; i < plan->kinds; i++)
		free(plan->kind[i].name);
	for (size_t i = 0; i < plan->names; i++)
		free(plan->name[i].name);
	for (size_t i = 0; i < plan->functions; i++)
		free(plan->function[i].name);
	free(plan->function);
	table_fini(&plan->by_name);
	free(plan->kind);
	free(plan->name);
	free(plan->record);
	if (plan->fd >= 0)
		close(plan->fd);
}

/* ------------------------------------------------------------------ records */

#define BLOCK_BYTES (PLAN_BLOCK * sizeof(struct plan_record))

int plan_add(struct plan *plan, uint64_t *number)
{
	/*
	 * If the block in memory is full, it is written to the file, and the record begins a new
	 * block.
	 */
	if (plan->records / PLAN_BLOCK != plan->block) {
		int err = whole_pwrite(plan->fd, plan->record, BLOCK_BYTES,
				       plan->block * BLOCK_BYTES);

		if (err)
			return err;
		plan->block++;
	}
	*number = plan->records++;
	memset(&plan->record[*number % PLAN_BLOCK], 0, sizeof(*plan->record));
	return 0;
}

int plan_change(struct plan *plan, uint64_t number, const struct plan_record *record)
{
	/* An older record is changed in the file, by one system call. */
	if (number / PLAN_BLOCK != plan->block)
		return whole_pwrite(plan->fd, record, sizeof(*record), number * sizeof(*record));
	plan->record[number % PLAN_BLOCK] = *record;
	return 0;
}

int plan_look(struct plan *plan, uint64_t number, struct plan_record *record)
{
	if (number / PLAN_BLOCK != plan->block)
		return whole_pread(plan->fd, record, sizeof(*record), number * sizeof(*record));
	*record = plan->record[number % PLAN_BLOCK];
	return 0;
}

/*
 * Limits the least begin of a span. A damaged trace may claim any duration, and one long span would
 * then fill the whole picture. So if the least begin precedes the first event by more than the
 * length of the trace, the function raises it to this limit. The arithmetic is unsigned, because a
 * difference of two times may overflow a signed number.
 */
static void limit_begin(struct plan *plan)
{
	uint64_t length = (uint64_t)plan->greatest_ns - (uint64_t)plan->least_ns;
	uint64_t room = (uint64_t)plan->least_ns - (uint64_t)INT64_MIN;
	int64_t least = (int64_t)((uint64_t)plan->least_ns - (length < room ? length : room));

	if (plan->begin_ns > plan->least_ns)
		plan->begin_ns = plan->least_ns;
	if (plan->begin_ns < least)
		plan->begin_ns = least;
}

int plan_finish(struct plan *plan)
{
	/*
	 * The function writes the whole last block, even if it is not full, because all blocks have
	 * the same size in the file.
	 */
	int err = !plan->records ? 0
				 : whole_pwrite(plan->fd, plan->record, BLOCK_BYTES,
						 plan->block * BLOCK_BYTES);

	limit_begin(plan);
	plan->at = 0;
	/* No block counts as loaded, so the first plan_span() reads block 0. */
	plan->block = UINT64_MAX;
	return err;
}

/* ------------------------------------------------------------------ types and names */

struct plan_kind *plan_kind(struct plan *plan, size_t type)
{
	return vec_reach(&plan->kind, &plan->kinds, type) ? &plan->kind[type] : NULL;
}

/* Compares the name of a function with the wanted name, for table_find(). */
static bool is_called(const void *array, uint32_t index, const void *name)
{
	const struct plan_function *function = array;

	return !strcmp(function[index].name, name);
}

/*
 * The series of functions have numbers from PLAN_SERIES on; smaller numbers are for the series of
 * kinds.
 */
int plan_function(struct plan *plan, const char *name, uint32_t *number)
{
	uint64_t hash = hash_bytes(HASH_BEGIN, name, strlen(name));
	uint32_t index = table_find(&plan->by_name, hash, is_called, plan->function, name);

	*number = 0;
	if (index == TABLE_NONE && plan->functions == PLAN_FUNCTIONS)
		return 0;
	if (index == TABLE_NONE) {
		struct plan_function function = {
			.name = strdup(name),
			.series = PLAN_SERIES + (unsigned)plan->functions,
		};

		index = (uint32_t)plan->functions;
		if (!function.name || !vec_grow(&plan->function, plan->functions, 1) ||
		    !table_add(&plan->by_name, hash, index)) {
			free(function.name);
			return ENOMEM;
		}
		plan->function[plan->functions++] = function;
	}
	*number = index + 1;
	return 0;
}

int plan_add_name(struct plan *plan, uint32_t pid, uint32_t tid, uint64_t thread, const char *name)
{
	struct plan_name *more;

	/*
	 * The list is bounded, because the caller adds at most as many names as threads.h permits.
	 */
	if (!vec_grow(&plan->name, plan->names, 1))
		return ENOMEM;
	more = &plan->name[plan->names];
	*more = (struct plan_name){ pid, tid, thread, strdup(name) };
	if (!more->name)
		return ENOMEM;
	plan->names++;
	return 0;
}

/* ------------------------------------------------------------------ the second reading */

/*
 * Returns the time, or least_ns if the time is earlier. For the beginnings of spans, least_ns is
 * the limit of limit_begin().
 */
static int64_t not_before(int64_t time_ns, int64_t least_ns)
{
	return time_ns < least_ns ? least_ns : time_ns;
}

/*
 * Returns the next record, or NULL if there is none. If the input has changed between the two
 * readings, there may be fewer records than the second reading needs.
 */
static const struct plan_record *next_record(struct plan *plan)
{
	if (plan->at == plan->records)
		return NULL;
	if (plan->at / PLAN_BLOCK != plan->block) {
		plan->block = plan->at / PLAN_BLOCK;
		if (whole_pread(plan->fd, plan->record, BLOCK_BYTES, plan->block * BLOCK_BYTES)) {
			/*
			 * After a read error the plan has no more spans, but the conversion
			 * continues without spans.
			 */
			plan->at = plan->records;
			return NULL;
		}
	}
	return &plan->record[plan->at++ % PLAN_BLOCK];
}

/*
 * If "function" is not 0, the name and series of the function replace the name and series of the
 * kind.
 */
static void name_function(const struct plan *plan, uint32_t function, struct fmt_span *span)
{
	if (!function || function > plan->functions)
		return;
	span->name = plan->function[function - 1].name;
	span->series = plan->function[function - 1].series;
}

bool plan_span(struct plan *plan, const struct fmt_event *event, struct fmt_span *span)
{
	size_t type = event->type->index;
	const struct plan_kind *kind = type < plan->kinds ? &plan->kind[type] : NULL;
	const struct plan_record *record;
	uint32_t function = 0;

	/* The events of a type without a role have no records. */
	if (!kind || !kind->use)
		return false;
	if (kind->has_function) {
		record = next_record(plan);
		function = record ? record->lane : 0;
	}
	record = next_record(plan);
	if (!record || !record->apart)
		return false;
	/*
	 * For a begin, the event has the time of the begin, and the record has the time of the end.
	 * For other events, the event has the time of the end, and the record has the time of the
	 * begin.
	 */
	*span = (struct fmt_span){
		.part = kind->use == PLAN_BEGIN ? FMT_OPENS :
			kind->use == PLAN_END ? FMT_CLOSES : FMT_WHOLE,
		.name = kind->name,
		.series = kind->series,
		.keyed = kind->keyed,
		.lane = record->lane,
		.id = plan->at - (record->apart - 1),
		.number = plan->at,
		.begin_ns = kind->use == PLAN_BEGIN ? event->time_ns : record->other_ns,
		.end_ns = kind->use == PLAN_BEGIN ? record->other_ns : event->time_ns,
	};
	name_function(plan, function, span);
	span->begin_ns = not_before(span->begin_ns, plan->begin_ns);
	return true;
}

void plan_facts(const struct plan *plan, struct fmt_facts *facts)
{
	facts->has_scan = true;
	facts->least_ns = plan->any ? plan->begin_ns : 0;
	facts->greatest_ns = plan->any ? plan->greatest_ns : 0;
	facts->gaps = plan->gaps;
	facts->lost = plan->lost;
	memcpy(facts->gaps_of, plan->gaps_of, sizeof(facts->gaps_of));
	memcpy(facts->lost_of, plan->lost_of, sizeof(facts->lost_of));
}
