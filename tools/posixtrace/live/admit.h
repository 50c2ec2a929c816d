/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * admit.h - a stream's filter, as names tell it: only event types that match a pattern.
 *
 * The traced program may bring names at any time. Where patterns are plain names, the stream learns
 * them before it starts, and so it does names that are known to come: what the patterns say of them
 * holds from the first event. Of the others, what has no name
 * yet is let through, and filtered out as soon as its name is seen and does not match: rather a few
 * events too many than one too few. System events always pass: they tell of losses.
 */
#ifndef POSIXTRACE_LIVE_ADMIT_H
#define POSIXTRACE_LIVE_ADMIT_H

#include <stdbool.h>
#include <trace.h>

#include "choose/choose.h"

struct admit {
	const struct choose *choose;
	/* names that are likely to come, with a null behind them; or null */
	const char *const *known;
	trace_event_set_t set; /* filtered out; as last given to the stream */
	bool any;              /* it was given one */
	/* all that is included is known by name: what comes is filtered out */
	bool exact;
};

/* Before the stream starts. 0 or an error number. */
int admit_begin(struct admit *admit, trace_id_t trid);

/*
 * Looks at the names that there are now, and changes the filter if need be. 0 or an error number.
 */
int admit_refresh(struct admit *admit, trace_id_t trid);

#endif
