/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/ledger.h - the loss ledger of a stream or of an opened log, for tests.
 */
#ifndef PTX_TESTS_LEDGER_H
#define PTX_TESTS_LEDGER_H

#include "support/columns.h"
#include "support/stream.h"

struct posix_trace_ledger_np ledger_total(trace_id_t trid);
struct posix_trace_ledger_np ledger_of_type(trace_id_t trid, trace_event_id_t id);

/* The line of the Linux thread; zeros if the ledger has none. */
struct posix_trace_ledger_np ledger_of_thread(trace_id_t trid, pid_t tid);

/*
 * called = reported + unread + lost in the total and in every line, and each column of the total
 * is the sum of that column over the types and over the threads. Nothing is unattributed. The
 * stream must be at rest.
 */
void assert_ledger_closes(const char *file, int line, trace_id_t trid);
#define ck_assert_ledger_closes(trid) assert_ledger_closes(__FILE__, __LINE__, trid)

/* The line has these four numbers, and all losses have one cause. */
void assert_ledger_line(const char *file, int at, const struct posix_trace_ledger_np *line,
			uint64_t reported, uint64_t unread, int cause, uint64_t lost);
#define ck_assert_ledger_line(line, reported, unread, cause, lost) \
	assert_ledger_line(__FILE__, __LINE__, &(line), reported, unread, cause, lost)

#endif
