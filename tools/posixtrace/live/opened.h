/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opened.h - records the descriptors that a process has open when its trace begins. Later events
 * have only their numbers.
 *
 * The recorder reads /proc/PID/fd. It duplicates the descriptor of each socket for a moment
 * (pidfd_getfd(2)) to read the addresses. No code of the recorder runs in the process. A descriptor
 * whose link cannot be read gets no event, and so has no name in the output. The shared memory of
 * the library gets no event.
 */
#ifndef POSIXTRACE_LIVE_OPENED_H
#define POSIXTRACE_LIVE_OPENED_H

#include "live/capture.h"

/*
 * Records the program and the descriptors of a process that runs already. The library must already
 * record the calls of the process, so that each later change of a descriptor is an event, too. One
 * thread uses this function.
 */
void opened_note(struct capture *capture);

/*
 * Records the descriptors that a program gets from this process at its start: those that this
 * process has open, and that execve(2) does not close. Since the fork, this process must not have
 * opened or closed any of them. The program may run already. It began after begin_ns, a time of
 * until_now_ns(). This function makes two system calls for a file, and some more for a socket.
 */
void opened_note_inherited(struct capture *capture, int64_t begin_ns);

#endif
