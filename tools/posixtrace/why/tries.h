/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tries.h - waits that consist of several calls: a program that waits with a time limit, again and
 * again, and a program that sleeps between its attempts to lock a file.
 */
#ifndef POSIXTRACE_WHY_TRIES_H
#define POSIXTRACE_WHY_TRIES_H

#include "why/history.h"

/*
 * Marks the calls of such waits. The members is_resumed, code, object and is_second of these
 * calls become valid. history_read() calls this function once. Returns 0 or ENOMEM.
 */
int tries_mark(struct history *history);

/*
 * Returns the last call of a wait, the call that reached no time limit. 'call' has is_resumed.
 */
const struct call *tries_last(const struct history *history, const struct call *call);

#endif
