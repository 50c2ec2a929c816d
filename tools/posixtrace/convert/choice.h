/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * choice.h - selects the events of a conversion.
 *
 * Each reading of the input has a choice of its own, because a choice learns the types and spans as
 * they appear in the input. The options are the same, so all readings select the same events.
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
	struct durations *durations; /* one for each of the input's logs */
	struct paired paired;
	struct logfile log;     /* the names of the types, for messages and pairs */
	uint64_t events;        /* number of selected events */
	uint64_t *of_type;      /* the same by the index of the type */
	size_t types;
	struct threads of_thread; /* the same for each thread, in its mark */
	bool knows_times;       /* wanted_begin() has computed the bounds in time */
	bool other_order;       /* numbers in the data are not in this machine's byte order */
};

/* Returns 0 or an error number. After either, choice_fini() frees the memory. */
int choice_init(struct choice *choice, struct fmt_flow *flow, struct wanted *wanted);
void choice_fini(struct choice *choice);

/*
 * Adapts the facts to the choice and computes the bounds in time. Returns false, with a message, if
 * an option names something that the trace does not have.
 */
bool choice_begin(struct choice *choice, struct fmt_facts *facts);
/*
 * Whether the event is selected. The caller must pass every event, in order. On an error the flow
 * stops.
 */
bool choice_event(struct choice *choice, const struct fmt_event *event);
/*
 * Whether a loss may concern selected events. That is so if each of its type, process and thread is
 * selected or unknown.
 */
bool choice_lost(struct choice *choice, const struct fmt_lost *lost);

/*
 * Replaces the end's ledger by that of the selected events. reported counts the events that the
 * sink got; lost has the losses of their types and threads. A ledger does not have the time of a
 * loss, so losses before the first and after the last selected event count too. The lines are
 * copies that choice_free_end() frees. Returns false without memory, or if an option names
 * something that the trace does not have; the error has been printed.
 */
bool choice_end(struct choice *choice, struct fmt_end *end);
void choice_free_end(struct fmt_end *end);

#endif
