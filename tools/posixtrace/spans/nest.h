/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nest.h - corrects the begins of calls that have one event, so that calls of a thread nest.
 *
 * The begin of such a call is its end minus its duration. Both are exact to some nanoseconds only,
 * so a function could seem to begin after a function that it has called. Its depth shows which is
 * which: a call of depth 2 that ends before a call of depth 1 is inside of it, or was before it.
 *
 * Coroutines end in another order than they began. Where the corrections contradict each other, the
 * begin stays as it is.
 *
 * Memory is bounded: calls of threads beyond NEST_THREADS, or deeper than NEST_DEPTH, stay as they
 * are. Without memory they do, too.
 */
#ifndef POSIXTRACE_SPANS_NEST_H
#define POSIXTRACE_SPANS_NEST_H

#include <stdint.h>
#include <sys/types.h>

#define NEST_THREADS 4096
#define NEST_DEPTH   65536

struct nest;

/*
 * Returns the begin of a call. The calls of a thread are passed in the order of their ends. Times
 * are in nanoseconds. *nest is NULL at first.
 */
int64_t nest_begin(struct nest **nest, pid_t pid, pid_t tid, uint64_t depth, int64_t begin_ns,
		   int64_t end_ns);

/* Forgets all calls, because events are missing from here on. nest may be NULL. */
void nest_free(struct nest *nest);

#endif
