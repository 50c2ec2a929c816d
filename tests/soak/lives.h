/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soak/lives.h - the processes of a soak: members of a family that trace, controllers that write
 * logs of them, and readers of their streams. Each makes random calls until it is killed or ends by
 * itself.
 */
#ifndef PTX_TESTS_SOAK_LIVES_H
#define PTX_TESTS_SOAK_LIVES_H

#include <stdatomic.h>
#include <sys/types.h>

#define CONTROLLERS 3

/* Memory that all processes of a soak share. */
struct soak {
	_Atomic int created[CONTROLLERS]; /* in this round; its log must be completed */
	/* children, programs and threads of members in this round */
	_Atomic unsigned born;
	_Atomic unsigned long readers;    /* those that ended by themselves */
	_Atomic unsigned long read;       /* events that they read */
	_Atomic unsigned long broken;     /* faults that one of them found */
	_Atomic unsigned long executed;   /* members that executed or spawned another program */
};
extern struct soak *soak;

/* Returns a random number from 0 to n - 1. Each process has its own seed. */
extern unsigned seed;
unsigned below(unsigned n);
void nap_us(long us);

/* The argument of main() that is followed by generation, life and the descriptor of struct soak. */
#define LIVE_ON "--live-on"

void live(unsigned generation, unsigned life, int soak_fd) __attribute__((noreturn));
void control(pid_t target, int log_fd, unsigned life, _Atomic int *created)
	__attribute__((noreturn));
void watch(pid_t target, unsigned life) __attribute__((noreturn));

#endif
