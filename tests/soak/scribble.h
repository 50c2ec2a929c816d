/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soak/scribble.h - the processes of a round of scribble: the two sides, of which one works and one
 * scribbles, and their shared memory.
 */
#ifndef PTX_TESTS_SOAK_SCRIBBLE_H
#define PTX_TESTS_SOAK_SCRIBBLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WRITES_A_ROUND 500

/* Memory that all processes of a round share. */
struct shared {
	_Atomic int ready;  /* the target is ready; the controller's streams are ready */
	_Atomic bool done;  /* number of writes by the side that scribbles */
	_Atomic bool end;   /* the target may end */
	_Atomic unsigned long events, refused, faults;
	_Atomic unsigned long steps; /* made by both sides; a round without new steps hangs */
};
extern struct shared *shared;

/*
 * Return random numbers: any, or from 0 to n - 1. The sequence differs between processes and is the
 * same for the same seed.
 */
uint64_t any(void);
unsigned below(uint64_t n);

/* Reports a fault with the seed and the round. */
void blame(const char *who, const char *what, long detail);

/* Writes random values into the memory that the traced process pid shares with its streams. */
void scribble(pid_t pid);

/* The sides; log is a descriptor, or -1. */
void control(pid_t target, bool scribbles, int log) __attribute__((noreturn));
void be_traced(bool scribbles) __attribute__((noreturn));

#endif
