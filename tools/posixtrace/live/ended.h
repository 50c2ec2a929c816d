/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ended.h - how processes ended: found out by the recorder, and recorded as an event.
 *
 * A traced process cannot record its own status. The recorder is the parent of the program that it
 * started, and with --wait the parent of orphans. The process.wait events of the log have the
 * status of processes that a traced process waited for.
 */
#ifndef POSIXTRACE_LIVE_ENDED_H
#define POSIXTRACE_LIVE_ENDED_H

#include <stdbool.h>
#include <sys/types.h>
#include <trace_np.h>

#define ENDED_EVENT "posixtrace_ended" /* type of the events */
#define ENDED_TEXT  64                 /* bytes of a text, with its NUL */

/* The end of a process. The status has the form of waitpid(2); it is valid if is_known. */
struct ended {
	bool is_known;
	int status;
};

/*
 * Records the end of a process in the stream. The event type is opened and described now. Errors
 * have no effect on the trace.
 */
void ended_record(trace_id_t trid, pid_t pid, const struct ended *ended);

/*
 * Finds out how a process ended that is not a child of this one. pidfd shows that it has ended.
 * The status is unknown on kernels before 6.15 once the parent has waited for the process.
 */
struct ended ended_of(int pidfd, pid_t pid);

/* Writes "exited with 3", "killed by SIGSEGV (core dumped)" or "ended with unknown status". */
void ended_text(char text[ENDED_TEXT], const struct ended *ended);

/* Writes the name of a signal, such as SIGSEGV, SIGRTMIN+3 or "signal 99". */
void ended_signal(char text[ENDED_TEXT], int signal);

#endif
