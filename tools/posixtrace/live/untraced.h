/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* untraced.h - programs and children that began while recording, and that were not traced. */
#ifndef POSIXTRACE_LIVE_UNTRACED_H
#define POSIXTRACE_LIVE_UNTRACED_H

#include <stdbool.h>
#include <sys/types.h>

/* The type of the events. No pattern of --event excludes them, because they explain a gap. */
#define UNTRACED_EVENT "process.untraced"

struct rotation;

/*
 * If the logs have events UNTRACED_EVENT, prints one line with the first programs that could not be
 * traced, their reasons, and the number of executions of others. The logs are complete.
 * is_first_known is true if the first event was reported when the recording began. by_kernel is
 * true if the kernel has recorded the system calls of these programs. Logs that cannot be read are
 * omitted.
 */
void untraced_say(const struct rotation *logs, bool is_first_known, bool by_kernel);

/*
 * Prints one line with the number of children that the processes of the logs have made, if there
 * are any. The caller calls this function only for a stream that children do not inherit. The logs
 * are complete. Logs that cannot be read are omitted.
 */
void untraced_say_children(const struct rotation *logs);

/*
 * If programs of Go recorded their start in the logs, prints one line with the first of these
 * programs. The logs are complete. is_first_known is true if a line about the first program was
 * printed when the recording began. The line then omits this program. The function examines the
 * files that are now at the paths in the logs. A file that is missing or that cannot be read is
 * omitted.
 */
void untraced_say_go_programs(const struct rotation *logs, bool is_first_known);

/*
 * untraced_is_go() returns whether a process executes a program of Go. The system calls of such a
 * program do not use the C library, so they have no events, even if the preload library is in the
 * process. The result is false if this is not known. untraced_say_go() prints a line about such a
 * process, and returns whether it has printed one.
 */
bool untraced_is_go(pid_t pid);
bool untraced_say_go(pid_t pid);

#endif
