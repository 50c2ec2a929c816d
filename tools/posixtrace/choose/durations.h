/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * durations.h - the durations of events, for --where 'duration > 1ms'.
 *
 * An event has a duration if its payload contains a duration, as in events of calls of the C
 * library. An event that ends a span has a duration if the begin of the span was read (pairing.h).
 * If an event has a field named duration, this field is used instead. If no expression or option
 * needs durations, they are not computed.
 */
#ifndef POSIXTRACE_CHOOSE_DURATIONS_H
#define POSIXTRACE_CHOOSE_DURATIONS_H

#include "spans/pairing.h"

struct wanted;

struct durations {
	bool on;
	/* An event type of the log can have a duration. durations_fits() sets it. */
	bool possible;
	/*
	 * A caller that can discard events later sets this to true. An event that begins a span has
	 * no duration yet. If keeps_begins is true, and only this missing duration makes the
	 * expression undecided, the event is chosen.
	 */
	bool keeps_begins;
	/*
	 * about the last event of durations_determine(): whether it has a duration, and whether it
	 * begins a span
	 */
	bool has, is_begin;
	uint64_t ns;
	struct pairing pairing;
};

/*
 * Starts the durations for a log whose types are known. Returns false after it printed which type
 * or field of --pair the log lacks.
 */
bool durations_begin(struct durations *durations, struct wanted *wanted, struct logfile *log);
/*
 * Starts the durations for a source whose types become known only with its events. At the end, the
 * caller calls durations_fits(), which returns the same as durations_begin().
 */
void durations_begin_open(struct durations *durations, const struct wanted *wanted);
bool durations_fits(struct durations *durations, struct wanted *wanted, struct logfile *log);
/*
 * Frees the memory. The call is also allowed if durations_begin() found that no durations are
 * needed.
 */
void durations_end(struct durations *durations);

/*
 * Sets 'has', is_begin and 'ns' for this event. It must be called for every event of the log in
 * order, also for events that are not chosen. Callers use durations_event(), which calls it if
 * durations are needed.
 */
void durations_determine(struct durations *durations, const struct log_type *type,
			 const struct posix_trace_event_np *event);

static inline void durations_event(struct durations *durations, const struct log_type *type,
				   const struct posix_trace_event_np *event)
{
	if (__builtin_expect(durations->on, 0))
		durations_determine(durations, type, event);
}

#endif
