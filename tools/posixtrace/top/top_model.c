/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * top_model.c - durations and locks of the events that top reads. The files in spans/ make a span
 * of two events and sum up the times of locks. The command latency uses them too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "top/top.h"

/*
 * The pairing calls this function for each span or call. It adds the duration to the type that ends
 * the span. If a type ends spans of several series, the name of the first series is shown.
 */
static void add_duration(void *arg, const struct span *span, const struct posix_trace_event_np *end)
{
	struct top_type *type = top_type(arg, end->info.posix_event_id);

	if (!type)
		return;
	type->is_span = span->series->kind == SERIES_SPAN;
	if (type->is_span && !type->span)
		type->span = strdup(span->series->name);
	/* If memory is lacking, the duration is not counted. */
	if (histogram_add(&type->time, span->time_ns) &&
	    __builtin_add_overflow(type->total_ns, span->time_ns, &type->total_ns))
		type->total_ns = UINT64_MAX;
}

/* The caller calls top_fini() even after a failure. */
bool top_init(struct top *top)
{
	memset(top, 0, sizeof(*top));
	pairing_init(&top->pairing, add_duration, top);
	return locks_init(&top->locks) && !top->pairing.err;
}

void top_fini(struct top *top)
{
	for (size_t i = 0; i < top->types; i++) {
		histogram_fini(&top->type[i]->time);
		free(top->type[i]->span);
		free(top->type[i]);
	}
	free(top->type);
	free(top->by_id);
	free(top->thread);
	pairing_fini(&top->pairing);
	locks_fini(&top->locks);
}

/*
 * Durations and locks begin anew. The counts of events remain, because they come from the ledger. A
 * span that is open now counts when it ends after the reset.
 */
void top_reset(struct top *top)
{
	struct locks empty = { .count = 0 };

	/* If there is no memory for a new struct, the old locks remain. */
	if (locks_init(&empty)) {
		struct locks before = top->locks;

		top->locks = empty;
		empty = before;
	}
	locks_fini(&empty);
	for (size_t i = 0; i < top->types; i++) {
		histogram_clear(&top->type[i]->time);
		top->type[i]->total_ns = 0;
	}
}

/*
 * The returned pointer is valid until top_fini(), because the array contains pointers and no
 * structs. The limit of ids keeps a hostile log from making the array huge.
 */
struct top_type *top_type(struct top *top, trace_event_id_t id)
{
	struct top_type *type;

	if (id >= 65536 || !vec_reach(&top->by_id, &top->ids, id))
		return NULL;
	if (top->by_id[id])
		return top->by_id[id];
	type = calloc(1, sizeof(*type));
	if (!vec_grow(&top->type, top->types, 1) || !type) {
		free(type);
		return NULL;
	}
	type->id = id;
	top->type[top->types++] = type;
	top->by_id[id] = type;
	return type;
}

/*
 * Looks for the schema of a type. A process may register the schema after the first events of the
 * type. logfile_type() reads a type only once, so it is called only when the type has a schema.
 */
static void find_schema(struct top_type *type, struct logfile *log)
{
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];

	type->was_looked_up = true;
	if (!posix_trace_eventid_get_schema_np(log->trid, type->id, text, sizeof(text)))
		type->described = logfile_type(log, type->id);
}

/*
 * An event whose type has no schema is not added. An event that reports a loss closes the open
 * spans, because their ends may have been lost.
 */
void top_event(struct top *top, struct logfile *log, const struct posix_trace_event_np *event)
{
	struct top_type *type = top_type(top, event->info.posix_event_id);

	if (!type)
		return;
	if (pairing_is_loss(event))
		pairing_cut(&top->pairing);
	if (!type->was_looked_up)
		find_schema(type, log);
	if (!type->described || !type->described->schema)
		return;
	pairing_event(&top->pairing, type->described, event, ++top->ordinal, true);
	locks_event(&top->locks, type->described, event);
}
