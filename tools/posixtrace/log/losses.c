/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * losses.c - prints warnings about gaps and losses. Several events may belong to one gap. So struct
 * losses keeps the open gap, and the gap is reported in one line.
 */
#include "log/losses.h"

#include <string.h>

#include "base/say.h"

void losses_init(struct losses *losses, const char *path, enum when_form form)
{
	memset(losses, 0, sizeof(*losses));
	losses->path = path;
	/* form applies to all times in the warnings. */
	losses->form = form;
}

/*
 * Returns the text for an open gap. If the stream was full but there was no OVERFLOW, the stream
 * recorded nothing in the gap. It is then unknown whether any event was lost.
 */
static const char *cause_text(const struct losses *losses)
{
	if (losses->stopped && losses->overflowed)
		return "the stream was full and stopped itself: events were lost";
	if (losses->stopped)
		return "the stream was full and stopped itself: nothing was recorded";
	return "events were lost";
}

/* Prints the open gap with its begin, end and length, and closes it. */
static void warn_gap(struct losses *losses, int64_t until_ns)
{
	char since[WHEN_BYTES], until[WHEN_BYTES], span[WHEN_BYTES];
	int64_t span_ns;

	/* A damaged log may contain any two times, so their difference may overflow. */
	if (__builtin_sub_overflow(until_ns, losses->since_ns, &span_ns))
		span_ns = INT64_MAX;
	say_warning("%s: %s: %s until %s (%s s)", losses->path,
		    when_string(since, losses->since_ns, losses->form), cause_text(losses),
		    when_string(until, until_ns, losses->form), when_span_string(span, span_ns));
	losses->stopped = false;
	losses->overflowed = false;
}

/* Notes the begin of a gap, unless a gap is open already. */
static void begin_gap(struct losses *losses, int64_t time_ns)
{
	if (!losses->stopped && !losses->overflowed)
		losses->since_ns = time_ns;
}

bool losses_is_automatic(const struct posix_trace_event_np *event)
{
	int automatic = 0;

	if (event->data_len >= sizeof(automatic))
		memcpy(&automatic, event->data, sizeof(automatic));
	return automatic != 0;
}

/* Processes RESUME. If the stream was full, a START will follow this RESUME and end the gap. */
static void resume_event(struct losses *losses, int64_t time_ns)
{
	char until[WHEN_BYTES];

	if (losses->stopped)
		return;
	if (losses->overflowed)
		warn_gap(losses, time_ns);
	else
		/*
		 * The event OVERFLOW was overwritten together with the lost events, so the begin of
		 * the gap is unknown.
		 */
		say_warning("%s: %s: events before this one were lost", losses->path,
			    when_string(until, time_ns, losses->form));
}

void losses_event(struct losses *losses, const struct posix_trace_event_np *event)
{
	if (event->flags & POSIX_TRACE_EVENT_GAP_NP) {
		char when[WHEN_BYTES];

		/* The library sets this flag in the first event behind a damaged part. */
		losses->skipped = true;
		say_warning("%s: %s: a damaged part of the log was skipped before this event",
			    losses->path, when_string(when, event->time_ns, losses->form));
	}
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_STOP:
		/* A STOP by posix_trace_stop() is intended and loses no event. */
		if (losses_is_automatic(event)) {
			begin_gap(losses, event->time_ns);
			losses->stopped = true;
		}
		break;
	case POSIX_TRACE_OVERFLOW:
		begin_gap(losses, event->time_ns);
		losses->overflowed = true;
		break;
	case POSIX_TRACE_RESUME:
		resume_event(losses, event->time_ns);
		break;
	case POSIX_TRACE_START:
		if (losses->stopped)
			warn_gap(losses, event->time_ns);
		break;
	}
}

void losses_end(struct losses *losses)
{
	char since[WHEN_BYTES];

	if (losses->stopped || losses->overflowed)
		say_warning("%s: %s: %s from here to the end", losses->path,
			    when_string(since, losses->since_ns, losses->form), cause_text(losses));
}

int losses_ledger(struct losses *losses, trace_id_t trid)
{
	struct posix_trace_ledger_np ledger;
	/* The ledger also has losses that left no gap, such as those by nesting. */
	int err = posix_trace_get_ledger_np(trid, &ledger);

	if (err)
		return err;
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (ledger.lost[i])
			say_warning("%s: %llu of %llu events lost: %s", losses->path,
				    (unsigned long long)ledger.lost[i],
				    (unsigned long long)ledger.called, posix_trace_lost_name_np(i));
	if (ledger.unattributed)
		say_warning("%s: %llu of %llu events are unattributed: recorded or lost, and it is "
			    "not known which", losses->path,
			    (unsigned long long)ledger.unattributed,
			    (unsigned long long)ledger.called);
	return 0;
}

uint64_t losses_count(const struct posix_trace_ledger_np *ledger)
{
	uint64_t sum = ledger->unattributed;

	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		/* A damaged ledger may contain any numbers, so the sum may overflow. */
		if (i != POSIX_TRACE_LOST_CLEARED_NP &&
		    __builtin_add_overflow(sum, ledger->lost[i], &sum))
			return UINT64_MAX;
	return sum;
}

uint64_t losses_of_type(trace_id_t trid, trace_event_id_t id)
{
	struct posix_trace_ledger_np line;

	return posix_trace_get_ledger_type_np(trid, id, &line) ? 0 : losses_count(&line);
}

void losses_subtract(struct posix_trace_ledger_np *left, const struct posix_trace_ledger_np *line)
{
	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		left->lost[cause] -= line->lost[cause] < left->lost[cause] ? line->lost[cause] :
				     left->lost[cause];
}
