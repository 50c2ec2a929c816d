/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_spans.c - pairs STARTs and ENDs by a tree of the open spans. */
#include "convert/etw/etw_spans.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "convert/etw/etw_cost.h"
#include "convert/etw/etw_describe.h"

struct total { /* the CPU cost of a thread so far */
	uint32_t pid, tid;
	uint64_t cost_ns, unknown;
};

struct open {
	struct etw_span span;
	struct open *older;          /* the next older span with the same key and name */
	/* neighbours in the list of all open spans, in the order of the STARTs */
	struct open *before, *after;
};

struct etw_spans {
	const struct etw_file *file;
	void *youngest;         /* a tree with the youngest open span of each key and name */
	struct open *first, *last;
	size_t open;
	uint64_t without_room, without_memory;
	void *totals;           /* a tree of struct total */
	size_t threads;
};

struct etw_spans *etw_spans_new(const struct etw_file *file)
{
	struct etw_spans *spans = calloc(1, sizeof(*spans));

	if (spans)
		spans->file = file;
	return spans;
}

/*
 * The function that tdestroy() calls for each span. It frees nothing, because etw_spans_free()
 * frees the spans by the list.
 */
static void etw_spans_keep(void *open)
{
	(void)open;
}

/*
 * The function frees the spans that are in the list, which has every open span exactly once. The
 * tree has only the youngest span of each key and name.
 */
void etw_spans_free(struct etw_spans *spans)
{
	if (!spans)
		return;
	while (spans->first) {
		struct open *next = spans->first->after;

		free(spans->first);
		spans->first = next;
	}
	tdestroy(spans->youngest, etw_spans_keep);
	tdestroy(spans->totals, free);
	free(spans);
}

/*
 * If a START began no span, the END for it is ignored, or that END ends an older span with the same
 * key.
 */
uint64_t etw_spans_without_room(const struct etw_spans *spans)
{
	return spans->without_room;
}

uint64_t etw_spans_without_memory(const struct etw_spans *spans)
{
	return spans->without_memory;
}

/*
 * If "before" is not NULL, this function must have returned it, and no span may have ended since
 * then.
 */
const struct etw_span *etw_spans_open(const struct etw_spans *spans, const struct etw_span *before)
{
	/* The span is the first member of struct open. */
	const struct open *open =
		before ? ((const struct open *)(const void *)before)->after : spans->first;

	return open ? &open->span : NULL;
}

/* ------------------------------------------------------------------ costs of threads */

