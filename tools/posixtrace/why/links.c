/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* links.c - keeps the waits for locks and the holds of locks. */
#include "why/links.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbols/data.h"

int links_begin(struct links *links, const struct logfile *log)
{
	links->plan = calloc(log->types + 1, sizeof(*links->plan));
	if (!links->plan)
		return ENOMEM;
	links->plans = log->types;
	for (size_t i = 0; i < log->types; i++)
		classify_type(log->list[i], &links->plan[i]);
	return 0;
}

static uint64_t length_of(const struct hold *hold)
{
	return (uint64_t)hold->end_ns - (uint64_t)hold->begin_ns;
}

/*
 * Makes room in a full list: doubles the least length and removes shorter waits or holds, until at
 * least half of the list is free. The least length doubles with each pass, so there are at most 64
 * passes in all.
 */
static void drop_short(struct holds *list, size_t limit, uint64_t *least_ns)
{
	while (list->count > limit / 2) {
		size_t kept = 0;

		*least_ns = *least_ns > UINT64_MAX / 2 ? UINT64_MAX : *least_ns * 2 + 1;
		for (size_t i = 0; i < list->count; i++)
			if (length_of(&list->hold[i]) >= *least_ns)
				list->hold[kept++] = list->hold[i];
		list->count = kept;
	}
}

void links_event(struct links *links, const struct log_type *of,
		 const struct posix_trace_event_np *event, uint64_t least_ns)
{
	const struct plan *plan = &links->plan[of->index];
	const bool is_wait = plan->cause == CAUSE_LOCK;
	const uint64_t time = classify_number(of, event, plan->time);
	struct holds *list = is_wait ? &links->waits : &links->holds;
	uint64_t *least = is_wait ? &links->least_wait_ns : &links->least_hold_ns;
	const size_t limit = is_wait ? LINKS_WAITS : LINKS_HOLDS;
	struct hold it = {
		.pid = event->info.posix_pid, .thread = (uint32_t)event->tid,
		.lock = classify_number(of, event, plan->key), .end_ns = event->time_ns,
	};

	*(is_wait ? &links->waits_found : &links->holds_found) += 1;
	if (!time || time < *least || (is_wait && time < least_ns) || time > INT64_MAX ||
	    __builtin_sub_overflow(event->time_ns, (int64_t)time, &it.begin_ns))
		return;
	if (!holds_add(list, &it))
		links->err = ENOMEM;
	else if (list->count == limit)
		drop_short(list, limit, least);
}

int links_end(struct links *links, const struct logfile *log)
{
	struct posix_trace_object_np object;
	char text[POSIX_TRACE_OBJECT_NAME_MAX_NP + 64];

	holds_sort(&links->holds);
	for (size_t i = 0; i < links->waits.count; i++) {
		const struct hold *wait = &links->waits.hold[i];
		const char *name = data_name(log, wait->pid, wait->lock, wait->end_ns, &object);

		if (!name)
			continue;
		snprintf(text, sizeof(text), "%d %llu %s", (int)wait->pid,
			 (unsigned long long)wait->lock, name);
		if (nameset_index(&links->names, text) == TABLE_NONE)
			return ENOMEM;
	}
	return links->err;
}

unsigned links_holders(const struct links *links, const struct hold *wait,
		       const struct hold *hold[LINKS_EACH])
{
	struct holds_walk walk = holds_walk(&links->holds, wait, wait->begin_ns, wait->end_ns);
	int64_t begin_ns, end_ns;
	unsigned count = 0;

	walk.steps_most = LINKS_STEPS;
	while (count < LINKS_EACH &&
	       (hold[count] = holds_next(&links->holds, &walk, &begin_ns, &end_ns)))
		count++;
	return count;
}

void links_fini(struct links *links)
{
	free(links->plan);
	nameset_fini(&links->names);
	holds_fini(&links->waits);
	holds_fini(&links->holds);
}
