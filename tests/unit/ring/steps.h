/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/ring/steps.h - something happens before the n-th instruction of a piece of code, for every
 * n.
 *
 * The processor is set to trap after each instruction, and each trap forks: in the child, what is
 * to happen happens there, and the child goes on to the end of the test. So a test goes through
 * every moment at which another thread could act once, or a handler could jump away. Where the
 * machine cannot do this from within a program, there is only the last, undisturbed run.
 *
 *	set up;
 *	steps_interrupt(writer_turns, reader_reads, &state);	(returns once for each moment)
 *	look at what has become of it;
 *	steps_end(100);
 *
 * The code must not assert: Check's work would be stepped through and interrupted, too.
 */
#ifndef PTX_TESTS_UNIT_RING_STEPS_H
#define PTX_TESTS_UNIT_RING_STEPS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * How a trap forks; fork() unless a test says otherwise, for which the fork itself is what
 * happens.
 */
extern pid_t (*steps_fork)(void);

/* Runs code(state), with other(state) before one of its instructions. */
void steps_interrupt(void (*code)(void *), void (*other)(void *), void *state);

/* Runs code(state) and leaves it for good before one of its instructions. */
void steps_leave(void (*code)(void *), void *state);

/* Whether this is a run in which something has happened: false in the last. */
bool steps_happened(void);

/* The end of the test: there must have been so many moments, where this can be done at all. */
void steps_end(unsigned at_least);

#endif
