/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/futex.c - futex(2) on words that processes share.
 *
 * Most words are in shared mappings of an arena, so no operation has FUTEX_PRIVATE_FLAG: the
 * kernel finds the sleepers by the page and not by the address.
 */
#include "base/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

/*
 * Returns 0 or an error number. The C library has no wrapper, so this is no cancellation point.
 */
static int futex_call(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *when)
{
	int saved = errno, err = 0;

	if (syscall(SYS_futex, word, op, value, when, NULL, FUTEX_BITSET_MATCH_ANY) < 0)
		err = errno;
	errno = saved;
	return err;
}

/*
 * Uses FUTEX_WAIT_BITSET, because its time is absolute. The time of FUTEX_WAIT is a duration, and a
 * wait that a signal interrupts would begin anew with the full duration.
 */
int ptx_futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *until)
{
	return futex_call(word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, value, until);
}

int ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns)
{
	/*
	 * A relative time of FUTEX_WAIT is measured by CLOCK_MONOTONIC, so that setting the
	 * system's time does not prolong the wait.
	 */
	struct timespec span = { ns / PTX_NS_PER_S, ns % PTX_NS_PER_S };

	return futex_call(word, FUTEX_WAIT, value, &span);
}

void ptx_futex_wake(_Atomic uint32_t *word)
{
	/* Wakes all sleepers. Each of them checks its own condition again. */
	futex_call(word, FUTEX_WAKE, INT_MAX, NULL);
}
