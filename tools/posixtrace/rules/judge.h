/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * judge.h - tests rules against the events of a log, one event after the other.
 *
 * An event that another one must follow is an obligation. It is open until the other event arrives,
 * its time passes, the log ends, or events can be missing (sight.h). If events can be missing, the
 * obligation is undecided. If the pool has no room for an obligation, it is undecided as well.
 */
#ifndef POSIXTRACE_RULES_JUDGE_H
#define POSIXTRACE_RULES_JUDGE_H

#include "base/table.h"
#include "choose/reading.h"
#include "rules/rules.h"
#include "rules/sight.h"

/* The rules that concern an event type. */
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
	struct judge_type **by_id; /* the rules of each event type */
	size_t ids;
	struct pending *pending;
	/* list of free obligations; lists of each rule's open ones, by age */
	uint32_t free, *first, *last;
	bool *hidden;              /* of each rule: the filter excludes the event that must
				    * follow */
	struct sight sight;
	struct holder *holder;     /* threads that held locks */
	size_t holders;
	struct table of_holder;    /* finds a holder */
	int64_t last_ns;           /* the greatest time so far; INT64_MIN before the first event */
	int err;
};

/* Returns false without memory. The caller calls judge_fini() in any case. */
bool judge_init(struct judge *judge, struct rules *rules, struct logfile *log);
void judge_fini(struct judge *judge);

/*
 * Judges an event. The caller passes all events of the log, also those that the user does not want,
 * because they may show gaps.
 */
void judge_event(struct judge *judge, const struct reading *reading);

/*
 * Called at the end of the log. Completes the judgement. is_damaged says that parts of the log are
 * missing.
 */
void judge_end(struct judge *judge, bool is_damaged);

/* Counts a violation and keeps its text if there is room. */
void judge_violation(struct judge *judge, struct rule *rule, int64_t time_ns, pid_t pid, pid_t tid,
		     const char *format, ...) __attribute__((format(printf, 6, 7)));

/* In every.c. Returns false without memory. */
bool every_init(struct judge *judge);
void every_fini(struct judge *judge);

/*
 * every_begin() is called for an event that requires another one, every_end() for the other event.
 * The other event meets the youngest obligation with the same key, because nested calls end from
 * the innermost one outwards. index is the index of the rule.
 */
void every_begin(struct judge *judge, size_t index, const struct judge_use *use,
		 const struct reading *reading);
void every_end(struct judge *judge, size_t index, const struct judge_use *use,
	       const struct reading *reading);

/* Closes obligations whose time has passed. */
void every_expire(struct judge *judge, int64_t now_ns);

/*
 * Closes obligations that were open at since_ns as undecided, because events can be missing from
 * then on. every_cut() does that for all rules, every_cut_rule() for one rule.
 */
void every_cut(struct judge *judge, int64_t since_ns);
void every_cut_rule(struct judge *judge, size_t index, int64_t since_ns);

/*
 * Closes all obligations at the end of the log. is_whole says that no event is missing behind the
 * last one.
 */
void every_finish(struct judge *judge, bool is_whole);

/* In rate.c: judges an event of a rule "rate". */
void rate_event(struct judge *judge, struct rule *rule, const struct reading *reading);

/* In order.c: judges an event with the time that a lock was held. */
void order_event(struct judge *judge, struct rule *rule, const struct reading *reading);

#define ORDER_KEPT 16 /* times of each of the two locks that are kept for a thread */

struct holder {
	const struct rule *rule;   /* NULL: free */
	pid_t pid, tid;
	struct held {
		int64_t from_ns, to_ns;
	} held[2][ORDER_KEPT];
	unsigned count[2];
};

#endif
