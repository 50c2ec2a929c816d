/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/status.h - how a process ended, as text and as the event posixtrace_ended.
 *
 * Two parts of the project record this event: the wrappers of wait() for children of traced
 * processes, and the command posixtrace record for its own children. Both use this code, so that
 * the events are equal.
 *
 * Threads   all functions may run concurrently.
 * Signals   async-signal-safe.
 * Errors    errno is preserved.
 */
#ifndef PTX_PRELOAD_STATUS_H
#define PTX_PRELOAD_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#define SHIM_STATUS_TEXT 64                      /* bytes of a text, with its NUL */
#define SHIM_STATUS_DATA (SHIM_STATUS_TEXT + 16) /* bytes of the data of the event */

/* Appends a number and a NUL, at most 11 bytes, and returns a pointer to the NUL. */
char *shim_add_number(char *to, unsigned number);

/* Writes the name of a signal, such as SIGSEGV, SIGRTMIN+3 or "signal 99". */
void shim_signal_text(char text[SHIM_STATUS_TEXT], int signal);

/*
 * Writes "exited with 3", "killed by SIGSEGV (core dumped)" or "ended with unknown status".
 * `status` has the form of waitpid(2) and is valid if is_known.
 */
void shim_status_text(char text[SHIM_STATUS_TEXT], bool is_known, int status);

/* Writes the data of the event by its schema in types.h. Returns the number of bytes. */
size_t shim_status_data(unsigned char data[SHIM_STATUS_DATA], int pid, bool is_known, int status);

#endif
