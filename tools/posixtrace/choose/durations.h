/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * durations.h - the durations of events, for --where 'duration > 1ms'.
 *
 * An event has a duration if its data contains one, as in the events of calls of the C library. An
 * event that ends a span has a duration if the begin of the span was read (pairing.h). If an event
 * has a field named duration, an expression uses this field instead. Durations are computed only if
 * an expression or an option needs them.
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
	 * no duration yet, so the result of the expression may be unknown. If keeps_begins is true,
	 * such an event is chosen.
	 */
	bool keeps_begins;
	/*
	 * whether the last event that was passed to durations_determine() has a duration, and
	 * whether it begins a span
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
 * Sets 'has', is_begin and 'ns' for this event. A command passes every event of the log in order,
 * also events that are not chosen. It calls durations_event(), which calls this function only if
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
