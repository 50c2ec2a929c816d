/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process.h - processes as arguments and in messages. */
#ifndef POSIXTRACE_LIVE_PROCESS_H
#define POSIXTRACE_LIVE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/option.h"

#define PROCESS_NAME_BYTES 64

/*
 * In /proc/PID/fd, the links of the library's shared memory (arenas) begin with this text. It is
 * the same in all versions.
 */
#define PROCESS_ARENA "/memfd:posix-trace"

/*
 * Parses a process ID after an option or as an argument. Returns false after it printed an error.
 */
bool process_number(const char *option, const char *text, pid_t *pid);

/*
 * Does the same for an option that can be given only once. *pid must be 0 before the first value. A
 * second value is an error.
 */
bool process_once(const char *option, const char *text, pid_t *pid);

/* The processes of a command line. The owner frees pid by free(). */
struct process_list {
	pid_t *pid;
	size_t count;
};

/*
 * The option --pid (-p) of a command whose operands are processes. The value of the option means
 * the same as an operand.
 */
extern const struct option_row process_rows[];

/* Adds a process to the list. Returns false after it printed an error. */
bool process_add(struct process_list *list, const char *option, const char *text);

/*
 * Adds the operands, which begin at optind, behind the processes of --pid. Returns false after it
 * printed an error.
 */
bool process_add_operands(struct process_list *list, const char *command, int argc, char **argv);

/* Stores the name of the program that the process executes, or "?" if it is not known. */
void process_name(char name[PROCESS_NAME_BYTES], pid_t pid);

/*
 * Stores the path by which the process executed its program, as the preload library records it: the
 * text to which AT_EXECFN points. The process can change this text. Stores the path of the
 * program's file if the text cannot be read or is empty. Returns false if neither is known.
 */
bool process_executed(pid_t pid, char *path, size_t bytes);

/*
 * Prints that the process uses another version of the library, whose memory this version cannot
 * read. "effect" is a clause that ends in ": ", or empty.
 */
void process_say_other_version(pid_t pid, const char *effect);

/*
 * Prints the reason for an error number of a call that concerned the process. Returns TOOL_FAILURE.
 */
int process_say_why(pid_t pid, int err);

/*
 * Returns whether the rights of this process, also those of root, are limited to a user namespace.
 */
bool process_in_user_space(void);

#endif
