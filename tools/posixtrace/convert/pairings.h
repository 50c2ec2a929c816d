/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pairings.h - the spans of a conversion that is read once, for sinks with a table of spans. Each
 * log has a pairing of its own, since no span begins in one log and ends in another.
 */
#ifndef POSIXTRACE_CONVERT_PAIRINGS_H
#define POSIXTRACE_CONVERT_PAIRINGS_H

#include "convert/paired.h"

struct pairings {
	unsigned logs;
	struct pairings_log {
		const char *name;
		struct paired paired;
	} *log;                        /* by fmt_event.source */
	const struct fmt_event *at;    /* while take runs: the event that ends the span */
};

/* Begins the pairings. take receives each span. Returns 0 or ENOMEM; fini follows in any case. */
int pairings_init(struct pairings *pairings, struct fmt_flow *flow,
		  void (*take)(void *arg, const struct span *span,
			       const struct posix_trace_event_np *end),
		  void *arg);
void pairings_fini(struct pairings *pairings);

/* Passes an event to the pairing of its log. Returns 0 or ENOMEM. */
int pairings_event(struct pairings *pairings, const struct fmt_event *event);

/* Events of this log are missing here, so spans that are open have no end. */
void pairings_cut(struct pairings *pairings, unsigned source);

#endif
