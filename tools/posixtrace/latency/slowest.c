/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slowest.c - a heap of the slowest spans, then rings of the events around them.
 *
 * The heap has the fastest of the kept spans at its top, so one comparison decides about most
 * spans. The first reading of the log fills it; slowest_sort() ends it and allocates the rings; the
 * second reading fills these.
 */
#include "latency/slowest.h"

#include <stdlib.h>
#include <string.h>

bool slowest_init(struct slowest *slowest, size_t limit, size_t around)
{
	memset(slowest, 0, sizeof(*slowest));
	slowest->limit = limit;
	slowest->around = around;
	slowest->slow = limit ? calloc(limit, sizeof(*slowest->slow)) : NULL;
	return !limit || slowest->slow;
}

void slowest_fini(struct slowest *slowest)
{
	for (size_t i = 0; i < slowest->count; i++)
		for (unsigned part = 0; part < SLOW_PARTS; part++)
			free(slowest->slow[i].part[part]);
	free(slowest->slow);
}

/*
 * For equal durations the earlier span counts as the slower, so that the result does not depend on
 * the heap.
 */
static bool is_faster(const struct span *a, const struct span *b)
{
	return a->time_ns == b->time_ns ? a->end_ordinal > b->end_ordinal : a->time_ns < b->time_ns;
}

/* Moves the span at i down to its place in the heap. */
static void sift_down(struct slowest *slowest, size_t i)
{
	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++)
			if (child < slowest->count && is_faster(&slowest->slow[child].span,
								&slowest->slow[least].span))
				least = child;
		if (least == i)
			return;
		struct slow other = slowest->slow[i];

		slowest->slow[i] = slowest->slow[least];
		slowest->slow[least] = other;
		i = least;
	}
}

/* While the heap is not full, the spans are in no order. */
void slowest_add(struct slowest *slowest, const struct span *span)
{
	if (slowest->count < slowest->limit) {
		slowest->slow[slowest->count++].span = *span;
		/* The heap is built once it is full. */
		if (slowest->count == slowest->limit)
			for (size_t i = slowest->limit / 2 + 1; i-- > 0;)
				sift_down(slowest, i);
		return;
	}
	if (!slowest->limit || !is_faster(&slowest->slow[0].span, span))
		return;
	slowest->slow[0].span = *span;
	sift_down(slowest, 0);
}

/* The slowest first. */
static int by_time(const void *a, const void *b)
{
	const struct slow *x = a, *y = b;

	return is_faster(&x->span, &y->span) ? 1 : -1;
}

/* Memory for events is allocated only when the spans are known. */
bool slowest_sort(struct slowest *slowest)
{
	if (slowest->count)
		qsort(slowest->slow, slowest->count, sizeof(*slowest->slow), by_time);
	slowest->left = slowest->around ? slowest->count : 0; /* spans without all events so far */
	for (size_t i = 0; slowest->around && i < slowest->count; i++)
		for (unsigned part = 0; part < SLOW_PARTS; part++) {
			slowest->slow[i].part[part] =
				calloc(slowest->around, sizeof(struct slow_event));
			if (!slowest->slow[i].part[part])
				return false;
		}
	return true;
}

/*
 * Copies an event to the next place of a part; its data is cut to the size of the place. A full
 * part loses its oldest event; callers stop before that where the first ones are wanted.
 */
static void keep_event(const struct slowest *slowest, struct slow *slow, enum slow_part part,
		 const struct reading *reading)
{
	struct slow_event *to = &slow->part[part][slow->seen[part] % slowest->around];

	to->event = reading->event;
	to->ordinal = reading->ordinal;
	if (to->event.data_len > SLOWEST_BYTES)
		to->event.data_len = SLOWEST_BYTES;
	if (to->event.data_len)
		memcpy(to->bytes, reading->event.data, to->event.data_len);
	slow->seen[part]++;
}

/*
 * Returns true if the event is before the span. An event with its own duration has no begin event,
 * so the time decides.
 */
static bool is_before(const struct span *span, const struct reading *reading)
{
	return span->begin_ordinal ? reading->ordinal < span->begin_ordinal :
	       reading->event.time_ns < span->begin_ns;
}

/*
 * Adds the event to the part of the span that it belongs to. Events of threads other than the
 * span's are ignored.
 */
static void offer_event(struct slowest *slowest, struct slow *slow, const struct reading *reading)
{
	const struct span *span = &slow->span;
	bool begins = reading->event.tid == span->begin_tid, ends = reading->event.tid == span->tid;

	if (reading->event.info.posix_pid != span->pid || (!begins && !ends))
		return;
	if (reading->ordinal > span->end_ordinal) {
		if (!ends || slow->seen[SLOW_AFTER] >= slowest->around)
			return;
		keep_event(slowest, slow, SLOW_AFTER, reading);
		slowest->left -= slow->seen[SLOW_AFTER] == slowest->around;
	} else if (is_before(span, reading) && reading->ordinal != span->end_ordinal) {
		if (begins)
			keep_event(slowest, slow, SLOW_BEFORE, reading);
	} else if (slow->seen[SLOW_FIRST] < slowest->around) {
		keep_event(slowest, slow, SLOW_FIRST, reading);
	} else {
		keep_event(slowest, slow, SLOW_LAST, reading);
	}
}

/* The time is the number of kept spans for each event; SLOWEST_MAX bounds it. */
bool slowest_event(struct slowest *slowest, const struct reading *reading)
{
	for (size_t i = 0; i < slowest->count; i++)
		offer_event(slowest, &slowest->slow[i], reading);
	return slowest->left != 0;
}

/*
 * The pointer to the data of a copied event is that of the reading, which is invalid by now. Here
 * it is replaced by that of the copy.
 */
const struct slow_event *slowest_at(const struct slowest *slowest, const struct slow *slow,
				    enum slow_part part, size_t index)
{
	uint64_t seen = slow->seen[part];
	struct slow_event *at;

	if (index >= seen || index >= slowest->around)
		return NULL;
	at = &slow->part[part][(seen > slowest->around ? seen + index : index) % slowest->around];
	at->event.data = at->bytes;
	return at;
}
