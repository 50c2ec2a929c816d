/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tally_parts.h - counts a log with several threads, each with its own cursor.
 *
 * The counts of a log do not depend on the order of its events. The log is divided at times and not
 * at positions: even a late event, which is behind younger ones, belongs to exactly one part, and
 * no part needs the results of another.
 *
 * Each thread needs the memory of one reader, a few blocks, and its counts.
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
 * Counts the log's events into tally. Returns 0; EAGAIN if the log must be read in order by one
 * thread, with nothing counted; or another error number such as ENOMEM.
 */
int tally_count_parts(struct tally *tally, struct logfile *log, unsigned threads);

#endif