static int compare_totals(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/*
 * Returns the total of a thread. The first call for a thread makes its total. Returns NULL if there
 * are too many threads, or if memory is lacking.
 */
static struct total *total_of(struct etw_spans *spans, uint32_t pid, uint32_t tid)
{
	struct total key = { .pid = pid, .tid = tid }, **found, *total;

	found = tfind(&key, &spans->totals, compare_totals);
	if (found)
		return *found;
	total = spans->threads < ETW_COST_THREADS ? malloc(sizeof(*total)) : NULL;
	if (!total)
		return NULL;
	*total = key;
	if (!tsearch(total, &spans->totals, compare_totals)) {
		free(total);
		return NULL;
	}
	spans->threads++;
	return total;
}

/*
 * The function also counts unknown costs, because the cost of a span is unknown if the cost of one
 * of its records is unknown.
 */
static void add_cost(struct total *total, int64_t cost_ns)
{
	total->unknown += cost_ns == ETW_COST_UNKNOWN;
	if (cost_ns > 0)
		total->cost_ns += (uint64_t)cost_ns;
}

/* ------------------------------------------------------------------ keys of spans */

/*
 * Adds the fields that identify the subject of a kernel event to the span's key. Returns false if
 * the payload does not have these fields. Also returns false if memory is lacking. In this case the
 * record, which may also be an END, adds 1 to without_memory.
 */
static bool add_subject(struct etw_spans *spans, const struct etw_record *r,
			const char *class, const char *key, struct etw_span *span)
{
	struct etw_layout *layout;
	bool found;

	spans->without_memory += !etw_kernel_layout(class, r->type, r->version, &layout);
	found = layout != NULL;
	while (found && *key) {
		size_t len = strcspn(key, ",");
		uint64_t value;

		found = etw_kernel_value(layout, key, len, (unsigned)spans->file->pointer_bytes,
					 r->bytes + r->header, r->size - r->header, &value);
		if (found)
			span->key = hash_bytes(span->key, &value, sizeof(value));
		key += len + (key[len] == ',');
	}
	etw_layout_free(layout);
	return found;
}

#define ACTIVITY_AT 0x40 /* offset in the header of an event of a provider */

/*
 * Finds the activity identifier of an event of a provider. Returns false if it is missing or if all
 * its bytes are 0, which means that the event has no activity.
 */
static bool activity_of(const struct etw_record *r, const unsigned char **activity)
{
	static const unsigned char none[ETW_GUID_BYTES];

	if (r->header < ACTIVITY_AT + ETW_GUID_BYTES)
		return false;
	*activity = r->bytes + ACTIVITY_AT;
	return memcmp(*activity, none, sizeof(none)) != 0;
}

/* The role of a record for a span. */
enum role { NONE, BEGIN, END, DEQUEUE };

/*
 * Returns the role of a record by its type. For a class with a subject, etw_kernel_key() has the
 * types that begin and end a span. Sets *key to the fields that identify the subject, or to NULL if
 * the thread or the activity identifies the span.
 */
static enum role role_of(const struct etw_record *r, const char *class, const char **key)
{
	enum etw_role role;

	*key = etw_is_provider(r) ? NULL : etw_kernel_key(class, r->type, &role);
	if (*key)
		return role == ETW_ROLE_BEGIN ? BEGIN : role == ETW_ROLE_END ? END : NONE;
	return r->type == 1 ? BEGIN : r->type == 2 ? END : r->type == 7 ? DEQUEUE : NONE;
}

/* Returns the role of the record, and sets the members "name", "key" and by_thread of its span. */
static enum role identify_span(struct etw_spans *spans, const struct etw_record *r,
			       struct etw_span *span)
{
	uint32_t ids[] = { r->pid, r->tid };
	const unsigned char *activity;
	char class[ETW_GUID_TEXT];
	const char *key;
	enum role role;

	if (r->kind == ETW_MESSAGE || r->kind == ETW_SKIPPED)
		return NONE;
	etw_class(r, class);
	role = role_of(r, class, &key);
	if (role == NONE)
		return NONE;
	if (etw_is_provider(r))
		snprintf(span->name, sizeof(span->name), "etw.%s.%u", class, r->task);
	else
		snprintf(span->name, sizeof(span->name), "etw.%s", class);
	span->key = hash_bytes(HASH_BEGIN, span->name, strlen(span->name));
	if (key)
		return add_subject(spans, r, class, key, span) ? role : NONE;
	if (etw_is_provider(r) && activity_of(r, &activity)) {
		span->key = hash_bytes(span->key, activity, ETW_GUID_BYTES);
		return role;
	}
	span->key = hash_bytes(span->key, ids, sizeof(ids));
	span->by_thread = r->has_ids;
	return role;
}

/* ------------------------------------------------------------------ spans */

/*
 * Keys are hashes of 64 bits, so two spans may have the same key by chance. The function also
 * compares the names, which makes such a collision less likely.
 */
static int compare_open(const void *a, const void *b)
{
	const struct etw_span *x = &((const struct open *)a)->span;
	const struct etw_span *y = &((const struct open *)b)->span;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Returns the youngest open span with that key and name, or NULL. */
static struct open *find_open(const struct etw_spans *spans, const struct etw_span *span)
{
	struct open key = { .span = *span }, **found;

	found = tfind(&key, &spans->youngest, compare_open);
	return found ? *found : NULL;
}

/*
 * Opens a span. The new span has a link to the older open spans with the same key and name. The
 * older spans are behind the new span, since an END ends the youngest span.
 */
static void open_span(struct etw_spans *spans, const struct etw_span *span)
{
	const bool has_room = spans->open < ETW_SPANS_OPEN;
	struct open *open = has_room ? malloc(sizeof(*open)) : NULL;
	struct open **place = NULL;

	if (open) {
		*open = (struct open){ .span = *span, .before = spans->last };
		place = tsearch(open, &spans->youngest, compare_open);
	}
	if (!place) {
		free(open);
		spans->without_room += !has_room;
		spans->without_memory += has_room;
		return;
	}
	if (*place != open) {
		open->older = *place;
		*place = open;
	}
	if (spans->last)
		spans->last->after = open;
	else
		spans->first = open;
	spans->last = open;
	spans->open++;
}

/* Removes the youngest span of its key. The next older span with this key becomes the youngest. */
static void close_span(struct etw_spans *spans, struct open *open)
{
	struct open **place = tfind(open, &spans->youngest, compare_open);

	if (open->older)
		*place = open->older;
	else
		tdelete(open, &spans->youngest, compare_open);
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

/* Sets the cost of an ended span. The cost is the growth of the thread's total since the START. */
static void set_cost(struct etw_span *ended, const struct etw_record *r, const struct total *total)
{
	ended->has_cost = ended->by_thread && total && r->has_cpu && r->tid && r->tid != UINT32_MAX;
	if (!ended->has_cost)
		return;
	ended->cost_ns = total->cost_ns - ended->cost_ns;
	ended->unknown = total->unknown - ended->unknown;
}

/*
 * The wait of a span ends at its first DEQUEUE, so a second DEQUEUE is ignored. An END without a
 * START is ignored, too.
 */
bool etw_spans_take(struct etw_spans *spans, const struct etw_record *r, int64_t time_ns,
		    int64_t cost_ns, struct etw_span *ended)
{
	struct total *total = r->has_ids ? total_of(spans, r->pid, r->tid) : NULL;
	struct etw_span span = { .begin_ns = time_ns, .pid = r->pid, .tid = r->tid };
	enum role role = identify_span(spans, r, &span);
	struct open *open;

	/*
	 * The cost of the record belongs to the time before the record, so the cost is added before
	 * the record begins or ends a span.
	 */
	if (total)
		add_cost(total, cost_ns);
	if (role == NONE)
		return false;
	if (role == BEGIN) {
		span.cost_ns = total ? total->cost_ns : 0;
		span.unknown = total ? total->unknown : 0;
		open_span(spans, &span);
		return false;
	}
	open = find_open(spans, &span);
	if (!open)
		return false;
	if (role == DEQUEUE) {
		if (!open->span.dequeued)
			open->span.dequeue_ns = time_ns;
		open->span.dequeued = true;
		return false;
	}
	*ended = open->span;
	close_span(spans, open);
	set_cost(ended, r, total);
	return true;
}
