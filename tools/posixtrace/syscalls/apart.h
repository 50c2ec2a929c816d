/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * apart.h - closes descriptors of perf events, without waiting for the kernel.
 *
 * When the last descriptor of an event that has a BPF program is closed, the kernel waits about 10
 * to 50 ms, until no CPU executes the program. A recording may have thousands of events, so another
 * process waits.
 */
#ifndef POSIXTRACE_SYSCALLS_APART_H
#define POSIXTRACE_SYSCALLS_APART_H

#include <stddef.h>

/*
 * Closes all descriptors in fd that are not -1, and sorts fd. Another process, which is not a child
 * of this process, also has these descriptors and closes them last, so this process does not wait.
 * The other process closes all its other descriptors and gets no signals of the terminal. If it is
 * killed, the kernel closes its descriptors. If it cannot be started, this process waits.
 */
void apart_close(int *fd, size_t count);

/* Closes all descriptors in fd that are not -1, in this process. */
void apart_close_here(const int *fd, size_t count);

#endif
