/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz/calls.h"

static size_t most_bytes(const trace_attr_t *attr, const struct model_item *item)
{
	size_t bytes;

	if (item->type >= POSIX_TRACE_UNNAMED_USEREVENT)
		SAYS(0, posix_trace_attr_getmaxusereventsize(attr, item->len, &bytes));
	else
		SAYS(0, posix_trace_attr_getmaxsystemeventsize(attr, &bytes));
	return bytes;
}

/* The most bytes that these events can need. */
static size_t most_of(unsigned s, size_t from, size_t to)
{
	trace_attr_t attr;
	size_t bytes = 0;

	SAYS(0, posix_trace_get_attr(trid[s], &attr));
	for (size_t i = from; i < to; i++)
		bytes += most_bytes(&attr, &model[s].item[i]);
	SAYS(0, posix_trace_attr_destroy(&attr));
	return bytes;
}

static uint64_t lost_since_clear(unsigned s)
{
	return lost_by_log(s) - model[s].lost_before;
}

/* LOG-02: the events that are missing are the oldest, and no more than necessary (CH-64). */
static void skip_oldest(unsigned s)
{
	struct model_stream *m = &model[s];
	uint64_t lost = lost_since_clear(s);

	if (lost == 0)
		return;
	if (m->policy == POSIX_TRACE_FLUSH) { /* among marks of the log */
		while (m->next < m->items && !is_item(&m->item[m->next]))
			m->next++;
		m->may_skip = true;
		return;
	}
	FUZZ_MUST(m->log_fills && lost < m->items, "%llu of %zu were overwritten in the log",
		  (unsigned long long)lost, m->items);
	m->next = lost;
	FUZZ_MUST(8 * most_of(s, m->next - 1, m->items) >= 7 * SMALL_LOG_BYTES,
		  "only %zu events are left in the log", m->items - m->next);
}

/* LOG-04: the log ends with the first event that does not fit, and a STOP. */
static bool is_end(unsigned s)
{
	struct model_stream *m = &model[s];
	struct posix_trace_ledger_np line;

	if (m->log_policy != POSIX_TRACE_UNTIL_FULL || lost_since_clear(s) == 0)
		return false;
	SAYS(0, posix_trace_get_ledger_np(trid[s], &line));
	return m->next + m->log_stop >= line.reported;
}

static void must_be_full(unsigned s)
{
	struct model_stream *m = &model[s];

	FUZZ_MUST(m->log_fills && most_of(s, 0, m->next + 2) > SMALL_LOG_BYTES,
		  "the log ended after %zu events", m->next);
	m->next = m->items;
}

static bool is_own(unsigned type)
{
	return got.info.posix_pid == 0 && got.info.posix_event_id == type;
}

/*
 * SFLUSH-04, SFLUSH-06: STOP, OVERFLOW, RESUME, START; the lost events are missing there. Returns
 * false for other events.
 */
static bool tell_full(struct model_stream *m)
{
	static const unsigned order[] = { POSIX_TRACE_STOP, POSIX_TRACE_OVERFLOW,
					  POSIX_TRACE_RESUME, POSIX_TRACE_START };
	bool own = false;

	for (int i = 0; i < 4; i++)
		own |= is_own(order[i]);
	if (!own)
		return false;
	FUZZ_MUST(m->flooded && is_own(order[m->full_step]), "type %u, expected is %u",
		  (unsigned)got.info.posix_event_id, order[m->full_step]);
	m->full_step = (m->full_step + 1) % 4;
	m->may_skip = true;
	return true;
}

bool find_in_log(unsigned s)
{
	struct model_stream *m = &model[s];
	struct model_item *item;

	if (m->read.total.reported == 1 && m->log_policy == POSIX_TRACE_LOOP)
		skip_oldest(s);
	if (m->policy == POSIX_TRACE_FLUSH) {
		if (is_own(POSIX_TRACE_FLUSH_START) || is_own(POSIX_TRACE_FLUSH_STOP) ||
		    tell_full(m))
			return false;
		FUZZ_MUST(!m->full_step || got.info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT,
			  "an event while the stream was full"); /* START-08 */
		while (m->may_skip && m->next < m->items && !is_item(&m->item[m->next]))
			m->next++;
		m->may_skip = m->full_step;
		return true;
	}
	if (is_end(s)) {
		FUZZ_MUST(is_own(POSIX_TRACE_STOP) && got.data[0], "behind the log's end type %u",
			  (unsigned)got.info.posix_event_id);
		FUZZ_MUST(m->log_stop && !get(s, READ_BYTES), "something behind the log's STOP");
		must_be_full(s);
		return false;
	}
	item = &m->item[m->next];
	if (m->next + 1 < m->items && item[1].floats && is_own(POSIX_TRACE_START) &&
	    !is_item(item)) {
		struct model_item start = item[1];

		item[1] = item[0];
		item[0] = start;
	}
	return true;
}

void end_of_log(unsigned s)
{
	struct model_stream *m = &model[s];

	if (is_end(s) && m->next < m->items && !m->log_stop)
		must_be_full(s);
	if (m->may_skip)
		m->next = m->items;
	if (m->read.total.reported || m->items == 0)
		compare_reported(s);
}
