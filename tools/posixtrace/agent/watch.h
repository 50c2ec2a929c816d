/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch.h - a second stream of a process. The agent reads its events while they happen, for
 * triggers on spans, errors and rules, and for durations in the metrics.
 *
 * It is a separate stream, because the events of the flight recorder must not be read. It has the
 * policy LOOP, so the process never waits for the agent. If the agent is slower than the process,
 * events are overwritten. In this case the watch misses the spans of the overwritten events, but
 * the account of the stream counts these events.
 */
#ifndef POSIXTRACE_AGENT_WATCH_H
#define POSIXTRACE_AGENT_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "agent/config.h"
#include "agent/metrics.h"
#include "agent/watch_judge.h"
#include "live/admit.h"
#include "log/logfile.h"
#include "spans/pairing.h"

#define WATCH_READ_MS 100 /* the time between two readings */
#define WATCH_REASON  320

/* A trigger, and its state for this process. */
struct watch_rule {
	const struct config_trigger *trigger;
	/* for CONFIG_ERRORS: times of the last errors, a circular array; otherwise NULL */
	int64_t *window;
	size_t next, filled;
	uint64_t worst_ns; /* if has_fired: the longest span that has fired the rule */
	bool has_fired;
	char reason[WATCH_REASON];
};

/* The facts about an event type. */
struct watch_type {
	bool was_looked_up, is_known;
	const struct log_type *described; /* the type with its schema; NULL: it has no schema */
	int error_field;		  /* index of the field of type errno; -1: none */
	size_t series;			  /* if is_known: index of its series in the metrics */
	/* the number of the type's events when they were last added to the metrics */
	uint64_t before;
};

struct watch {
	trace_id_t trid;
	const char *record; /* name of the section */
	struct metrics *metrics;
	struct admit admit;
	struct logfile log; /* only trid and the types are used */
	struct pairing pairing;
	struct watch_type *type;
	size_t types;
	size_t *span_of; /* for each series of spans: its index in the metrics + 1; 0: unknown */
	size_t spans;
	uint64_t ordinal;
	struct watch_rule *rule;
	size_t rules;
	struct watch_judge *judge; /* for triggers on rules; NULL: there is none */
	/* buffer for the data of an event, of the greatest size that the stream permits */
	unsigned char *data;
	size_t data_bytes;
};

/*
 * Returns whether a section needs a watch, because it has durations or a trigger that reads events.
 */
bool watch_is_needed(const struct config *config, const struct config_record *record);

/*
 * Begins to watch a process that has the library, and stores the watch in *result. "choose" must
 * exist until watch_end(). Returns 0, or the error number of the stream after it printed an error.
 * EAGAIN: there are too many streams.
 */
int watch_begin(struct watch **result, pid_t pid, const struct config *config,
		const struct config_record *record, const struct choose *choose,
		struct metrics *metrics);
/* Ends the watch. "watch" may be NULL. */
void watch_end(struct watch *watch);

/*
 * Reads the events that the process has recorded. If a rule fires, sets the members has_fired and
 * "reason" of the rule. The caller resets has_fired.
 */
void watch_read(struct watch *watch);
/*
 * Like watch_read(), for a process that has ended. No further event can follow, so rules do not
 * wait for late events.
 */
void watch_read_last(struct watch *watch);

/*
 * Adds the number of events of each type since the last call to the metrics. The numbers come from
 * the ledger, so they include overwritten events.
 */
void watch_add_counts(struct watch *watch);

#endif
