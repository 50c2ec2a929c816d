/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * choice.h - selects the events of a conversion.
 *
 * Each reading of the input has its own choice, because the state of a choice grows with the types
 * and spans that the reading has passed. All readings have the same options, so they select the
 * same events.
 */
#ifndef POSIXTRACE_CONVERT_CHOICE_H
#define POSIXTRACE_CONVERT_CHOICE_H

#include "choose/wanted.h"
#include "convert/paired.h"
#include "convert/threads.h"
#include "log/logfile.h"

struct choice {
	struct fmt_flow *flow;
	struct wanted *wanted;
	struct durations *durations; /* an element for each of the input's logs */
	struct paired paired;
	struct logfile log;     /* the names of the types, for messages and pairs */
	uint64_t events;        /* number of selected events */
	uint64_t *of_type;      /* number of selected events of each type, at the type's index */
	size_t types;
	struct threads of_thread; /* the "mark" of a thread is its number of selected events */
	bool knows_times;       /* wanted_begin() has computed the bounds in time */
	bool other_order;       /* numbers in the data are not in this machine's byte order */
};

/*
 * Makes a choice for one reading. Returns 0 or an error number. In both cases the caller must call
 * choice_fini(), which frees the memory.
 */
int choice_init(struct choice *choice, struct fmt_flow *flow, struct wanted *wanted);
void choice_fini(struct choice *choice);

/*
 * Clears has_events of the facts, because the number of selected events is not known yet, and
 * computes the bounds in time. Prints an error and returns false if an option for durations or
 * --where has a name that fits no event type of the trace. For a source that defines its types as
 * they appear, choice_end() makes this check.
 */
bool choice_begin(struct choice *choice, struct fmt_facts *facts);
/*
 * Returns whether the event is selected. The caller must pass every event, in order. After an
 * error, the flow stops.
 */
bool choice_event(struct choice *choice, const struct fmt_event *event);
/*
 * Returns whether a loss may concern selected events: the type, the process and the thread of the
 * loss are each selected or unknown.
 */
bool choice_lost(struct choice *choice, const struct fmt_lost *lost);

/*
 * Replaces the end's ledger by a ledger of the selected events. The member "reported" of the new
 * ledger is the number of events that the sink got. The member "lost" has the losses of the
 * selected types and threads, and "unreadable" the unreadable events of the selected types. A
 * ledger does not have the times of losses, so losses before the first and behind the last selected
 * event are counted, too. The lines of *end become copies, which choice_free_end() frees. Returns
 * false after it printed an error: memory is lacking, or a name in the options fits no event type.
 */
bool choice_end(struct choice *choice, struct fmt_end *end);
void choice_free_end(struct fmt_end *end);

#endif
