/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/futex.h - sleeping on a word and waking its sleepers, across processes.
 *
 * Signals   ptx_futex_wake() is async-signal-safe. errno is preserved.
 * Errors    ptx_futex_wait(): 0 (woken, or for no reason), EAGAIN (the word was different), EINTR,
 *           ETIMEDOUT, ECANCELED never: cancellation is the caller's affair.
 */
#ifndef PTX_BASE_FUTEX_H
#define PTX_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

/*
 * Sleeps while *word is value, until the moment *until of CLOCK_REALTIME (NULL: for ever). Without
 * a moment, a signal whose handler has SA_RESTART lets the sleep go on.
 */
int ptx_futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *until);

/* As ptx_futex_wait() for at most ns nanoseconds, whatever is done to the clock. */
int ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns);

void ptx_futex_wake(_Atomic uint32_t *word);

#endif
