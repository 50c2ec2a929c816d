/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * circles.h - deadlocks: threads that wait for each other and did not return from these waits.
 *
 * The enders of a wait are all threads that could end it: the holder of the lock, the awaited
 * thread, all threads of the awaited process, or all threads of the processes that could write into
 * the pipe. A wait for a condition variable, a semaphore or a barrier may be ended by any thread of
 * the process. A set of threads is in a deadlock if all enders of each member are members. No
 * member can act before another member acts. So no member ever acts, unless a signal interrupts its
 * wait.
 *
 * If all threads of a process wait for each other, but only for condition variables, semaphores and
 * ends of threads, no thread holds what another one wants. The process is idle then, such as a pool
 * of threads without work, or a wake-up is missing. That is no deadlock.
 *
 * The deadlock is certain if, in addition, the recorder saw each fact while the enders were already
 * blocked, and has no doubt about the fact. Otherwise the deadlock is only possible.
 */
#ifndef POSIXTRACE_WHY_CIRCLES_H
#define POSIXTRACE_WHY_CIRCLES_H

#include "why/history.h"

#define CIRCLES_MOST 64 /* the most threads of a circle */

/* CIRCLES_IDLE: all threads of the process wait, and none of them holds what another one wants */
enum circles_state { CIRCLES_NONE, CIRCLES_IDLE, CIRCLES_POSSIBLE, CIRCLES_CERTAIN };

/* Finds the enders and the deadlocks. To be called after the last stuck call was added. */
void circles_find(struct history *history);

/* Returns the thread that must act before the stuck call returns, or HISTORY_NONE: unknown. */
uint32_t circles_owner(const struct history *history, const struct call *call);

/* Writes the pids in a field of posixtrace_blocked, such as "12 15" for "12:3 15:1". */
void circles_processes(const char *others, char *text, size_t size);

/*
 * Returns the state of a thread that is in a deadlock, waits for a thread in a deadlock, or belongs
 * to an idle process. Returns CIRCLES_NONE for any other thread.
 */
enum circles_state circles_state(const struct history *history, uint32_t thread);

/* Returns a text with the reason why a possible deadlock is not certain. */
const char *circles_doubt(const struct history *history, const uint32_t *member, unsigned count);

/*
 * Finds the circle whose member with the least index is the thread 'first'. Stores the members in
 * such an order that each member waits for the next one, and the last member waits for the first.
 * Returns the number of members, or 0 if there is no such circle or its threads are in no deadlock.
 * The threads of an idle process are such a circle, too.
 */
unsigned circles_members(const struct history *history, uint32_t first,
			 uint32_t member[CIRCLES_MOST]);

#endif
