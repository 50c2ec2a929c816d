/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * apart.h - closes descriptors of events in another process.
 *
 * The kernel waits some 10 to 50 ms at the last close of an event that has a BPF program, until no
 * CPU executes the program any more. A recording may have thousands of events.
 */
#ifndef POSIXTRACE_SYSCALLS_APART_H
#define POSIXTRACE_SYSCALLS_APART_H

#include <stddef.h>

/*
 * Closes all descriptors of fd that are not -1. The last close of each one is in another process,
 * which is not a child of this one, so this process does not wait. The other process closes all its
 * other descriptors and ignores the signals of the terminal. If it is killed, the kernel closes its
 * descriptors. If it cannot be started, this process waits. fd is sorted by this function.
 */
void apart_close(int *fd, size_t count);

/* Closes all descriptors of fd that are not -1, in this process. */
void apart_close_here(const int *fd, size_t count);

#endif
