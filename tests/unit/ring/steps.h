/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/ring/steps.h - an action before the n-th instruction of a piece of code, for every n.
 *
 * The processor traps after each instruction, and each trap forks. The child performs the action
 * there and continues to the end of the test. So a test runs once for every moment at which another
 * thread could act, or a handler could leave the code. If the machine cannot do this inside a
 * program, there is only the last run, without an action.
 *
 * A test sets up its state, and calls steps_interrupt(writer_turns, reader_reads, &state), which
 * returns once for each moment. The test then examines the result, and ends with steps_end(100).
 *
 * The code must not assert: the library Check would be stepped through and interrupted, too.
 */
#ifndef PTX_TESTS_UNIT_RING_STEPS_H
#define PTX_TESTS_UNIT_RING_STEPS_H

#include <stdbool.h>
#include <sys/types.h>

/* Forks at a trap: fork(), unless the fork itself is the action of a test. */
extern pid_t (*steps_fork)(void);

/* Runs code(state), and runs other(state) before one of the instructions of `code`. */
void steps_interrupt(void (*code)(void *), void (*other)(void *), void *state);

/* Runs code(state), and leaves `code` by siglongjmp() before one of its instructions. */
void steps_leave(void (*code)(void *), void *state);

/* Returns whether the action happened in this run. It does not happen in the last run. */
bool steps_happened(void);

/*
 * Ends the test. If the machine can do this at all, checks that there were at least `at_least`
 * moments.
 */
void steps_end(unsigned at_least);

#endif
