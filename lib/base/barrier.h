/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/barrier.h - a full memory barrier on every running thread that may write events.
 *
 * After it, what another thread did before one point of its instruction stream is visible here,
 * and what it does after that point comes after everything done here before the call. So the
 * writer of an event needs no fence; the rare reader pays.
 *
 * Errors    none; false if the kernel refuses: order across threads is then not known.
 */
#ifndef PTX_BASE_BARRIER_H
#define PTX_BASE_BARRIER_H

#include <stdbool.h>

/* Once in a process, early: it is cheap while there is one thread. */
void ptx_barrier_init(void);

bool ptx_barrier(void);

/* The same on every running thread of every process that this library is in. */
bool ptx_barrier_everywhere(void);

#endif
