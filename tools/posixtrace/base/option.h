/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * option.h - the table of a command's options.
 *
 * A row of the table has everything about an option. The arrays of getopt_long(), the text of
 * --help and the completions of the shells are made of it; tests compare the manual page with it.
 *
 * Several commands may share rows. Such rows are a table of their own, which a row of each command
 * refers to: { .rows = wanted_choice_rows }.
 */
#ifndef POSIXTRACE_BASE_OPTION_H
#define POSIXTRACE_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

struct out;

/* The meaning of an argument, from which a shell knows the words to offer. */
enum option_kind {
	OPTION_TEXT,   /* a number, time, pattern or expression: nothing is offered */
	OPTION_FILE,
	OPTION_FOLDER,
	OPTION_LOG,    /* a file; shells offer the other files, too */
	OPTION_PID,
	OPTION_EVENT,  /* a pattern for event types: choices, and types of the logs given */
	OPTION_CHOICE, /* one of the words in choices */
	OPTION_LIST,   /* some of the words in choices, separated by commas */
	OPTION_SOURCE, /* the name of a format that convert reads */
	OPTION_SINK,   /* the name of a format that convert writes */
	OPTION_PROGRAM /* a program and its arguments */
};

struct option_row {
	const char *name;    /* the long name; NULL: the option is a letter only */
	int value;           /* what tool_option() returns; a letter is also the short name */
	/*
	 * The name of the argument in --help; NULL: the option has none. "[=NAME]": the argument is
	 * optional and in the same word, as in --stack=NAME.
	 */
	const char *arg;
	/*
	 * The text of --help, which wraps it. A part behind a line end that begins with a blank is
	 * printed as it is. Shells show the text up to the first semicolon. NULL: the option is
	 * accepted, but not shown.
	 */
	const char *help;
	enum option_kind kind;
	const char *choices; /* words separated by blanks; NULL: none */

	/* If it is not NULL, the row is no option: the rows of this other table take its place. */
	const struct option_row *rows;
	/*
	 * If it is not NULL, in the last row of a table, the row is no option: the function returns
	 * further tables by their index, and NULL behind the last one. --help omits the rows of
	 * these tables. If several tables have an option with the same name, the first row is used.
	 */
	const struct option_row *(*more)(size_t index);
};

/* The last row of a table. */
#define OPTION_END { 0 }

/* The rows that most commands have. */
#define OPTION_HELP { "help", 'h', NULL, "this text" }

/* All rows of a table. free() releases row. */
struct option_list {
	const struct option_row **row;
	size_t count;
	size_t own;          /* number of rows before those of more() */
};

/*
 * Collects the rows of a table and of those that it refers to, in their order. Returns false
 * without memory; the list is empty then.
 */
bool option_list(struct option_list *list, const struct option_row *rows);

/* Returns true if the option must have an argument. */
static inline bool option_needs_arg(const struct option_row *row)
{
	return row->arg && *row->arg != '[';
}

/* Returns true if the option has a short name, which is its value. */
static inline bool option_has_letter(const struct option_row *row)
{
	return row->value > ' ' && row->value < 127;
}

/* Writes the options as the lines of --help, without those of more(). */
void option_help(struct out *out, const struct option_list *list);

/*
 * Writes text in lines of at most 80 columns. Each line end in the text begins a new line; a line
 * that begins with a blank is written as it is. column is the place of the output in its line, and
 * indent the place at which further lines begin. The output ends with a line end.
 */
void option_wrap(struct out *out, const char *text, size_t column, size_t indent);

#endif
