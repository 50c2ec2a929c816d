/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lost_pairs.h - copies the losses of a log to a log that is composed. */
#ifndef POSIXTRACE_LOG_LOST_PAIRS_H
#define POSIXTRACE_LOG_LOST_PAIRS_H

#include <trace_np.h>

/*
 * Adds the losses of an opened log to a log that is composed. Both logs must have the types under
 * the same numbers. Afterwards the sums by cause, by type and by thread are the same in both.
 * Returns 0 or an error number.
 */
int lost_pairs(struct posix_trace_composer_np *to, trace_id_t from);

#endif
