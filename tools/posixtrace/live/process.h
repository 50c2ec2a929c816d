/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * process.h - what the tool says of other processes.
 */
#ifndef POSIXTRACE_LIVE_PROCESS_H
#define POSIXTRACE_LIVE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#define PROCESS_NAME_BYTES 64

/* A process id after an option, or as an argument. False: it is none; that has been said. */
bool process_number(const char *option, const char *text, pid_t *pid);

/* For an option of a command that takes one process: a second one is refused, not left out. */
bool process_once(const char *option, const char *text, pid_t *pid);

/* The name of the program that it runs; "?" when that cannot be told. */
void process_name(char name[PROCESS_NAME_BYTES], pid_t pid);

/* Says why a process cannot be traced or looked at. TOOL_FAILURE. */
int process_say_why(pid_t pid, int err);

#endif
