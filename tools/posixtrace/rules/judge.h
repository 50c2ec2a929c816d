/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * judge.h - tests rules against the events of a log, one event after the other.
 *
 * An event that another event must follow is called an obligation. An obligation is open until the
 * other event arrives, until the span "within" of the rule has passed, until the log ends, or until
 * events may be missing (sight.h). If the log shows the end of the process before a gap, the gap
 * does not matter, because an ended process has no events that the gap could hide. Otherwise an
 * obligation that is open at a gap is undecided. It is also undecided if the pool has no room for
 * it.
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
	/*
	 * first element of the list of free obligations; for each rule, the oldest and the youngest
	 * element of the list of its open obligations
	 */
	uint32_t free, *first, *last;
	/* the first obligation of each list of processes, and of each list of keys: every.c */
	uint32_t *list[2];
	uint32_t fresh; /* pending[fresh] and the elements behind it have never been used */
	/*
	 * for each rule: the filter excludes the event that must follow
	 */
	bool *hidden;
	struct sight sight;
	/* the threads that held locks, for rules about the order of locks */
	struct holder *holder;
	size_t holders;
	struct table of_holder;    /* finds an element of holder */
	int64_t last_ns;           /* the greatest time so far; INT64_MIN before the first event */
	int err;
};

/*
 * Begins to check the events of the log against the rules. Returns false if memory is lacking. The
 * caller must call judge_fini() in any case.
 */
bool judge_init(struct judge *judge, struct rules *rules, struct logfile *log);
void judge_fini(struct judge *judge);

/*
 * Forgets which rules concern a type, so that the next event of the type finds them again. Must be
 * called if the schema of the type has become known only after the type's first event. That happens
 * only while a stream is being recorded.
 */
void judge_forget_type(struct judge *judge, trace_event_id_t id);

/*
 * Judges an event. The caller passes all events of the log, also those that the options exclude,
 * because they may show gaps.
 */
void judge_event(struct judge *judge, const struct reading *reading);

/*
 * Completes the results at the end of the log. is_damaged means that parts of the log are
 * missing.
 */
void judge_end(struct judge *judge, bool is_damaged);

/* Counts a violation. For the first RULES_REASONS violations of a rule it also keeps the text. */
void judge_violation(struct judge *judge, struct rule *rule, int64_t time_ns, pid_t pid, pid_t tid,
		     const char *format, ...) __attribute__((format(printf, 6, 7)));

/* These two functions are in every.c. every_init() returns false if memory is lacking. */
bool every_init(struct judge *judge);
void every_fini(struct judge *judge);

/*
 * every_begin() is called for an event that another event must follow, and every_end() for the
 * other event. The other event meets the youngest obligation with its key, because the innermost of
 * nested calls ends first. "index" is the index of the rule.
 */
void every_begin(struct judge *judge, size_t index, const struct judge_use *use,
		 const struct reading *reading);
void every_end(struct judge *judge, size_t index, const struct judge_use *use,
	       const struct reading *reading);

/* Closes the obligations whose time had passed at now_ns by more than WANTED_LATE_NS. */
void every_expire(struct judge *judge, int64_t now_ns);

/*
 * Closes the obligations whose time had not passed at since_ns, because events may be missing from
 * then on. They count as undecided. An obligation whose time had passed before remains open,
 * because a late event may still meet it. every_cut() does this for all rules, every_cut_rule() for
 * one rule.
 */
void every_cut(struct judge *judge, int64_t since_ns);
void every_cut_rule(struct judge *judge, size_t index, int64_t since_ns);

/*
 * Notes that a process has ended. "ended_ns" is a time after which the process has no event, or
 * INT64_MAX if the process may still have events, which its remaining threads recorded.
 */
void every_ended(struct judge *judge, pid_t pid, int64_t ended_ns);

/*
 * Returns true if a process with this number has an open obligation from before time_ns, and no end
 * of the process is known.
 */
bool every_has(const struct judge *judge, pid_t pid, int64_t time_ns);

/*
 * Closes all obligations at the end of the log. is_whole means that no event is missing behind the
 * last event, is_full that events are missing because the log was full.
 */
void every_finish(struct judge *judge, bool is_whole, bool is_full);

/* In rate.c: judges an event of a rule "rate". */
void rate_event(struct judge *judge, struct rule *rule, const struct reading *reading);

/* In order.c: judges an event with the time that a lock was held. */
void order_event(struct judge *judge, struct rule *rule, const struct reading *reading);

#define ORDER_KEPT 16 /* the number of times that are kept for a thread and each of the two locks */

struct holder {
	const struct rule *rule;   /* NULL: free */
	pid_t pid, tid;
	/*
	 * posix_thread_id; while the stream is being recorded, only this number of a thread is
	 * known
	 */
	uint64_t thread;
	struct held {
		int64_t from_ns, to_ns;
	} held[2][ORDER_KEPT];
	unsigned count[2];
};

#endif
