/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soak/lives.h - the processes of a soak: members of a family that trace, controllers that write
 * logs of them, and readers that have streams of them. Each lives by chance, until it is killed or
 * has an end of its own.
 */
#ifndef PTX_TESTS_SOAK_LIVES_H
#define PTX_TESTS_SOAK_LIVES_H

#include <stdatomic.h>
#include <sys/types.h>

#define CONTROLLERS 3

/* What all processes of a soak see. */
struct soak {
	_Atomic int created[CONTROLLERS]; /* in this round; its log must be completed */
	/* children, programs and threads of members in this round */
	_Atomic unsigned born;
	_Atomic unsigned long readers;    /* those that came to their end */
	_Atomic unsigned long read;       /* events that they read */
	_Atomic unsigned long broken;     /* laws that did not hold for one of them */
	_Atomic unsigned long executed;   /* members that became another program or spawned one */
};
extern struct soak *soak;

/* By chance: 0 to n - 1. seed is each process's own. */
extern unsigned seed;
unsigned below(unsigned n);
void nap_us(long us);

/* The argument of main() after which generation, life and the descriptor of struct soak follow. */
#define LIVE_ON "--live-on"

void live(unsigned generation, unsigned life, int soak_fd) __attribute__((noreturn));
void control(pid_t target, int log_fd, unsigned life, _Atomic int *created)
	__attribute__((noreturn));
void watch(pid_t target, unsigned life) __attribute__((noreturn));

#endif
