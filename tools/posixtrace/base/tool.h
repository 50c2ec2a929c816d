/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tool.h - what every command of posixtrace shares: its table entry and its exit status.
 *
 * A command gets argv[0] = its own name and returns an exit status: of tool_exit, or of its own.
 * The tool sees the public headers alone, as any program that reads logs. What a log says is
 * hostile: it goes to a terminal through text.h only.
 */
#ifndef POSIXTRACE_BASE_TOOL_H
#define POSIXTRACE_BASE_TOOL_H

#include <stdbool.h>
#include <stdint.h>

enum tool_exit { /* in order of rank: see tool_worse() */
	TOOL_OK = 0,
	TOOL_FAILURE = 1,
	TOOL_USAGE = 2,
	TOOL_DAMAGED = 3,
	TOOL_LOST = 4 /* events were lost, and --fail-on-loss asks */
};

/* Each command declares its own; commands.def lists them. */
struct tool_command {
	const char *name;
	const char *help;    /* all that --help prints */
	int (*run)(int argc, char **argv);
};

/* The status of two logs together: a failure outranks damage, damage outranks loss. */
int tool_worse(int a, int b);

struct option;

/* getopt_long(); letters begin with a colon. Has said what is wrong when the answer is : or ?. */
int tool_option(int argc, char **argv, const char *letters, const struct option *options);

/* A count after an option. Has said so when it is none. */
bool tool_number(const char *option, const char *text, uint64_t *number);

/* What an option that a command does not know, or --help, leads to. */
int tool_usage(const struct tool_command *command);
int tool_help(const struct tool_command *command);

#endif
