/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * durations.h - how long what an event tells of took, for --where 'duration > 1ms'.
 *
 * An event has a duration if its payload says so, as those of the C library's calls do, or if it
 * ends a span whose begin was seen: pairing.h says which events belong together. An event's own
 * field of the name duration comes first. Unless an expression asks for durations, this costs
 * nothing.
 */
#ifndef POSIXTRACE_CHOOSE_DURATIONS_H
#define POSIXTRACE_CHOOSE_DURATIONS_H

#include "spans/pairing.h"

struct wanted;

struct durations {
	bool on;
	/* an event type of the log can have one: found by durations_fits() */
	bool possible;
	/* what begins a span is wanted if only its duration is not known yet */
	bool keeps_begins;
	bool has, is_begin;    /* the event at hand */
	uint64_t ns;
	struct pairing pairing;
};

/* For a log whose types are known. False: it has said which of them --pair names in vain. */
bool durations_begin(struct durations *durations, struct wanted *wanted, struct logfile *log);
/* The same where the types come with the events; then durations_fits() at the end. */
void durations_begin_open(struct durations *durations, const struct wanted *wanted);
bool durations_fits(struct durations *durations, struct wanted *wanted, struct logfile *log);
void durations_end(struct durations *durations);

/* Every event, in the log's order, whether it is wanted or not. */
void durations_see(struct durations *durations, const struct log_type *type,
		   const struct posix_trace_event_np *event);

static inline void durations_event(struct durations *durations, const struct log_type *type,
				   const struct posix_trace_event_np *event)
{
	if (__builtin_expect(durations->on, 0))
		durations_see(durations, type, event);
}

#endif
