/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch_judge.h - judges the events of a process by the rules of triggers while the process runs.
 *
 * The rules are the same as for the command check, and the code of this command judges them
 * (rules/judge.h). If lost events could have satisfied a rule, the rule does not fire. The watch
 * reads the stream of one process, so a rule applies to each process separately. Only one thread
 * uses a struct watch_judge.
 */
#ifndef POSIXTRACE_AGENT_WATCH_JUDGE_H
#define POSIXTRACE_AGENT_WATCH_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

struct choose;
struct config_trigger;
struct log_type;
struct watch_judge;

/*
 * Adds the rule of a trigger, and makes *judge if it is NULL. watch_judge_deliver() passes "index"
 * to report(). The path of the configuration must exist until watch_judge_free(). Returns false if
 * memory is lacking.
 */
bool watch_judge_add(struct watch_judge **judge, const char *path,
		     const struct config_trigger *trigger, size_t index);
/*
 * Must be called once, after all rules were added and before the first event of the stream "trid".
 * "choose" has the names of the stream's event types, and must exist until watch_judge_free().
 * Returns false if memory is lacking.
 */
bool watch_judge_begin(struct watch_judge *judge, trace_id_t trid, const struct choose *choose);
/* "judge" may be NULL. */
void watch_judge_free(struct watch_judge *judge);

/* Judges an event. "described" is its type if the type has a schema, otherwise NULL. */
void watch_judge_event(struct watch_judge *judge, const struct log_type *described,
		       const struct posix_trace_event_np *event);

/*
 * Must be called when the schema of a type has become known, before the next event of the type.
 */
void watch_judge_described(struct watch_judge *judge, trace_event_id_t id);

/* The state after a reading of the stream. */
enum watch_judge_end {
	WATCH_JUDGE_MORE,  /* further events may be there already */
	WATCH_JUDGE_EMPTY, /* all events before the reading have been judged */
	WATCH_JUDGE_LAST   /* WATCH_JUDGE_EMPTY holds, and the process has ended */
};

/*
 * Must be called after each reading of the stream. "now_ns" is the time at which the reading began.
 * Calls report() for each rule that was violated since the last call, with the index of the rule
 * and a text about one of the violations.
 */
void watch_judge_deliver(struct watch_judge *judge, int64_t now_ns, enum watch_judge_end end,
			 void (*report)(void *arg, size_t index, const char *text), void *arg);

#endif
