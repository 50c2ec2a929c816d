/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tries.h - waits that consist of several calls: a program that waits with a time limit, again and
 * again, and a program that sleeps between its attempts to do something, such as to lock a file.
 */
#ifndef POSIXTRACE_WHY_TRIES_H
#define POSIXTRACE_WHY_TRIES_H

#include "why/history.h"

/*
 * Marks the calls of such waits: sets is_resumed and last_call of a call that reached its time
 * limit, is_retry and failed_call of a sleep, and tried_file and is_flock of a sleep before an
 * attempt to lock a file. Also sets is_limited of all calls. history_read() calls this function
 * once. Returns 0 or ENOMEM.
 */
int tries_mark(struct history *history);

/* Returns whether a wait other than a poll ended at the time limit of the call or of its socket. */
bool tries_timed_out(const struct call *call);

/* Returns whether a call asked for an ended child without waiting, and there was none. */
bool tries_is_poll_for_child(const struct call *call);

/* Returns whether a call failed with an error after which a program may try the call again. */
bool tries_has_failed(const struct call *call);

/* Returns whether two calls try the same. Without a path or address, the descriptor counts. */
bool tries_are_same(const struct call *call, const struct call *other);

/*
 * Returns whether a call tries the same as an earlier failed one, or succeeds where that one failed
 * because there was no child. A shell asks for further children until there is none: such an answer
 * is no attempt.
 */
bool tries_ends_row(const struct call *failed, const struct call *call);

/*
 * Returns the last call of the wait to which a call belongs: the call that reached no time limit.
 * For most calls, this is the call itself.
 */
const struct call *tries_last(const struct history *history, const struct call *call);

/*
 * Returns the call that failed before a sleep, and that the thread tried again after the sleep, or
 * had already tried again before it. Returns NULL if there is no such call, or if the member
 * tried_file has the file that the thread tried to lock.
 */
const struct call *tries_failed(const struct history *history, const struct call *call);

#endif
