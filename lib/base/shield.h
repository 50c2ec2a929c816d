/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/shield.h - writes to a file without the signals that they may raise (FLUSHF-09).
 *
 * Between ptx_shield_raise() and ptx_shield_lower() the calling thread has SIGXFSZ and SIGPIPE
 * blocked. ptx_shield_lower() discards these signals if they were raised since ptx_shield_raise().
 * Signals that were pending before remain pending for the program.
 *
 * Threads   each thread has its own shield, on its stack.
 * Signals   async-signal-safe; errno is preserved.
 */
#ifndef PTX_BASE_SHIELD_H
#define PTX_BASE_SHIELD_H

#include <signal.h>

struct ptx_shield {
	sigset_t before, pending;
};

/* Blocks SIGXFSZ and SIGPIPE in this thread, before it writes to a log. */
void ptx_shield_raise(struct ptx_shield *shield);
/*
 * Removes these signals if they were raised since ptx_shield_raise(), and restores the former mask.
 */
void ptx_shield_lower(struct ptx_shield *shield);

#endif
