/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * losses.h - says on standard error where a log has gaps, and what its ledger says was lost.
 *
 * A gap is told when it ends, before the first event after it: there both times are known, and
 * what belongs to one gap (STOP, OVERFLOW, RESUME, START) makes one line.
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
	bool skipped;    /* a damaged part was seen */
	int64_t since_ns;
};

void losses_init(struct losses *losses, const char *path, enum when_form form);

/* Every event, in the log's order. */
void losses_event(struct losses *losses, const struct posix_trace_event_np *event);

/* Of STOP: the stream was full and stopped itself. */
bool losses_is_automatic(const struct posix_trace_event_np *event);

/* The end of the events: a gap that is still open. */
void losses_end(struct losses *losses);

/* The ledger's losses, cause by cause; 0 or an error number. */
int losses_ledger(struct losses *losses, trace_id_t trid);

/*
 * Events that the program would have wanted: all causes but posix_trace_clear(), which the
 * program called to be rid of them.
 */
uint64_t losses_count(const struct posix_trace_ledger_np *ledger);

#endif
