/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plan.h - what is known of a trace before it is converted, because it was read once before: which
 * events begin and end spans, the lane of each span, the greatest and least time, and what threads
 * are called.
 *
 * Which events make a span is what spans/pairing.h says, as for every other command. The plan has a
 * record for each event of a type that can begin or end one, in the order of the events; it is made
 * by scan.c and then asked event by event.
 *
 * Memory    constant for the records, which are in a temporary file; bounded for threads.
 * Errors    0 or an error number.
 */
#ifndef POSIXTRACE_CONVERT_PLAN_H
#define POSIXTRACE_CONVERT_PLAN_H

#include "convert/format.h"

#define PLAN_BLOCK 65536 /* records that are in memory */

enum plan_use { PLAN_NONE, PLAN_BEGIN, PLAN_END, PLAN_WHOLE };

struct plan_record {
	int64_t other_ns;      /* of the begin, the end; of the others, the begin */
	uint64_t begin;        /* the number of the begin's record + 1; 0: no span */
	uint32_t lane;
	uint32_t has_lane;     /* for scan.c: the lane was taken before the end is known */
};

struct plan_kind {             /* of an event type, by its index */
	enum plan_use use;
	bool keyed;
	unsigned series;
	char *name;            /* of the span */
	bool was_early;        /* it had events before it was known what it does */
};

struct plan_name {
	uint32_t pid, tid;
	uint64_t thread;
	char *name;
};

struct plan {
	struct plan_kind *kind;
	size_t kinds;
	int fd;
	uint64_t records, at;
	uint64_t block;        /* the number of the one in memory */
	struct plan_record *record;
	struct plan_name *name;
	size_t names;
	bool any;              /* there was an event: */
	int64_t least_ns, greatest_ns;
	int64_t begin_ns;      /* the least begin of a span */
	uint64_t gaps, lost;
	uint64_t gaps_of[POSIX_TRACE_LOST_CAUSES_NP], lost_of[POSIX_TRACE_LOST_CAUSES_NP];
};

int plan_init(struct plan *plan);
void plan_fini(struct plan *plan);

/* Making it: one record more, without a span; and a record to be changed, until the next call. */
int plan_add(struct plan *plan, uint64_t *number);
int plan_change(struct plan *plan, uint64_t number, const struct plan_record *record);
int plan_look(struct plan *plan, uint64_t number, struct plan_record *record);

/* The kind of a type, made if it is new. NULL: no memory. */
struct plan_kind *plan_kind(struct plan *plan, size_t type);
int plan_call(struct plan *plan, uint32_t pid, uint32_t tid, uint64_t thread, const char *name);

/* After the last event: from now on it is asked from the first event on. */
int plan_finish(struct plan *plan);

/* The next event of the same trace. False: it is no part of a span. */
bool plan_span(struct plan *plan, const struct fmt_event *event, struct fmt_span *span);

/* What it knows of the whole. */
void plan_facts(const struct plan *plan, struct fmt_facts *facts);

#endif
