/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/kept.h - the events of a log, to be compared with those that it has when somebody went on
 * with it.
 */
#ifndef PTX_TESTS_FUZZ_KEPT_H
#define PTX_TESTS_FUZZ_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#define KEPT_MAX 65536u /* more are not looked at */

struct kept_event {
	int64_t time_ns;
	uint64_t data; /* mixed */
	unsigned type, len;
	pid_t pid, tid;
};

struct kept {
	struct kept_event *event; /* the caller frees them */
	size_t n;
};

/* What is read of a log that is opened so; false, and nothing, where it cannot be. */
bool kept_open(int fd, unsigned flags, struct kept *kept);

/*
 * All that were there before stand there, in their order, at the beginning. Oldest_may_go: but for
 * the oldest; how many of them.
 */
size_t kept_compare(const struct kept *before, const struct kept *after, bool oldest_may_go);

#endif
