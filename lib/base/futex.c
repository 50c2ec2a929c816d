/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

static int call(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *when)
{
	int saved = errno, err = 0;

	if (syscall(SYS_futex, word, op, value, when, NULL, FUTEX_BITSET_MATCH_ANY) < 0)
		err = errno;
	errno = saved;
	return err;
}

int ptx_futex_wait(_Atomic uint32_t *word, uint32_t value, const struct timespec *until)
{
	return call(word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, value, until);
}

int ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns)
{
	struct timespec span = { ns / PTX_NS_PER_S, ns % PTX_NS_PER_S };

	return call(word, FUTEX_WAIT, value, &span);
}

void ptx_futex_wake(_Atomic uint32_t *word)
{
	call(word, FUTEX_WAKE, INT_MAX, NULL);
}
