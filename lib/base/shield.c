/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/shield.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

void ptx_shield_raise(struct ptx_shield *shield)
{
	sigset_t raised;

	sigemptyset(&raised);
	sigaddset(&raised, SIGXFSZ);
	sigaddset(&raised, SIGPIPE);
	sigpending(&shield->pending);
	pthread_sigmask(SIG_BLOCK, &raised, &shield->before);
}

void ptx_shield_lower(struct ptx_shield *shield)
{
	const int signals[] = { SIGXFSZ, SIGPIPE };
	const struct timespec now = { 0, 0 };
	int saved = errno;

	for (int i = 0; i < 2; i++) {
		sigset_t one;

		if (sigismember(&shield->pending, signals[i]))
			continue;
		sigemptyset(&one);
		sigaddset(&one, signals[i]);
		while (sigtimedwait(&one, NULL, &now) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &shield->before, NULL);
	errno = saved;
}
