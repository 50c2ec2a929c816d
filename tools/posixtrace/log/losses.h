/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * losses.h - reports on standard error the gaps of a log, and the losses in its ledger.
 *
 * A gap is reported when it ends, before the first event behind it. At that moment its begin and
 * end are known. All system events of one gap (STOP, OVERFLOW, RESUME, START) are reported in one
 * line.
 */
#ifndef POSIXTRACE_LOG_LOSSES_H
#define POSIXTRACE_LOG_LOSSES_H

#include <stdbool.h>
#include <trace_np.h>

#include "base/when.h"

struct losses {
	const char *path;
	enum when_form form;
	bool stopped;    /* the stream stopped itself: it was full */
	bool overflowed;
	bool skipped;    /* a damaged part was skipped */
	/* begin of the open gap; a gap is open if stopped or overflowed is true */
	int64_t since_ns;
};

/* path is the log's name for the messages. */
void losses_init(struct losses *losses, const char *path, enum when_form form);

/* The caller passes every event to this function, in the log's order. */
void losses_event(struct losses *losses, const struct posix_trace_event_np *event);

/* Returns true for the STOP of a stream that was full and stopped itself. */
bool losses_is_automatic(const struct posix_trace_event_np *event);

/* Reports the gap that is still open after the last event, if there is one. */
void losses_end(struct losses *losses);

/*
 * Reports the losses in the ledger, one line for each cause, and one for unattributed events.
 * Returns 0 or an error number.
 */
int losses_ledger(struct losses *losses, trace_id_t trid);

/*
 * Returns the number of events that were lost against the program's will: the unattributed events,
 * and the events lost by all causes except posix_trace_clear(), by which the program itself removed
 * events. Returns UINT64_MAX if the sum overflows.
 */
uint64_t losses_count(const struct posix_trace_ledger_np *ledger);

/*
 * Does the same for the line of an event type. Type 0 has the events whose type is not known, such
 * as those of overwritten chunks, which may be of any type. Returns 0 if there is no such line.
 */
uint64_t losses_of_type(trace_id_t trid, trace_event_id_t id);

/*
 * Subtracts the losses of a line from the total of a ledger, cause by cause. After all lines, the
 * losses of events whose type is not known are left. If a line of a damaged ledger has more losses
 * than the total, 0 is left.
 */
void losses_subtract(struct posix_trace_ledger_np *left, const struct posix_trace_ledger_np *line);

#endif
