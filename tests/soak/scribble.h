/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soak/scribble.h - the processes of a round of scribble: the two sides, who are at work or
 * scribble, and what they share.
 */
#ifndef PTX_TESTS_SOAK_SCRIBBLE_H
#define PTX_TESTS_SOAK_SCRIBBLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WRITES_A_ROUND 500

/* What all processes of a round see. */
struct shared {
	_Atomic int ready;  /* the target is there; the controller's streams are */
	_Atomic bool done;  /* scribbling */
	_Atomic bool end;   /* the target may go */
	_Atomic unsigned long events, refused, faults;
};
extern struct shared *shared;

/*
 * By chance: any number, or 0 to n - 1. What comes is each process's own, and the same for the same
 * seed.
 */
uint64_t any(void);
unsigned below(uint64_t n);

/* A fault, told with the seed and the round. */
void blame(const char *who, const char *what, long detail);

/* Writes anything into the memory that pid, who is traced, shares with its streams. */
void scribble(pid_t pid);

/* The sides; log is a descriptor, or -1. */
void control(pid_t target, bool scribbles, int log) __attribute__((noreturn));
void be_traced(bool scribbles) __attribute__((noreturn));

#endif
