/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "formats/etw_spans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/etw_cost.h"
#include "formats/octets.h"

#define PLACES  (2 * ETW_COST_THREADS)
#define BUCKETS 4096

struct total { /* what a thread cost so far */
	bool used;
	uint32_t pid, tid;
	uint64_t cost_ns, unknown;
};

struct open {
	struct etw_span span;
	struct open *next;           /* of its bucket, older ones behind it */
	struct open *before, *after; /* in order of time */
};

struct etw_spans {
	const struct etw_file *file;
	struct open *bucket[BUCKETS];
	struct open *first, *last;
	size_t open;
	uint64_t without_room;
	size_t threads;
	struct total total[PLACES];
};

struct etw_spans *etw_spans_new(const struct etw_file *file)
{
	struct etw_spans *spans = calloc(1, sizeof(*spans));

	if (spans)
		spans->file = file;
	return spans;
}

void etw_spans_free(struct etw_spans *spans)
{
	if (!spans)
		return;
	while (spans->first) {
		struct open *next = spans->first->after;

		free(spans->first);
		spans->first = next;
	}
	free(spans);
}

uint64_t etw_spans_without_room(const struct etw_spans *spans)
{
	return spans->without_room;
}

const struct etw_span *etw_spans_open(const struct etw_spans *spans, const struct etw_span *before)
{
	/* A span is the first member of what it is in. */
	const struct open *open =
		before ? ((const struct open *)(const void *)before)->after : spans->first;

	return open ? &open->span : NULL;
}

/* ------------------------------------------------------------------ what threads cost */

/* NULL: there are too many. */
static struct total *total_of(struct etw_spans *spans, uint32_t pid, uint32_t tid)
{
	uint64_t mix = ((uint64_t)pid << 32 | tid) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(mix >> 40) % PLACES;

	while (spans->total[i].used && (spans->total[i].tid != tid || spans->total[i].pid != pid))
		i = (i + 1) % PLACES;
	if (spans->total[i].used)
		return &spans->total[i];
	if (spans->threads == ETW_COST_THREADS)
		return NULL;
	spans->threads++;
	spans->total[i] = (struct total){ .used = true, .pid = pid, .tid = tid };
	return &spans->total[i];
}

static void add_cost(struct total *total, int64_t cost_ns)
{
	total->unknown += cost_ns == ETW_COST_UNKNOWN;
	if (cost_ns > 0)
		total->cost_ns += (uint64_t)cost_ns;
}

/* ------------------------------------------------------------------ what belongs together */

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Of a process event the process that it is about; false: nobody knows. */
static bool process_of(const struct etw_spans *spans, const struct etw_record *r, uint32_t *pid)
{
	size_t at = r->header + (r->version ? spans->file->pointer_bytes : 0);

	if ((r->version && !spans->file->pointer_bytes) || at + 4 > r->size)
		return false;
	*pid = octets_u32(r->bytes + at);
	return true;
}

#define ACTIVITY_AT 0x40 /* in the header of an event of a provider */

static bool activity_of(const struct etw_record *r, const unsigned char **activity)
{
	static const unsigned char none[ETW_GUID_BYTES];

	if (r->header < ACTIVITY_AT + ETW_GUID_BYTES)
		return false;
	*activity = r->bytes + ACTIVITY_AT;
	return memcmp(*activity, none, sizeof(none)) != 0;
}

/* False: it is of no span. */
static bool identify(const struct etw_spans *spans, const struct etw_record *r,
		     struct etw_span *span)
{
	bool provider = r->kind == ETW_EVENT && !etw_is_classic(r);
	uint32_t ids[] = { r->pid, r->tid }, process;
	const unsigned char *activity;
	char class[ETW_GUID_TEXT];

	if (r->kind == ETW_MESSAGE || r->kind == ETW_SKIPPED)
		return false;
	etw_class(r, class);
	if (provider)
		snprintf(span->name, sizeof(span->name), "etw.%s.%u", class, r->task);
	else
		snprintf(span->name, sizeof(span->name), "etw.%s", class);
	span->key = mix(UINT64_C(0xcbf29ce484222325), span->name, strlen(span->name));
	span->by_thread = false;
	if (provider && activity_of(r, &activity)) {
		span->key = mix(span->key, activity, ETW_GUID_BYTES);
	} else if (!provider && !strcmp(class, "process")) {
		if (!process_of(spans, r, &process))
			return false;
		span->key = mix(span->key, &process, sizeof(process));
	} else {
		span->key = mix(span->key, ids, sizeof(ids));
		span->by_thread = r->has_ids;
	}
	return true;
}

/* ------------------------------------------------------------------ spans */

static struct open **find(struct etw_spans *spans, const struct etw_span *span)
{
	struct open **place = &spans->bucket[span->key % BUCKETS];

	while (*place &&
	       ((*place)->span.key != span->key || strcmp((*place)->span.name, span->name) != 0))
		place = &(*place)->next;
	return place;
}

static void begin(struct etw_spans *spans, const struct etw_span *span)
{
	struct open **bucket = &spans->bucket[span->key % BUCKETS];
	struct open *open = spans->open < ETW_SPANS_OPEN ? malloc(sizeof(*open)) : NULL;

	if (!open) {
		spans->without_room++;
		return;
	}
	open->span = *span;
	open->next = *bucket;
	*bucket = open;
	open->before = spans->last;
	open->after = NULL;
	if (spans->last)
		spans->last->after = open;
	else
		spans->first = open;
	spans->last = open;
	spans->open++;
}

static void end(struct etw_spans *spans, struct open **place)
{
	struct open *open = *place;

	*place = open->next;
	if (open->before)
		open->before->after = open->after;
	else
		spans->first = open->after;
	if (open->after)
		open->after->before = open->before;
	else
		spans->last = open->before;
	spans->open--;
	free(open);
}

/* What the thread cost since. */
static void settle(struct etw_span *ended, const struct etw_record *r, const struct total *total)
{
	ended->has_cost = ended->by_thread && total && r->has_cpu && r->tid && r->tid != UINT32_MAX;
	if (!ended->has_cost)
		return;
	ended->cost_ns = total->cost_ns - ended->cost_ns;
	ended->unknown = total->unknown - ended->unknown;
}

bool etw_spans_take(struct etw_spans *spans, const struct etw_record *r, int64_t time_ns,
		    int64_t cost_ns, struct etw_span *ended)
{
	struct total *total = r->has_ids ? total_of(spans, r->pid, r->tid) : NULL;
	struct etw_span span = { .begin_ns = time_ns, .pid = r->pid, .tid = r->tid };
	struct open **place;

	if (total)
		add_cost(total, cost_ns);
	if ((r->type != 1 && r->type != 2 && r->type != 7) || !identify(spans, r, &span))
		return false;
	if (r->type == 1) {
		span.cost_ns = total ? total->cost_ns : 0;
		span.unknown = total ? total->unknown : 0;
		begin(spans, &span);
		return false;
	}
	place = find(spans, &span);
	if (!*place)
		return false;
	if (r->type == 7) {
		if (!(*place)->span.dequeued)
			(*place)->span.dequeue_ns = time_ns;
		(*place)->span.dequeued = true;
		return false;
	}
	*ended = (*place)->span;
	end(spans, place);
	settle(ended, r, total);
	return true;
}
