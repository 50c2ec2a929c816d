/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/sem_taker.h - which thread took a semaphore last. The recorder reads this in the memory
 * of a process, when a thread waits for the semaphore for long.
 *
 * A thread that takes a semaphore without waiting records no event, and a wait that never ends has
 * no event either. So a wrapper only notes the taker. A note costs no system call: the thread is
 * known by the address of its own memory, and by a number in this memory. The C library clears the
 * number when it uses the memory for a new thread.
 *
 * Two semaphores may share a note. Threads may write one note at the same time, so the reader
 * checks the sum. A note is a hint for a reader and has no effect on the process.
 */
#ifndef PTX_PRELOAD_SEM_TAKER_H
#define PTX_PRELOAD_SEM_TAKER_H

#include <stdint.h>

#define SHIM_TAKERS_NAME "posixtrace_shim_takers"
#define SHIM_TAKERS      64

/* A cache line. All members are 0 if the note is free. */
struct shim_taker {
	uint64_t semaphore;
	uint64_t thread;      /* pthread_self() of the taker */
	uint64_t mark;        /* the address of the number in the memory of the thread */
	uint64_t number;      /* this number; 0: none */
	uint64_t caller;      /* the return address of the call that took the semaphore */
	uint64_t sum;         /* of the members above */
	uint64_t unused[2];
};

/* Returns the index of the note for a semaphore. */
static inline unsigned shim_taker_index(uint64_t semaphore)
{
	return (unsigned)(semaphore / 32 % SHIM_TAKERS);
}

static inline uint64_t shim_taker_sum(const struct shim_taker *taker)
{
	return taker->semaphore + taker->thread + taker->mark + taker->number + taker->caller;
}

#endif
