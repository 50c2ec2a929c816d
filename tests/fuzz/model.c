/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz/model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static struct posix_trace_ledger_np *process_line(struct model_account *account, pid_t pid)
{
	size_t i = 0;

	while (i < account->processes && account->pid[i] != pid)
		i++;
	if (i == account->processes) {
		FUZZ_MUST(i < MODEL_THREADS, "the model knows no more processes");
		account->pid[i] = pid;
		account->processes++;
	}
	return &account->process[i];
}

void model_count(struct model_account *account, unsigned type, pid_t pid, size_t column, int count)
{
	struct posix_trace_ledger_np *line[] = { &account->total, &account->type[type],
						 process_line(account, pid) };

	for (int i = 0; i < 3; i++)
		*(uint64_t *)(void *)((char *)line[i] + column) += (uint64_t)count;
}

static void called(struct model_stream *stream, unsigned type, pid_t pid, size_t column)
{
	model_count(&stream->account, type, pid, MODEL_COLUMN(called), 1);
	model_count(&stream->account, type, pid, column, 1);
}

/* Moves the item from unread to another column; a system event was in no column before. */
static void leaves(struct model_stream *stream, const struct model_item *item, size_t column)
{
	if (item->own) {
		called(stream, item->type, item->pid, column);
		return;
	}
	model_count(&stream->account, item->type, item->pid, MODEL_COLUMN(unread), -1);
	model_count(&stream->account, item->type, item->pid, column, 1);
}

void model_read(struct model_stream *stream)
{
	leaves(stream, &stream->item[stream->next++], MODEL_COLUMN(reported));
}

void model_overwritten(struct model_stream *stream)
{
	leaves(stream, &stream->item[stream->next++], MODEL_LOST(OVERWRITTEN));
}

static struct model_item *append_own(struct model_stream *stream, unsigned type, pid_t pid)
{
	struct model_item *item = &stream->item[stream->items];

	if (stream->filter.member[type]) /* FILTER-08, FILTER-11 */
		return NULL;
	FUZZ_MUST(stream->items < MODEL_ITEMS, "the model's list is full");
	stream->items++;
	memset(item, 0, sizeof(*item));
	item->type = type;
	item->pid = pid;
	item->own = true;
	return item;
}

static struct model_item *append(struct model_stream *stream, unsigned type, pid_t pid)
{
	struct model_item *item = append_own(stream, type, pid);

	if (item) {
		item->own = false;
		called(stream, type, pid, MODEL_COLUMN(unread));
	}
	return item;
}

static struct model_item *append_start(struct model_stream *stream, bool own) /* START-02 */
{
	struct model_item *item = own ? append_own(stream, POSIX_TRACE_START, 0) : /* SYSEV-06 */
					append(stream, POSIX_TRACE_START, getpid());

	if (!item)
		return NULL;
	item->set[0] = stream->filter;
	item->len = sizeof(trace_event_set_t);
	return item;
}

static void append_stop(struct model_stream *stream, int number) /* SYSEV-01 */
{
	struct model_item *item = number ? append_own(stream, POSIX_TRACE_STOP, 0) :
					   append(stream, POSIX_TRACE_STOP, getpid());

	if (!item)
		return;
	memcpy(item->data, &number, sizeof(number));
	item->len = sizeof(number);
}

/* UFULL-10 */
static void settle_start(struct model_stream *stream)
{
	if (stream->start_due)
		append_start(stream, true);
	stream->start_due = false;
}

void model_start(struct model_stream *stream)
{
	stream->held = false; /* STOP-05 */
	if (stream->running || stream->auto_stopped) /* START-03, START-04 */
		return;
	stream->running = true;
	append_start(stream, false);
}

void model_stop(struct model_stream *stream)
{
	stream->held = stream->auto_stopped; /* STOP-05 */
	if (!stream->running) /* STOP-02, STOP-03 */
		return;
	settle_start(stream);
	stream->running = false;
	append_stop(stream, 0);
}

static void clear_line(struct posix_trace_ledger_np *line, bool log)
{
	uint64_t *cleared = &line->lost[POSIX_TRACE_LOST_CLEARED_NP];

	*cleared += line->unread + (log ? line->reported : 0); /* CLEAR-01, CLEAR-07 */
	line->unread = 0;
	line->reported = log ? 0 : line->reported;
}

void model_clear(struct model_stream *stream)
{
	struct model_account *account = &stream->account;
	bool log = stream->kind == MODEL_LOGGED;

	clear_line(&account->total, log);
	for (unsigned type = 0; type < MODEL_TYPES; type++)
		clear_line(&account->type[type], log);
	for (size_t i = 0; i < account->processes; i++)
		clear_line(&account->process[i], log);
	stream->items = stream->next = 0;
	memset(&stream->filter, 0, sizeof(stream->filter)); /* CLEAR-04 */
	stream->auto_stopped = stream->start_due = stream->overwritten = false; /* UFULL-14 */
	stream->uncertain = stream->log_fills || stream->policy == POSIX_TRACE_FLUSH;
	stream->held = stream->log_full = stream->log_stop = stream->flooded = false;
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
		item = append(stream, POSIX_TRACE_FILTER, getpid());
	}
	stream->filter = new;
	if (!item)
		return;
	item->set[0] = old;
	item->set[1] = new;
	item->len = 2 * sizeof(trace_event_set_t);
}

