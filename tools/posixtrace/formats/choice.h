/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * choice.h - which events of a conversion are wanted. Each reading of the input has a choice of its
 * own; the options are the same, so that all readings choose the same events.
 */
#ifndef POSIXTRACE_FORMATS_CHOICE_H
#define POSIXTRACE_FORMATS_CHOICE_H

#include "formats/paired.h"
#include "logfile.h"
#include "wanted.h"

struct choice {
	struct fmt_flow *flow;
	struct wanted *wanted;
	struct durations durations;
	struct paired paired;
	struct logfile log;     /* the names of the types, for messages and pairs */
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
 * The end without the losses of types, and the lines of processes, that are not wanted. The lines
 * are copied: choice_free_end(). False: no memory, or names that nothing in the trace has.
 */
bool choice_end(struct choice *choice, struct fmt_end *end);
void choice_free_end(struct fmt_end *end);

#endif
