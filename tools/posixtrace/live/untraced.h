/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* untraced.h - programs that were executed while recording, and that could not be traced. */
#ifndef POSIXTRACE_LIVE_UNTRACED_H
#define POSIXTRACE_LIVE_UNTRACED_H

#include <stdbool.h>

/*
 * Prints one line with the number of such programs and the first of them, with the reasons, if the
 * log has any. fd is the complete log and stays open. is_first_known: the first one was reported
 * when recording began. by_kernel: the kernel has recorded their system calls. A log that cannot be
 * read prints nothing.
 */
void untraced_say(int fd, bool is_first_known, bool by_kernel);

#endif
