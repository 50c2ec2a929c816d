/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * support/sight.h - copies of the results of posix_trace_observe_np(), for tests.
 */
#ifndef PTX_TESTS_SIGHT_H
#define PTX_TESTS_SIGHT_H

#include "support/stream.h"

#define SIGHTS_MOST 80

/* One result, with copies of the memory of its pointers. */
struct sight {
	struct posix_trace_stream_np stream;
	pid_t member[16];
	char filtered[256]; /* names of the event types that are filtered out */
	char names[256];    /* names of user event types */
};

struct sights {
	pid_t only; /* the process whose streams are copied; 0: those of all processes */
	size_t n;
	struct sight sight[SIGHTS_MOST];
};

extern struct sights sights;

/* Returns copies of all streams of pid. */
struct sights *look(pid_t pid);

/* Examines all streams of the machine and returns copies of those of the process `pid`. */
struct sights *look_at_all_for(pid_t pid);

/* Returns the stream of pid, which must have exactly one. */
const struct sight *look_at_one(pid_t pid);

/* A visitor that counts its calls in an int. */
void count_sights(void *arg, const struct posix_trace_stream_np *stream);

#endif
