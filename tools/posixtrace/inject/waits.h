/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * waits.h - finds the reason why no thread of a process can make a call now. The functions do not
 * stop any thread.
 */
#ifndef POSIXTRACE_INJECT_WAITS_H
#define POSIXTRACE_INJECT_WAITS_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns whether a thread of the process waits in vfork(), or in clone() with CLONE_VFORK. A
 * thread in state D whose system call the kernel does not show may wait there, so the result is
 * true for such a thread, too.
 */
bool waits_in_vfork(pid_t pid);

/*
 * Returns the reason why no thread can make a call now: a thread waits for a child of vfork(), or
 * in a system call that nothing interrupts. Also returns a reason if the kernel does not show the
 * system calls of the threads. Otherwise returns NULL. The text is valid until the next call.
 */
const char *waits_reason(pid_t pid);

#endif
