/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tool.h - common code of all commands: the description of a command, the parser of the options,
 * the exit statuses.
 *
 * A command receives its own name as argv[0] and returns an exit status, which is one of enum
 * tool_exit or one of its own. Like any program that reads logs, the tool uses only the public
 * headers of the library. The contents of a log may be hostile, so they are printed only by
 * functions that escape them, such as those of text.h.
 *
 * Threads   one: the functions of the tool have one caller at a time unless their header says
 *           otherwise. Two files start other threads. The threads of log/tally_parts.c count parts
 *           of a log, and each has a tally and a stream of its own. The thread of
 *           base/meter_follow.c shows the progress.
 */
#ifndef POSIXTRACE_BASE_TOOL_H
#define POSIXTRACE_BASE_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"

enum tool_exit { /* tool_worse() knows the order of severity */
	TOOL_OK = 0,
	TOOL_FAILURE = 1,
	TOOL_USAGE = 2,
	TOOL_DAMAGED = 3,
	TOOL_LOST = 4 /* events were lost, and --fail-on-loss is given */
};

/* The description of a command. Each command has one; commands.def lists the commands. */
struct tool_command {
	const char *name;
	/* The arguments: "[OPTION]... LOG...". A line end separates several forms. */
	const char *usage;
	/* the paragraphs that --help prints before the options; option_wrap() wraps them */
	const char *about;
	const struct option_row *options;
	/* the paragraphs that --help prints behind the options; the last has the exit statuses */
	const char *notes;
	enum option_kind operands;   /* the meaning of the arguments that are not options */
	const char *words;   /* if operands is OPTION_CHOICE: the words that an operand can be */
	/* the first operand is a program: all arguments behind it belong to the program */
	bool ends_options;
	int (*run)(int argc, char **argv);
};

/* A line of commands.def. main() sets the table; the command completion reads it. */
struct tool_entry {
	const char *name, *summary;
	const struct tool_command *command;
};
extern const struct tool_entry *tool_entries;
extern size_t tool_entry_count;

/* Returns the more severe of two statuses: usage, failure, damage, loss, ok in this order. */
int tool_worse(int a, int b);

/*
 * Reads the next option of the command by getopt_long(), which sets optarg and optind. Returns the
 * value of its row, -1 behind the last option, or ':' or '?' after it printed an error. Behind the
 * last option it also checks "excludes" and "needs" of all given rows. A process reads the
 * arguments of one command only, because getopt_long() keeps its position in static variables.
 */
int tool_option(int argc, char **argv, const struct tool_command *command);

/* Returns the row of the option that tool_option() has returned, or NULL after an error. */
const struct option_row *tool_option_row(void);

/*
 * Parses a decimal number without sign. Returns false after it printed an error; "option" is the
 * name for that message.
 */
bool tool_number(const char *option, const char *text, uint64_t *number);

/* Does the same for a number from "least" to "most". */
bool tool_number_within(const char *option, const char *text, uint64_t least, uint64_t most,
			uint64_t *number);

/*
 * tool_usage() prints on standard error how to get --help, and returns TOOL_USAGE. tool_help()
 * prints the help on standard output and returns TOOL_OK.
 */
int tool_usage(const struct tool_command *command);
int tool_help(const struct tool_command *command);

#endif
