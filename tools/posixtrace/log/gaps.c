/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "log/gaps.h"

#include <string.h>

static void begin(struct gaps *gaps, enum gap_kind kind, int64_t time_ns)
{
	/* A stream that stops because it is full records OVERFLOW, too, before it or behind it. */
	if (gaps->is_open) {
		if (gaps->open.kind == GAP_LOST && kind == GAP_FULL)
			gaps->open.kind = kind;
		return;
	}
	gaps->is_open = true;
	gaps->open = (struct gap){ time_ns, time_ns, kind };
}

static unsigned end(struct gaps *gaps, int64_t time_ns, struct gap *gap)
{
	if (!gaps->is_open)
		return 0;
	gaps->is_open = false;
	*gap = gaps->open;
	if (time_ns > gap->begin_ns)
		gap->end_ns = time_ns;
	return 1;
}

static bool is_automatic(const struct posix_trace_event_np *event)
{
	int automatic = 0;

	if (event->data_len >= sizeof(automatic))
		memcpy(&automatic, event->data, sizeof(automatic));
	return automatic != 0;
}

static unsigned look(struct gaps *gaps, const struct posix_trace_event_np *event, struct gap *gap)
{
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_STOP:
		begin(gaps, is_automatic(event) ? GAP_FULL : GAP_STOPPED, event->time_ns);
		return 0;
	case POSIX_TRACE_OVERFLOW:
		begin(gaps, GAP_LOST, event->time_ns);
		return 0;
	case POSIX_TRACE_RESUME:
		if (gaps->is_open && gaps->open.kind != GAP_LOST)
			return 0; /* START ends it */
		begin(gaps, GAP_LOST, event->time_ns);
		return end(gaps, event->time_ns, gap);
	case POSIX_TRACE_START:
		return end(gaps, event->time_ns, gap);
	}
	return 0;
}

unsigned gaps_event(struct gaps *gaps, const struct posix_trace_event_np *event,
		    struct gap gap[GAPS_OF_AN_EVENT])
{
	unsigned count = 0;

	if (event->flags & POSIX_TRACE_EVENT_GAP_NP) {
		bool falls = !gaps->any || gaps->last_ns > event->time_ns;

		gap[count++] = (struct gap){ falls ? event->time_ns : gaps->last_ns, event->time_ns,
					     GAP_DAMAGED };
	}
	gaps_pass(gaps, event->time_ns);
	if (event->info.posix_event_id <= POSIX_TRACE_FLUSH_STOP)
		count += look(gaps, event, &gap[count]);
	return count;
}

bool gaps_end(struct gaps *gaps, int64_t last_ns, struct gap *gap)
{
	return gaps->is_open && gaps->open.kind != GAP_STOPPED && end(gaps, last_ns, gap);
}
