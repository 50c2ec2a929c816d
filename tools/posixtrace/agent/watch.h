/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch.h - a second stream of a process, whose events the agent reads while they happen: for
 * triggers on spans and errors, and for durations in the metrics.
 *
 * The flight recorder has no reader, so this stream is one of its own, with the policy LOOP: a
 * process never waits for the agent. If the agent is slower than the process, events are
 * overwritten and their spans are not seen; the account of the stream counts them.
 */
#ifndef POSIXTRACE_AGENT_WATCH_H
#define POSIXTRACE_AGENT_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "agent/config.h"
#include "agent/metrics.h"
#include "live/admit.h"
#include "log/logfile.h"
#include "spans/pairing.h"

#define WATCH_READ_MS 100 /* how often the agent reads */
#define WATCH_REASON  320

/* A trigger for this process. */
struct watch_rule {
	const struct config_trigger *trigger;
	int64_t *window; /* times of the last errors, a circular array; NULL: a span */
	size_t next, filled;
	uint64_t worst_ns; /* the longest span since the last look */
	bool has_fired;
	char reason[WATCH_REASON];
};

/* The facts of an event type, by its id. */
struct watch_type {
	bool asked, is_known;
	const struct log_type *described; /* with its schema; NULL: it has none */
	int error_field;		  /* of the type errno; -1: none */
	size_t series;			  /* in the metrics, if is_known */
	uint64_t before;		  /* its events at the last count */
};

struct watch {
	trace_id_t trid;
	const char *record; /* name of the section */
	struct metrics *metrics;
	struct admit admit;
	struct logfile log; /* stream and types only */
	struct pairing pairing;
	struct watch_type *type;
	size_t types;
	size_t *span_of; /* index of the metrics + 1, by index of the series of spans */
	size_t spans;
	uint64_t ordinal;
	struct watch_rule *rule;
	size_t rules;
};

/* Whether a section needs a watch: it has durations, or a trigger that reads events. */
bool watch_is_needed(const struct config *config, const struct config_record *record);

/*
 * Begins to watch a process that uses the library. choose must exist until the end. Returns NULL
 * after a message.
 */
struct watch *watch_begin(pid_t pid, const struct config *config,
			  const struct config_record *record, const struct choose *choose,
			  struct metrics *metrics);
/* watch may be NULL. */
void watch_end(struct watch *watch);

/*
 * Reads what the process has recorded. A rule whose trigger fires has has_fired and a reason then;
 * the caller resets has_fired.
 */
void watch_read(struct watch *watch);

/* Adds the events since the last call to the metrics, by type. The ledger has them all. */
void watch_add_counts(struct watch *watch);

#endif
