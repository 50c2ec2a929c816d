/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * durations.h - the durations of events, for --where 'duration > 1ms'.
 *
 * An event has a duration if its payload contains one, as the events of calls of the C library do,
 * or if it ends a span whose begin was seen (pairing.h). An event's own field named duration has
 * precedence. If no expression or option needs durations, they are not computed.
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
	 * Set by a caller that can discard events later. The begin of a span is then chosen if only
	 * its unknown duration prevents a decision.
	 */
	bool keeps_begins;
	/* for the event that durations_see() got last: it has a duration; it begins a span */
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
 * Starts the durations for a source whose types become known only with its events. The caller calls
 * durations_fits() at the end.
 */
void durations_begin_open(struct durations *durations, const struct wanted *wanted);
bool durations_fits(struct durations *durations, struct wanted *wanted, struct logfile *log);
/* Frees the memory; harmless if nothing was started. */
void durations_end(struct durations *durations);

/* To be called for every event in the log's order, chosen or not: it sets has, is_begin and ns. */
void durations_see(struct durations *durations, const struct log_type *type,
		   const struct posix_trace_event_np *event);

static inline void durations_event(struct durations *durations, const struct log_type *type,
				   const struct posix_trace_event_np *event)
{
	if (__builtin_expect(durations->on, 0))
		durations_see(durations, type, event);
}

#endif
