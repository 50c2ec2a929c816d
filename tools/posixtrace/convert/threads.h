/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * threads.h - the threads of a trace, each known once.
 *
 * A thread that has a number of the system is known by it and its process, whatever its pthread_t:
 * that changes when the process executes another program, and the thread stays the same. Only where
 * the caller asks for each handle, two handles are two threads.
 *
 * Memory    bounded: of more threads than THREADS_MAX, or as many as the caller says, nothing is
 * known.
 */
#ifndef POSIXTRACE_CONVERT_THREADS_H
#define POSIXTRACE_CONVERT_THREADS_H

#include "base/table.h"
#include "convert/format.h"

#define THREADS_MAX 65536

struct thread {
	uint32_t pid, tid;
	uint64_t handle;       /* 0: it is known by its number */
	uint64_t mark;         /* what the caller wants to remember of it, at first 0 */
};

struct threads {
	struct thread **thread; /* each at its own address for good */
	size_t count;
	struct table table;
	bool by_handle;
	size_t most;
};

/* One that is all zeros is ready, too. */
void threads_init(struct threads *threads, bool by_handle, size_t most);
void threads_fini(struct threads *threads);

/* NULL: there are too many, or no memory. */
struct thread *threads_of(struct threads *threads, uint32_t pid, uint32_t tid, uint64_t handle);

#endif
