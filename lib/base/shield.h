/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/shield.h - writing to a file without the signals that it may raise (FLUSHF-09).
 *
 * Between raise and lower the calling thread has SIGXFSZ and SIGPIPE blocked; what was raised
 * meanwhile is taken back, what was pending before stays the program's. errno is preserved.
 */
#ifndef PTX_BASE_SHIELD_H
#define PTX_BASE_SHIELD_H

#include <signal.h>

struct ptx_shield {
	sigset_t before, pending;
};

void ptx_shield_raise(struct ptx_shield *shield);
void ptx_shield_lower(struct ptx_shield *shield);

#endif
