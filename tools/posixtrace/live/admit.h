/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * admit.h - the filter of a live stream: it admits only event types whose names match patterns.
 *
 * The traced program may register names at any time. Two kinds of names are registered in the
 * stream before it starts: patterns that are plain names, and names that the program will probably
 * use and that do not match. The patterns apply to these types from their first event on. Any other
 * type has no name at first, and the stream then records it, unless all patterns of --event are
 * plain names. When the name appears and does not match, the type is filtered. So the log may have
 * a few superfluous events, but lacks none. System events are always recorded, because they report
 * losses.
 */
#ifndef POSIXTRACE_LIVE_ADMIT_H
#define POSIXTRACE_LIVE_ADMIT_H

#include <stdbool.h>
#include <trace.h>

#include "choose/choose.h"

struct admit {
	const struct choose *choose;
	/* names that the program will probably use, with a null pointer at the end; or NULL */
	const char *const *known;
	trace_event_set_t set; /* the filter that the stream has */
	bool any;              /* the member "set" is valid */
	/* all included names are plain and registered, so all new types are filtered */
	bool exact;
};

/*
 * Sets the first filter. The function must be called before the stream starts. Returns 0 or an
 * error number.
 */
int admit_begin(struct admit *admit, trace_id_t trid);

/*
 * If new names have changed the filter, sets it again. The function must be called from time to
 * time. It returns 0 or an error number.
 */
int admit_refresh(struct admit *admit, trace_id_t trid);

#endif
