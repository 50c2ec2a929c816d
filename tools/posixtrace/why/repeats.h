/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * repeats.h - finds the call that a thread tried in vain again and again: a server that accepts
 * connections although it has no free descriptor, a parent that polls for the end of a child, a
 * client that connects to a server which is not there.
 */
#ifndef POSIXTRACE_WHY_REPEATS_H
#define POSIXTRACE_WHY_REPEATS_H

#include "why/history.h"

struct repeat {
	const struct call *call; /* the last of the calls; NULL: there is none */
	uint64_t count;
	int64_t from_ns, to_ns;  /* from the first call to the last one */
	/* other calls than sleeps and polls, between these calls and since the last one */
	uint64_t others, since;
};

/*
 * Finds the attempts of a thread that failed with the same error, at one place, without a success
 * between them, and that cover the longest part of a time. Few attempts do not count. A thread that
 * does other work between its attempts does not wait for a success, and neither does a thread that
 * looks for a file which does not exist.
 */
struct repeat repeats_longest(const struct history *history, uint32_t thread, int64_t from_ns,
			      int64_t to_ns);

/* Does the same, but returns no attempts that cover less than half of the time. */
struct repeat repeats_find(const struct history *history, uint32_t thread, int64_t from_ns,
			   int64_t to_ns);

/* Returns the time from the first attempt to the last one. */
static inline uint64_t repeats_ns(const struct repeat *repeat)
{
	return repeat->to_ns > repeat->from_ns ?
	       (uint64_t)repeat->to_ns - (uint64_t)repeat->from_ns : 0;
}

#endif
