/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * admit.h - the filter of a live stream: it admits only event types whose names match patterns.
 *
 * The traced program may register names at any time. If the patterns are plain names, they are
 * registered in the stream before it starts, and so are names that are known to come and do not
 * match. The patterns then apply from the first event of these types. Unless all patterns of
 * --event are plain names, all other types are recorded as long as they have no name. Such a type
 * is filtered when its name appears and does not match: a few superfluous events are better than
 * missing ones. System events are always recorded, because they report losses.
 */
#ifndef POSIXTRACE_LIVE_ADMIT_H
#define POSIXTRACE_LIVE_ADMIT_H

#include <stdbool.h>
#include <trace.h>

#include "choose/choose.h"

struct admit {
	const struct choose *choose;
	/* Names that are likely to come, with a null pointer at the end; or NULL. */
	const char *const *known;
	trace_event_set_t set; /* the filter that the stream has */
	bool any;              /* set is valid */
	/* All included names are plain and registered: new types are filtered. */
	bool exact;
};

/* Sets the first filter. To be called before the stream starts. Returns 0 or an error number. */
int admit_begin(struct admit *admit, trace_id_t trid);

/*
 * Sets the filter again if new names have changed it. To be called from time to time. Returns 0 or
 * an error number.
 */
int admit_refresh(struct admit *admit, trace_id_t trid);

#endif
