/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lost_pairs.h - copies the losses of a log to a log that a composer writes. */
#ifndef POSIXTRACE_LOG_LOST_PAIRS_H
#define POSIXTRACE_LOG_LOST_PAIRS_H

#include <trace_np.h>

/*
 * Adds the losses of the opened log 'from' to the log that the composer writes. A type must have
 * the same number in both logs. Afterwards the losses by cause, by type and by thread are the same
 * in both logs. Returns 0 or an error number.
 */
int lost_pairs(struct posix_trace_composer_np *to, trace_id_t from);

#endif
