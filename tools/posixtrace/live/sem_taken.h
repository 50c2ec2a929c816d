/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sem_taken.h - the thread that took a semaphore last, as the preload library has noted it. */
#ifndef POSIXTRACE_LIVE_SEM_TAKEN_H
#define POSIXTRACE_LIVE_SEM_TAKEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sem_taken {
	pid_t tid;       /* 0: the thread has ended */
	uint64_t caller; /* where it called sem_wait() */
};

/*
 * Finds the thread of a process that took a semaphore of this process last and has not posted it
 * since. Returns false if this is not known. The process must have the word size of this process.
 */
bool sem_taken_find(pid_t pid, uint64_t semaphore, struct sem_taken *taken);

#endif
