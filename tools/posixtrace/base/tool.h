/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tool.h - the parts that all commands share: the entry in the table of commands, options, exit
 * status.
 *
 * A command receives its own name as argv[0] and returns an exit status, one of tool_exit or one of
 * its own. The tool uses the public headers of the library only, as any program that reads logs.
 * The contents of a log are hostile and are printed through text.h only.
 */
#ifndef POSIXTRACE_BASE_TOOL_H
#define POSIXTRACE_BASE_TOOL_H

#include <stdbool.h>
#include <stdint.h>

enum tool_exit { /* tool_worse() has the order of severity */
	TOOL_OK = 0,
	TOOL_FAILURE = 1,
	TOOL_USAGE = 2,
	TOOL_DAMAGED = 3,
	TOOL_LOST = 4 /* events were lost, and --fail-on-loss is given */
};

/* Each command declares its own; commands.def lists them. */
struct tool_command {
	const char *name;
	const char *help;    /* the whole text of --help */
	int (*run)(int argc, char **argv);
};

/* Returns the more severe of two statuses: usage, failure, damage, loss, ok in this order. */
int tool_worse(int a, int b);

struct option;

/*
 * Calls getopt_long(). letters must begin with a colon. If it returns ':' or '?', it has printed
 * the error.
 */
int tool_option(int argc, char **argv, const char *letters, const struct option *options);

/*
 * Parses a decimal number without sign. Returns false after it printed an error; option is the name
 * for that message.
 */
bool tool_number(const char *option, const char *text, uint64_t *number);

/*
 * tool_usage() points to --help on standard error and returns TOOL_USAGE. tool_help() prints the
 * help on standard output and returns TOOL_OK.
 */
int tool_usage(const struct tool_command *command);
int tool_help(const struct tool_command *command);

#endif
