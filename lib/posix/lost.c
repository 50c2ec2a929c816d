/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/lost.c - posix_trace_lost_name_np(): the causes of losses in words.
 *
 * The table's order is that of the public constants, which are also the columns of the ledger in
 * logs.
 */
#include <stddef.h>

#include <trace_np.h>

#include "base/export.h"
#include "record/ledger.h"

/* The words appear in messages, pages and exports: so a changed word would change these formats. */
static const char *const names[] = {
	[POSIX_TRACE_LOST_OVERWRITTEN_NP] = "overwritten",
	[POSIX_TRACE_LOST_STREAM_FULL_NP] = "stream full",
	[POSIX_TRACE_LOST_LOG_FULL_NP] = "log full",
	[POSIX_TRACE_LOST_LOG_OVERWRITTEN_NP] = "overwritten in the log",
	[POSIX_TRACE_LOST_FLUSH_ERROR_NP] = "flush error",
	[POSIX_TRACE_LOST_NO_MEMORY_NP] = "no memory",
	[POSIX_TRACE_LOST_NO_SLOT_NP] = "no place for the thread",
	[POSIX_TRACE_LOST_NESTING_NP] = "nested too deep",
	[POSIX_TRACE_LOST_CLEARED_NP] = "cleared",
	[POSIX_TRACE_LOST_DAMAGED_NP] = "damaged",
	[POSIX_TRACE_LOST_BUDGET_NP] = "over budget",
};

/* The table, the enum of the ledger and the public constants have the same length and order. */
_Static_assert(sizeof(names) / sizeof(names[0]) == POSIX_TRACE_LOST_CAUSES_NP, "every cause");
_Static_assert((int)PTX_LOST_CAUSES == POSIX_TRACE_LOST_CAUSES_NP, "the enum is the public list");
_Static_assert((int)PTX_LOST_BUDGET == POSIX_TRACE_LOST_BUDGET_NP, "the enum is the public list");

/*
 * Returns a constant text, or NULL if there is no such cause. So a program can loop over all causes
 * until it gets NULL. Async-signal-safe.
 */
PTX_EXPORT const char *posix_trace_lost_name_np(int cause)
{
	if (cause < 0 || cause >= POSIX_TRACE_LOST_CAUSES_NP)
		return NULL;
	return names[cause];
}
