/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ended.h - finds out how processes ended, and records this as an event.
 *
 * A traced process cannot record its own exit status, because only its parent gets the status. The
 * recorder itself is the parent of the program that it started, and with --wait the parent of
 * orphans. A traced parent that waits for a child records the status of the child, by the preload
 * library. live/processes.h finds the remaining ends.
 */
#ifndef POSIXTRACE_LIVE_ENDED_H
#define POSIXTRACE_LIVE_ENDED_H

#include <stdbool.h>
#include <sys/types.h>
#include <trace_np.h>

#include "../../../lib/preload/status.h"

#define ENDED_EVENT "posixtrace_ended" /* type of the events; the shim records it, too */
#define ENDED_TEXT  SHIM_STATUS_TEXT   /* bytes of a text, with its NUL */

/* The end of a process. The status has the form of waitpid(2); it is valid if is_known. */
struct ended {
	bool is_known;
	int status;
};

/*
 * Records the end of a process in the stream. The function opens the event type and gives it the
 * schema. Errors have no effect on the trace.
 */
void ended_record(trace_id_t trid, pid_t pid, const struct ended *ended);

/*
 * Finds out how a process has ended. The process is not a child of this one, and pidfd has shown
 * its end. On kernels before 6.15 the status is unknown if the parent has already waited for the
 * process.
 */
struct ended ended_of(int pidfd, pid_t pid);

/*
 * Stores the status of a zombie, a process that has ended and whose parent has not waited for it.
 * Returns false if the process is not a zombie. Returns false also for the status 0 if the caller
 * may not read the facts of the process, since the kernel then shows 0 in place of the status.
 */
bool ended_zombie(pid_t pid, int *status);

/* Writes "exited with 3", "killed by SIGSEGV (core dumped)" or "ended with unknown status". */
void ended_text(char text[ENDED_TEXT], const struct ended *ended);

/* Writes the name of a signal, such as SIGSEGV, SIGRTMIN+3 or "signal 99". */
void ended_signal(char text[ENDED_TEXT], int signal);

#endif
