/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * equation.h - called = reported + unread + lost, with its numbers.
 */
#ifndef POSIXTRACE_LOG_EQUATION_H
#define POSIXTRACE_LOG_EQUATION_H

#include <stdbool.h>
#include <trace_np.h>

#include "base/out.h"

/* Every loss together; UINT64_MAX when a damaged ledger's sum is past that. */
uint64_t equation_lost(const struct posix_trace_ledger_np *ledger);

bool equation_holds(const struct posix_trace_ledger_np *ledger);

/* "called 12 = reported 10 + unread 0 + lost 2 (stream full 2)" */
void equation_text(struct out *out, const struct posix_trace_ledger_np *ledger);

/* {"called":12,"reported":10,"unread":0,"lost":2,"lost_by_cause":{"stream full":2}} */
void equation_json(struct out *out, const struct posix_trace_ledger_np *ledger);

/* {"stream full":2}: the causes of what was lost. */
void equation_causes_json(struct out *out, const uint64_t lost[POSIX_TRACE_LOST_CAUSES_NP]);

/* " (stream full 2, nesting 1)", or nothing when nothing was lost. */
void equation_causes(struct out *out, const struct posix_trace_ledger_np *ledger);

#endif
