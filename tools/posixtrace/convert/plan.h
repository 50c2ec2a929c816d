/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plan.h - the results of a first reading of the trace. They are the events that begin and end
 * spans, the lane of each span, the least and greatest time, and the names of threads.
 *
 * spans/pairing.h decides which events make a span, as for all other commands. The plan has one
 * record for each selected event of a type that begins spans, ends spans, or has their durations.
 * If the spans of a type have the names of functions, each of its events has a second record, which
 * directly precedes the first. The records are in the order of the events. scan.c makes them during
 * the first reading. During the second reading, plan_span() is called for each selected event in
 * the same order.
 *
 * Memory    constant for the records, which are in a temporary file; bounded for threads.
 * Errors    0 or an error number.
 */
#ifndef POSIXTRACE_CONVERT_PLAN_H
#define POSIXTRACE_CONVERT_PLAN_H

#include "base/table.h"
#include "convert/format.h"
#include "spans/pairing.h"

/*
 * the greatest number of names of functions; spans of further functions have the name of the kind
 */
#define PLAN_FUNCTIONS 65535
#define PLAN_SERIES    PAIRING_SERIES
#define PLAN_BLOCK 16384 /* records that are in memory */

enum plan_use { PLAN_NONE, PLAN_BEGIN, PLAN_END, PLAN_WHOLE };

/*
 * A record has only 16 bytes, since the time for a span is mostly the time to write the temporary
 * file. If "apart" would be PLAN_APART or more, the span is not shown.
 */
struct plan_record {
	/* for the beginning of a span: the time of its end; otherwise: the time of its beginning */
	int64_t other_ns;
	/* 1 + the number of records from the record of the beginning to this record; 0: no span */
	uint32_t apart;
	uint32_t lane;
};

#define PLAN_APART UINT32_MAX

struct plan_kind {             /* one element for each event type, at the type's index */
	enum plan_use use;
	bool keyed;
	bool is_event;         /* the span has the name of the event type */
	/*
	 * each event has one more record before its own record; the member "lane" of the additional
	 * record is the number of the function
	 */
	bool has_function;
	unsigned series;
	char *name;            /* the name of the span */
	bool was_early;        /* the type had no role at its first event */
	bool is_taken;         /* takes() of the sink returned true: the events make no spans */
};

struct plan_function {         /* a function whose calls are spans */
	char *name;
	unsigned series;
};

struct plan_name {
	uint32_t pid, tid;
	uint64_t thread;
	char *name;
};

struct plan {
	struct plan_kind *kind;
	size_t kinds;
	struct plan_function *function;
	size_t functions;
	struct table by_name;  /* the functions by their names */
	int fd;
	uint64_t records, at;
	uint64_t block;        /* the number of the block in memory */
	struct plan_record *record;
	struct plan_name *name;
	size_t names;
	/* least_ns, greatest_ns and begin_ns are valid, since there was an event */
	bool any;
	int64_t least_ns, greatest_ns;
	/* the least begin of a span; after plan_finish() it is not greater than least_ns */
	int64_t begin_ns;
	uint64_t gaps, lost;
	uint64_t gaps_of[POSIX_TRACE_LOST_CAUSES_NP], lost_of[POSIX_TRACE_LOST_CAUSES_NP];
};

/*
 * plan_init() makes an empty plan with a temporary file; it returns 0 or an error number.
 * plan_fini() must be called in both cases.
 */
int plan_init(struct plan *plan);
void plan_fini(struct plan *plan);

/*
 * For scan.c. plan_add() appends a record without a span and stores its number. plan_look() reads a
 * record and plan_change() replaces it.
 */
int plan_add(struct plan *plan, uint64_t *number);
int plan_change(struct plan *plan, uint64_t number, const struct plan_record *record);
int plan_look(struct plan *plan, uint64_t number, struct plan_record *record);

/*
 * Returns the kind of the type with this index. The first call for a type makes its kind. Returns
 * NULL if memory is lacking. The pointer is valid until the next call.
 */
struct plan_kind *plan_kind(struct plan *plan, size_t type);
/*
 * plan_function() stores the number of a function in *function: the index of its name + 1, or 0 if
 * there are too many functions. The spans of the function have a separate series, with a number
 * from PLAN_SERIES on. plan_add_name() adds the name of a thread or process to the plan. Both
 * return 0 or ENOMEM.
 */
int plan_function(struct plan *plan, const char *name, uint32_t *function);
int plan_add_name(struct plan *plan, uint32_t pid, uint32_t tid, uint64_t thread, const char *name);

/* Completes the plan. The next plan_span() is for the first event of the trace. */
int plan_finish(struct plan *plan);

/*
 * The caller must call this function for every selected event of the second reading. Returns true
 * and fills *span if the event is part of a span.
 */
bool plan_span(struct plan *plan, const struct fmt_event *event, struct fmt_span *span);

/* Adds the facts of the first reading: times, gaps and losses. */
void plan_facts(const struct plan *plan, struct fmt_facts *facts);

#endif