/* The overwritten events are missing in the log at their place. */
static void note_gap(struct model_stream *stream)
{
	struct model_item *item = &stream->item[stream->next];

	if (item->own) /* a FLUSH_STOP older than the lost events: it is not reported */
		stream->next++;
	item->gap = true;
	item->silent_overflow = stream->filter.member[POSIX_TRACE_OVERFLOW];
	item->silent_resume = stream->filter.member[POSIX_TRACE_RESUME];
	stream->overwritten = false;
	stream->uncertain = true;
}

static void flush_all(struct model_stream *stream)
{
	if (stream->overwritten)
		note_gap(stream);
	while (stream->next < stream->items)
		model_read(stream);
	stream->full = false; /* SLOOP-09, UFULL-15 */
}

void model_flush(struct model_stream *stream, bool log_ended) /* FLUSHF-04, FLUSHF-05 */
{
	const bool again = stream->auto_stopped && !stream->held && !log_ended;
	struct model_item *start;

	append_own(stream, POSIX_TRACE_FLUSH_START, getpid());
	flush_all(stream);
	append_own(stream, POSIX_TRACE_FLUSH_STOP, getpid());
	if (!stream->auto_stopped)
		return;
	stream->auto_stopped = stream->held = false;
	stream->running = again;
	stream->uncertain = true; /* the specification does not say whether the START was flushed,
				   * too */
	start = again ? append_start(stream, true) : NULL;
	if (start)
		start->floats = true;
}

void model_log_ended(struct model_stream *stream)
{
	stream->log_full = true; /* LOG-05, LOG-06, CH-25 */
	stream->log_stop = !stream->filter.member[POSIX_TRACE_STOP];
	if (stream->log_stop)
		called(stream, POSIX_TRACE_STOP, 0, MODEL_COLUMN(reported));
	stream->running = stream->auto_stopped = stream->held = stream->start_due = false;
}

void model_finish(struct model_stream *stream)
{
	model_stop(stream); /* SHUT-01 */
	stream->auto_stopped = false; /* and does not restart */
	if (stream->log_policy != POSIX_TRACE_UNTIL_FULL) /* SHUT-07 */
		model_flush(stream, true);
	flush_all(stream);
	if (!stream->log_full)
		/* if it ended just now */
		stream->log_stop = !stream->filter.member[POSIX_TRACE_STOP];
}

void model_rewind(struct model_stream *stream)
{
	stream->next = 0;
	stream->full_step = 0;
	stream->may_skip = false;
	memset(&stream->read, 0, sizeof(stream->read));
}

bool model_event(struct model_stream *stream, unsigned type, const void *data, size_t len,
		 pid_t pid)
{
	struct model_item *item;

	if (stream->auto_stopped && !stream->filter.member[type]) { /* UFULL-06 */
		if (stream->held)
			return false; /* section 8, 7 */
		stream->overrun = stream->overrun_known = true;
		called(stream, type, pid, MODEL_LOST(STREAM_FULL));
		return false;
	}
	if (!stream->running || stream->filter.member[type])
		return false;
	settle_start(stream);
	item = append(stream, type, pid);
	if (!item)
		return false;
	item->truncated = len > stream->max_data; /* EVENT-03 */
	item->len = item->truncated ? stream->max_data : len;
	if (item->len)
		memcpy(item->data, data, item->len);
	return true;
}

bool model_start_is_due(const struct model_stream *stream)
{
	bool due = stream->start_due;

	for (size_t i = stream->next; i < stream->items; i++)
		due |= stream->item[i].floats;
	return due;
}

void model_filled(struct model_stream *stream)
{
	stream->full_known = stream->full = true;
	stream->overrun_known = false; /* the caller has checked */
	if (stream->policy == POSIX_TRACE_LOOP) {
		stream->overwritten = true;
		return;
	}
	leaves(stream, &stream->item[--stream->items], MODEL_LOST(STREAM_FULL)); /* UFULL-04 */
	stream->running = false;
	stream->auto_stopped = true;
	append_stop(stream, 1); /* UFULL-03 */
}

void model_emptied(struct model_stream *stream)
{
	stream->items = stream->next = 0;
	stream->full = stream->overwritten = false;
	stream->full_known = true;
	if (stream->auto_stopped) /* UFULL-08 */
		stream->running = stream->start_due = !stream->held;
	stream->auto_stopped = stream->held = false;
}
