/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tally_parts.h - counts the events of a log with several threads. Each thread has its own cursor.
 *
 * The counts of a log do not depend on the order of its events. The log is divided at times and not
 * at positions in the file. So each event belongs to exactly one part. This is also true for a late
 * event, which is behind younger ones in the file. No part needs the results of another part.
 *
 * Each thread needs memory for one reader with a few blocks, and for its counts.
 */
#ifndef POSIXTRACE_LOG_TALLY_PARTS_H
#define POSIXTRACE_LOG_TALLY_PARTS_H

#include "log/tally.h"

#define TALLY_THREADS_MAX 32

/*
 * Returns the number of useful threads: the processors available to this process, at most
 * TALLY_THREADS_MAX, and 1 for a short or incomplete log.
 */
unsigned tally_threads(const struct logfile *log);

/*
 * Counts the log's events into tally. Returns 0 or an error number such as ENOMEM. EAGAIN means
 * that nothing was counted, because one thread must read the log from beginning to end.
 */
int tally_count_parts(struct tally *tally, struct logfile *log, unsigned threads);

#endif
