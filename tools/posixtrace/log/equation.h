/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * equation.h - prints and checks the equation of a ledger: called = reported + unread +
 * unattributed + lost.
 */
#ifndef POSIXTRACE_LOG_EQUATION_H
#define POSIXTRACE_LOG_EQUATION_H

#include <stdbool.h>
#include <trace_np.h>

#include "base/json.h"
#include "base/out.h"

/* Returns the sum of all losses, or UINT64_MAX if the sum of a damaged ledger overflows. */
uint64_t equation_lost(const struct posix_trace_ledger_np *ledger);

/* Adds each column of a ledger to the same column of another one. */
void equation_add(struct posix_trace_ledger_np *to, const struct posix_trace_ledger_np *from);

/* Returns true if the terms add up to called. Returns false if their sum overflows. */
bool equation_holds(const struct posix_trace_ledger_np *ledger);

/* Writes "called 12 = reported 10 + unread 0 + lost 2 (stream full 2)". */
void equation_text(struct out *out, const struct posix_trace_ledger_np *ledger);

/*
 * Writes {"called":12,"reported":10,"unread":0,"lost":2,"lost_by_cause":{"stream
 * full":2},"unattributed":0}.
 */
void equation_json(struct json *json, const char *name, const struct posix_trace_ledger_np *ledger);

/* Writes {"stream full":2}: each cause that lost events, with their number. */
void equation_causes_json(struct json *json, const char *name,
			  const uint64_t lost[POSIX_TRACE_LOST_CAUSES_NP]);

/* Writes " (stream full 2, nesting 1)", or nothing if no event was lost. */
void equation_causes(struct out *out, const struct posix_trace_ledger_np *ledger);

#endif
