/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz/model.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

void model_create(struct model_stream *stream, enum model_kind kind, int policy, size_t max_data)
{
	memset(stream, 0, sizeof(*stream));
	stream->kind = kind;
	stream->policy = policy;
	stream->max_data = max_data;
	stream->full_known = stream->overrun_known = true; /* CREATE-05 */
	stream->item = calloc(MODEL_ITEMS, sizeof(*stream->item));
	FUZZ_MUST(stream->item, "no memory");
}

void model_free(struct model_stream *stream)
{
	free(stream->item);
	memset(stream, 0, sizeof(*stream));
}

static struct model_item *append(struct model_stream *stream, unsigned type)
{
	struct model_item *item = &stream->item[stream->items];

	if (stream->filter.member[type]) /* FILTER-08, FILTER-11 */
		return NULL;
	FUZZ_MUST(stream->items < MODEL_ITEMS, "the model's list is full");
	stream->items++;
	memset(item, 0, sizeof(*item));
	item->type = type;
	return item;
}

static void append_start(struct model_stream *stream) /* START-02 */
{
	struct model_item *item = append(stream, POSIX_TRACE_START);

	if (!item)
		return;
	item->set[0] = stream->filter;
	item->len = sizeof(trace_event_set_t);
}

static void append_stop(struct model_stream *stream, int number) /* SYSEV-01 */
{
	struct model_item *item = append(stream, POSIX_TRACE_STOP);

	if (!item)
		return;
	memcpy(item->data, &number, sizeof(number));
	item->len = sizeof(number);
}

/* UFULL-10 */
static void settle_start(struct model_stream *stream)
{
	if (stream->start_due)
		append_start(stream);
	stream->start_due = false;
}

void model_start(struct model_stream *stream)
{
	if (stream->running || stream->auto_stopped) /* START-03, START-04 */
		return;
	stream->running = true;
	append_start(stream);
}

void model_stop(struct model_stream *stream)
{
	if (!stream->running) /* STOP-02, STOP-03 */
		return;
	settle_start(stream);
	stream->running = false;
	append_stop(stream, 0);
}

void model_clear(struct model_stream *stream)
{
	stream->items = stream->next = 0; /* CLEAR-01 */
	memset(&stream->filter, 0, sizeof(stream->filter)); /* CLEAR-04 */
	stream->auto_stopped = stream->start_due = stream->overwritten = false; /* UFULL-14 */
	stream->full = stream->overrun = false;
	stream->full_known = stream->overrun_known = true;
}

void model_set_filter(struct model_stream *stream, const struct model_set *set, int how)
{
	struct model_set old = stream->filter, new = old;
	struct model_item *item = NULL;

	for (unsigned type = 0; type < MODEL_TYPES; type++) { /* FILTER-02 */
		if (how == POSIX_TRACE_SET_EVENTSET)
			new.member[type] = set->member[type];
		else if (set->member[type])
			new.member[type] = how == POSIX_TRACE_ADD_EVENTSET;
	}
	if (stream->running) { /* FILTER-05, FILTER-12 */
		settle_start(stream);
		stream->filter.member[POSIX_TRACE_FILTER] &= new.member[POSIX_TRACE_FILTER];
		item = append(stream, POSIX_TRACE_FILTER);
	}
	stream->filter = new;
	if (!item)
		return;
	item->set[0] = old;
	item->set[1] = new;
	item->len = 2 * sizeof(trace_event_set_t);
}

void model_flush(struct model_stream *stream) /* FLUSHF-04, FLUSHF-05 */
{
	append(stream, POSIX_TRACE_FLUSH_START);
	append(stream, POSIX_TRACE_FLUSH_STOP);
}

void model_finish(struct model_stream *stream)
{
	model_stop(stream); /* SHUT-01 */
	if (stream->log_policy != POSIX_TRACE_UNTIL_FULL) /* SHUT-07 */
		model_flush(stream);
}

bool model_event(struct model_stream *stream, unsigned type, const void *data, size_t len, pid_t pid)
{
	struct model_item *item;

	if (stream->auto_stopped && !stream->filter.member[type]) { /* UFULL-06 */
		stream->overrun = stream->overrun_known = true;
		return false;
	}
	if (!stream->running || stream->filter.member[type])
		return false;
	settle_start(stream);
	item = append(stream, type);
	if (!item)
		return false;
	item->truncated = len > stream->max_data; /* EVENT-03 */
	item->len = item->truncated ? stream->max_data : len;
	item->pid = pid;
	if (item->len)
		memcpy(item->data, data, item->len);
	return true;
}

void model_filled(struct model_stream *stream)
{
	stream->full_known = stream->full = true;
	stream->overrun_known = false; /* the caller has asked */
	if (stream->policy == POSIX_TRACE_LOOP) {
		stream->overwritten = true;
		return;
	}
	stream->items--; /* UFULL-04 */
	stream->running = false;
	stream->auto_stopped = true;
	append_stop(stream, 1); /* UFULL-03 */
}

void model_emptied(struct model_stream *stream)
{
	stream->items = stream->next = 0;
	stream->full = stream->overwritten = false;
	stream->full_known = true;
	if (stream->auto_stopped) { /* UFULL-08 */
		stream->auto_stopped = false;
		stream->running = stream->start_due = true;
	}
}
