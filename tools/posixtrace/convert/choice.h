/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * choice.h - which events of a conversion are wanted. Each reading of the input has a choice of its
 * own; the options are the same, so that all readings choose the same events.
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
	struct durations *durations; /* of each of several logs */
	struct paired paired;
	struct logfile log;     /* the names of the types, for messages and pairs */
	uint64_t events;        /* that are wanted */
	uint64_t *of_type;      /* the same by the index of the type */
	size_t types;
	struct threads of_thread; /* the same: their marks */
	bool knows_times;       /* the bounds were computed */
	bool other_order;       /* numbers in the data are not in this machine's byte order */
};

/* 0 or an error number. */
int choice_init(struct choice *choice, struct fmt_flow *flow, struct wanted *wanted);
void choice_fini(struct choice *choice);

/* Changes what no longer holds of the facts. False: it has been said what does not fit. */
bool choice_begin(struct choice *choice, struct fmt_facts *facts);
/* Every event in its order. The flow stops when the choice cannot be made. */
bool choice_event(struct choice *choice, const struct fmt_event *event);
bool choice_lost(struct choice *choice, const struct fmt_lost *lost);

/*
 * The end with a ledger of the events that are wanted: reported counts those that the sink got,
 * lost has the losses of their types and threads. A ledger does not say when an event was lost:
 * losses before the first and behind the last wanted event count. The lines are copied:
 * choice_free_end(). False: no memory, or names that nothing in the trace has.
 */
bool choice_end(struct choice *choice, struct fmt_end *end);
void choice_free_end(struct fmt_end *end);

#endif
