/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/futex.h - sleeping on a word and waking its sleepers, across processes.
 *
 * Threads   all functions may run concurrently.
 * Signals   ptx_futex_wake() is async-signal-safe. errno is preserved.
 * Errors    of the waits: 0 (woken, perhaps without a reason), EAGAIN (the word had another value),
 *           EINTR, ETIMEDOUT. The waits are no cancellation points; the caller checks for a request
 *           to cancel the thread.
 */
#ifndef PTX_BASE_FUTEX_H
#define PTX_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

/*
 * Sleeps while *word is `value`, until the moment *until of CLOCK_REALTIME (NULL: for ever).
 * Without a moment, the sleep continues after a signal whose handler has SA_RESTART.
 */
int ptx_futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *until);

/*
 * Sleeps while *word is `value`, for at most ns nanoseconds. Setting the system's time does not
 * change the length of the sleep. The results are those of ptx_futex_wait().
 */
int ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns);

/* Wakes all threads that sleep on *word. Without sleepers it costs one system call. */
void ptx_futex_wake(_Atomic uint32_t *word);

#endif
