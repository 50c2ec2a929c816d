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

/* Returns the line of the Linux thread tid, or zeros if the ledger has no such line. */
struct posix_trace_ledger_np ledger_of_thread(trace_id_t trid, pid_t tid);

/*
 * Asserts that called = reported + unread + lost in the total and in every line. Asserts that each
 * column of the total is the sum of this column over all types, and also over all threads. Nothing
 * may be unattributed. No writer may record meanwhile.
 */
void assert_ledger_closes(const char *file, int line, trace_id_t trid);
#define ck_assert_ledger_closes(trid) assert_ledger_closes(__FILE__, __LINE__, trid)

/* Asserts that the line has these numbers, and that all its losses have the given cause. */
void assert_ledger_line(const char *file, int at, const struct posix_trace_ledger_np *line,
			uint64_t reported, uint64_t unread, int cause, uint64_t lost);
#define ck_assert_ledger_line(line, reported, unread, cause, lost) \
	assert_ledger_line(__FILE__, __LINE__, &(line), reported, unread, cause, lost)

#endif
