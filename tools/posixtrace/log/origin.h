/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * origin.h - the stream that has written a log, and whether several logs are of one recording.
 *
 * A recording with --rotate-size or --rotate-time writes one stream into several logs, one after
 * the other. Each event is in exactly one of them, so the sums of their counts and ledgers are
 * those of the recording. One thread uses these functions.
 */
#ifndef POSIXTRACE_LOG_ORIGIN_H
#define POSIXTRACE_LOG_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <trace_np.h>

struct origin {
	pid_t pid;
	unsigned char boot_id[16];
	struct timespec created;
	int64_t begin_ns, last_ns; /* of the log; created is of the stream */
};

/* Reads the origin of an open log. If it cannot be read, it stays unchanged. */
void origin_read(struct origin *origin, trace_id_t trid);

/* Returns whether one stream has written both logs. */
bool origin_is_same(const struct origin *a, const struct origin *b);

/*
 * Returns whether the paths name several logs of one recording, each of them once. Returns false if
 * a path names no regular file that is a log. The function prints nothing. If the result is true
 * and 'order' is not NULL, the function stores there the indexes of the paths, in the order in
 * which the logs were written.
 */
bool origin_is_one(char *const *path, size_t paths, size_t *order);

#endif
