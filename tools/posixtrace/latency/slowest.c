/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slowest.c - keeps the slowest spans in a heap, and then the events around them in circular
 * buffers.
 *
 * The first reading of the log fills the heap. Its top is the fastest of the kept spans, so for
 * most spans one comparison shows that they need not be kept. slowest_sort() sorts the spans and
 * allocates the circular buffers. The second reading fills these buffers.
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
 * If two durations are equal, the span that ended earlier counts as the slower one. So the result
 * does not depend on the arrangement of the heap.
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

/* Until the array is full, spans are only appended. */
void slowest_add(struct slowest *slowest, const struct span *span)
{
	if (slowest->count < slowest->limit) {
		slowest->slow[slowest->count++].span = *span;
		/* When the array is full, it is made a heap. */
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

/* Compares spans for qsort(): the slowest is first. */
static int by_time(const void *a, const void *b)
{
	const struct slow *x = a, *y = b;

	return is_faster(&x->span, &y->span) ? 1 : -1;
}

/*
 * This function also allocates the memory for the events, because the number of kept spans is known
 * only now.
 */
bool slowest_sort(struct slowest *slowest)
{
	if (slowest->count)
		qsort(slowest->slow, slowest->count, sizeof(*slowest->slow), by_time);
	slowest->left = slowest->around ? slowest->count : 0; /* spans that still need events */
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
 * Copies an event to the next place of a part. If the part is full, its oldest event is
 * overwritten. The parts SLOW_FIRST and SLOW_AFTER must keep their first events, so the caller does
 * not call this function for such a part when it is full. Data that is too long loses its end.
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
 * Returns true if the event is before the span. If the span comes from one event with a duration,
 * no event begins it. In this case the function compares the time of the event with the time of the
 * span's beginning.
 */
static bool is_before(const struct span *span, const struct reading *reading)
{
	return span->begin_ordinal ? reading->ordinal < span->begin_ordinal :
	       reading->event.time_ns < span->begin_ns;
}

/*
 * Adds the event to the part of the span to which it belongs. The function ignores events of all
 * threads except the threads that began and ended the span.
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

/* The function offers the event to each kept span. There are at most SLOWEST_MAX of them. */
bool slowest_event(struct slowest *slowest, const struct reading *reading)
{
	for (size_t i = 0; i < slowest->count; i++)
		offer_event(slowest, &slowest->slow[i], reading);
	return slowest->left != 0;
}

/*
 * keep_event() has copied the event with its pointer to the data, but that pointer is no longer
 * valid. So the function replaces it by a pointer to the copied data.
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
