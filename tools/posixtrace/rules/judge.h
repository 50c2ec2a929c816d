/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * judge.h - rules held against the events of a log, which come one after the other.
 *
 * An event that another one must follow is an obligation. It stays open until the other event
 * comes, its time is over, the log ends, or events can be missing (sight.h). In the last case it is
 * undecided, as are those for which there is no room.
 */
#ifndef POSIXTRACE_RULES_JUDGE_H
#define POSIXTRACE_RULES_JUDGE_H

#include "base/table.h"
#include "choose/reading.h"
#include "rules/rules.h"
#include "rules/sight.h"

/* What an event type is to a rule. */
struct judge_type {
	size_t uses;
	struct judge_use {
		struct rule *rule;
		bool is_second;
		unsigned field[POSIX_TRACE_KEYS_MAX_NP];
	} use[];
};

struct judge {
	struct rules *rules;
	struct logfile *log;
	struct judge_type **by_id; /* which rules an event type is for */
	size_t ids;
	struct pending *pending;
	uint32_t free, *first, *last; /* of each rule, by age */
	bool *hidden;              /* of each rule: the filter keeps out what must follow */
	struct sight sight;
	struct holder *holder;     /* threads that held locks */
	size_t holders;
	struct table of_holder;    /* finds them */
	int64_t last_ns;           /* the greatest time so far; INT64_MIN before the first event */
	int err;
};

/* False: no memory. */
bool judge_init(struct judge *judge, struct rules *rules, struct logfile *log);
void judge_fini(struct judge *judge);

/* Every event of the log; those that are not wanted, too: they may tell of gaps. */
void judge_event(struct judge *judge, const struct reading *reading);

/* The end of the log. is_damaged: parts of it are missing. */
void judge_end(struct judge *judge, bool is_damaged);

/* Counts a violation, and keeps what there is to tell, if there is room. */
void judge_violation(struct judge *judge, struct rule *rule, int64_t time_ns, pid_t pid, pid_t tid,
		     const char *format, ...) __attribute__((format(printf, 6, 7)));

/* every.c: false: no memory. */
bool every_init(struct judge *judge);
void every_fini(struct judge *judge);

/*
 * Of the rule at index, an event that wants another; one that others want: the youngest of them
 * gets it, as calls in calls end from inside.
 */
void every_begin(struct judge *judge, size_t index, const struct judge_use *use,
		 const struct reading *reading);
void every_end(struct judge *judge, size_t index, const struct judge_use *use,
	       const struct reading *reading);

/* Closes obligations whose time is over. */
void every_expire(struct judge *judge, int64_t now_ns);

/*
 * Events can be missing from since_ns on: what was open then is undecided. Of all rules, or of one.
 */
void every_cut(struct judge *judge, int64_t since_ns);
void every_cut_rule(struct judge *judge, size_t index, int64_t since_ns);

/* The log ends; is_whole: nothing is missing behind its last event. */
void every_finish(struct judge *judge, bool is_whole);

/* rate.c: an event of a rate. */
void rate_event(struct judge *judge, struct rule *rule, const struct reading *reading);

/* order.c: locks that are held, by the events that say so when they are given back. */
void order_event(struct judge *judge, struct rule *rule, const struct reading *reading);

#define ORDER_KEPT 16 /* times of each of the two locks that a thread's are compared with */

struct holder {
	const struct rule *rule;   /* NULL: free */
	pid_t pid, tid;
	struct held {
		int64_t from_ns, to_ns;
	} held[2][ORDER_KEPT];
	unsigned count[2];
};

#endif
