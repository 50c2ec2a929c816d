/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/sender.h - the process that caused a signal, for the families signal and process.
 *
 * Threads   any thread.
 * Signals   async-signal-safe.
 */
#ifndef PTX_PRELOAD_SENDER_H
#define PTX_PRELOAD_SENDER_H

#include <signal.h>
#include <stdint.h>

/*
 * Returns the id of the process that sent the signal. For SIGCHLD of a child that has ended,
 * stopped or continued, returns the id of the child. Returns 0 for all other signals: the member
 * si_pid is then no process, but for example the number of a timer.
 */
static inline int32_t shim_sender_of(int signal, const siginfo_t *info)
{
	const int code = info->si_code;

	return code == SI_USER || code == SI_QUEUE || code == SI_TKILL || code == SI_MESGQ ||
	       (signal == SIGCHLD && code > 0) ? info->si_pid : 0;
}

#endif
