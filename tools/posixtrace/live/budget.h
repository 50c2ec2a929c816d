/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * budget.h - --budget: keeps the cost of events within a share of the program's processor time.
 *
 * The cost is the time that trace points take: for each type, the number of its calls times the
 * time of one call. The stream skips types that would cost too much, the most expensive ones first.
 * It records them for short times when the budget has room. The library counts skipped calls
 * exactly. An event BUDGET_EVENT marks each change.
 *
 * Only one thread uses a budget.
 */
#ifndef POSIXTRACE_LIVE_BUDGET_H
#define POSIXTRACE_LIVE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace_np.h>

#define BUDGET_LOOK_MS 20 /* how often budget_look() is called */

/*
 * The event that marks a change. Its fields are: whether the type is recorded from now on, the
 * number of calls per second, the cost of one call, and the type.
 */
#define BUDGET_EVENT  "posixtrace_budget"
#define BUDGET_SCHEMA "u32 recorded; u64 rate; ns cost; str type"

#define BUDGET_HELP \
	"the share of the program's processor time that events may cost, such as 1%; types that " \
	"cost more are recorded for a part of the time"

struct budget;

/*
 * Parses a number of percent, such as 1% or 0.5, into a share. Returns false after it printed an
 * error, which begins with the text "where".
 */
bool budget_take(double *share, const char *where, const char *text);

/*
 * Measures the cost of events and calls on this machine, which takes some milliseconds. The
 * function must be called before the stream of process pid is created. Returns NULL after it
 * printed an error.
 */
struct budget *budget_begin(pid_t pid, double share);
void budget_end(struct budget *budget);

/*
 * Reads the counts of the stream, and decides which types the stream skips from now on. For each
 * change, calls note() with the data of an event of the type BUDGET_EVENT. Returns 0 or an error
 * number.
 */
int budget_look(struct budget *budget, trace_id_t trid,
		void (*note)(void *arg, const void *data, size_t len), void *arg);

/*
 * Prints the estimate of what the recording has cost. If the program has used no processor time,
 * prints nothing.
 */
void budget_say(const struct budget *budget);

#endif
