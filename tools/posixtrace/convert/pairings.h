/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pairings.h - finds the spans of a conversion in one reading, for sinks with a table of spans.
 * Each log has a separate pairing, since no span begins in one log and ends in another.
 */
#ifndef POSIXTRACE_CONVERT_PAIRINGS_H
#define POSIXTRACE_CONVERT_PAIRINGS_H

#include "convert/paired.h"

struct pairings {
	unsigned logs;
	struct pairings_log {
		const char *name;
		struct paired paired;
	} *log;                        /* the index is the member "source" of struct fmt_event */
	const struct fmt_event *at;    /* the event that ends the span, while take() runs */
};

/*
 * Begins the pairings. take() receives each span. Returns 0 or ENOMEM. The caller calls
 * pairings_fini() in both cases.
 */
int pairings_init(struct pairings *pairings, struct fmt_flow *flow,
		  void (*take)(void *arg, const struct span *span,
			       const struct posix_trace_event_np *end),
		  void *arg);
void pairings_fini(struct pairings *pairings);

/*
 * Passes an event to the pairing of its log. An event that is not wanted makes no span. If it
 * reports a loss, the open spans get no end. Returns 0 or ENOMEM.
 */
int pairings_event(struct pairings *pairings, const struct fmt_event *event, bool is_wanted);

/*
 * Must be called where events of this log are missing. Drops the open spans of the log, which get
 * no end.
 */
void pairings_cut(struct pairings *pairings, unsigned source);

#endif
