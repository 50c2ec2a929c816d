/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opened.h - records the descriptors that a process has open when its trace begins. Later events
 * have only their numbers.
 *
 * The recorder reads /proc/PID/fd. It copies each socket for a moment (pidfd_getfd(2)) to read its
 * addresses. No code runs in the process. A descriptor that cannot be read gets no event, and so
 * has no name in the output.
 */
#ifndef POSIXTRACE_LIVE_OPENED_H
#define POSIXTRACE_LIVE_OPENED_H

#include "live/capture.h"

/*
 * Records the descriptors of the process of a trace. The library must record the process's calls
 * already: then each later change of a descriptor is an event, too. One thread uses this function.
 */
void opened_note(struct capture *capture);

#endif
