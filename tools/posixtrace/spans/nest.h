/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nest.h - corrects the begins of calls that have one event, so that calls of a thread nest.
 *
 * The begin of such a call is its end minus its duration. End and duration may be wrong by some
 * nanoseconds, so a function could seem to begin after a function that it has called. The depths of
 * the calls show the right order: if a call of depth 2 ends before a call of depth 1, the first
 * call is either inside the second one or precedes it.
 *
 * Coroutines need not end in the order in which calls nest. If corrections contradict each other,
 * the begin is not corrected.
 *
 * Memory is bounded: the begins of calls of threads beyond NEST_THREADS, or deeper than NEST_DEPTH,
 * are not corrected. If memory is lacking, begins are not corrected, either.
 */
#ifndef POSIXTRACE_SPANS_NEST_H
#define POSIXTRACE_SPANS_NEST_H

#include <stdint.h>
#include <sys/types.h>

#define NEST_THREADS 4096
#define NEST_DEPTH   65536

struct nest;

/*
 * Returns the corrected begin of a call. The caller passes the calls of a thread in the order of
 * their ends. Times are in nanoseconds. *nest is NULL at first.
 */
int64_t nest_begin(struct nest **nest, pid_t pid, pid_t tid, uint64_t depth, int64_t begin_ns,
		   int64_t end_ns);

/*
 * Frees the memory. The caller also uses the function where events are missing, because the calls
 * before the gap no longer show how later calls nest. nest may be NULL.
 */
void nest_free(struct nest *nest);

#endif
