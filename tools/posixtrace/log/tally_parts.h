/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tally_parts.h - a log counted by several threads, each with a cursor of its own.
 *
 * What a log holds does not depend on the order in which its events are counted. The log is cut at
 * times, not at places: an event that stands behind younger ones, anywhere, is of one part all the
 * same, and no part has to know another's.
 *
 * Memory    of a thread that of one reader, a few blocks, and the counts.
 */
#ifndef POSIXTRACE_LOG_TALLY_PARTS_H
#define POSIXTRACE_LOG_TALLY_PARTS_H

#include "log/tally.h"

#define TALLY_THREADS_MAX 32

/*
 * As many as there are processors for this process, and of use; 1 for logs that are read in no
 * time.
 */
unsigned tally_threads(const struct logfile *log);

/*
 * Counts the log's events, as tally_count_events() does. EAGAIN: there is something about the log
 * that only reading it from its beginning to its end tells; nothing is counted. ENOMEM.
 */
int tally_count_parts(struct tally *tally, struct logfile *log, unsigned threads);

#endif
