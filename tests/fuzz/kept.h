/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/kept.h - the events of a log, for comparison with its events after another process resumed
 * it.
 */
#ifndef PTX_TESTS_FUZZ_KEPT_H
#define PTX_TESTS_FUZZ_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace_np.h>

#define KEPT_MAX 65536u /* later events are not compared */

struct kept_event {
	int64_t time_ns;
	uint64_t data; /* a hash */
	unsigned type, len;
	pid_t pid, tid;
};

struct kept {
	struct kept_event *event; /* the caller frees them */
	size_t n;
};

/*
 * Reads a log that is opened with these flags. Returns false and no events if it cannot be opened.
 */
bool kept_open(int fd, unsigned flags, struct kept *kept);

/*
 * Checks that all earlier events are at the beginning, in their order. With oldest_may_go, the
 * oldest may be missing. Returns the number of those.
 */
size_t kept_compare(const struct kept *before, const struct kept *after, bool oldest_may_go);

#endif
