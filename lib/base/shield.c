/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/shield.c - blocks SIGXFSZ and SIGPIPE around writes to a log.
 *
 * A write beyond RLIMIT_FSIZE raises SIGXFSZ, and a write to a pipe without reader raises SIGPIPE.
 * Their default action ends the program. A log must not cause this (FLUSHF-09). The kernel sends
 * both signals to the thread that writes, so it is enough to block them in this thread.
 */
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
	/*
	 * One of these signals may be pending now, because the program raised it or another process
	 * sent it. The program must get this signal after ptx_shield_lower().
	 */
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

		/*
		 * If this signal was pending before the write, the program must get it. The write
		 * may have raised it again, but a standard signal is pending only once.
		 */
		if (sigismember(&shield->pending, signals[i]))
			continue;
		sigemptyset(&one);
		sigaddset(&one, signals[i]);
		/*
		 * sigtimedwait() removes the signal without running its handler. EINTR means that
		 * the handler of another signal has run.
		 */
		while (sigtimedwait(&one, NULL, &now) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &shield->before, NULL);
	errno = saved;
}
