/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * option.h - the table of a command's options.
 *
 * A row of the table has everything about an option. From the table the tool makes the arrays of
 * getopt_long(), the text of --help and the completions of the shells. Tests compare the manual
 * page with the table.
 *
 * Several commands may share rows. Such rows are in a separate table. The table of each of these
 * commands has a row that refers to it: { .rows = wanted_choice_rows }.
 */
#ifndef POSIXTRACE_BASE_OPTION_H
#define POSIXTRACE_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

struct out;

/* The meaning of an argument. It decides which words a shell offers as completions. */
enum option_kind {
	OPTION_TEXT,   /* a number, time, pattern or expression: nothing is offered */
	OPTION_FILE,
	OPTION_FOLDER,
	OPTION_LOG,    /* a log; shells offer all other files, too */
	OPTION_PID,
	/*
	 * a pattern for event types; shells offer the words in choices and the types of the given
	 * logs
	 */
	OPTION_EVENT,
	OPTION_PAIR,   /* two event types and fields, separated by commas */
	OPTION_CHOICE, /* one of the words in choices */
	OPTION_LIST,   /* one or more of the words in choices, separated by commas */
	OPTION_SOURCE, /* the name of a format that convert reads */
	OPTION_SINK,   /* the name of a format that convert writes */
	OPTION_PROGRAM /* a program and its arguments */
};

struct option_row {
	const char *name;    /* the long name; NULL: the option is a letter only */
	/* tool_option() returns this value; if the value is a letter, it is also the short name */
	int value;
	/*
	 * The name of the argument in --help; NULL: the option has no argument. The form "[=NAME]"
	 * means that the argument is optional and is in the same word as the option, as in
	 * --stack=NAME.
	 */
	const char *arg;
	/*
	 * The text that --help prints and wraps. If a line of the text begins with a blank, --help
	 * prints that line as it is. Shells show the text up to the first semicolon. If "help" is
	 * NULL, the option is accepted, but not shown.
	 */
	const char *help;
	enum option_kind kind;
	const char *choices; /* words separated by blanks; NULL: none */
	/*
	 * The names of other options, without dashes and separated by blanks. tool_option() refuses
	 * this option together with an option of "excludes". If "needs" names options, at least one
	 * of them must be given, too. Names of options that the command does not have are ignored,
	 * so that several commands can share the row. --help appends both lists to the text.
	 */
	const char *excludes, *needs;

	/*
	 * If "rows" is not NULL, this row is not an option. option_list() replaces it by all rows
	 * of this other table.
	 */
	const struct option_row *rows;
	/*
	 * If "more" is not NULL, this row is not an option, and it is the last row of the table.
	 * more() returns further tables by their index, and NULL behind the last one. --help omits
	 * the rows of these tables. If several tables have an option with the same name, the first
	 * row is used.
	 */
	const struct option_row *(*more)(size_t index);
};

/* The last row of a table. */
#define OPTION_END { 0 }

/* The row of --help, which most commands have. */
#define OPTION_HELP { "help", 'h', NULL, "this text" }

/* All rows of a table. The caller frees row by free(). */
struct option_list {
	const struct option_row **row;
	size_t count;
	size_t own;          /* the number of rows that do not come from more() */
};

/*
 * Collects the rows of a table and of the tables that it refers to, in their order. Returns false
 * if memory is lacking; the list is then empty.
 */
bool option_list(struct option_list *list, const struct option_row *rows);

/* Returns true if the option must have an argument. */
static inline bool option_needs_arg(const struct option_row *row)
{
	return row->arg && *row->arg != '[';
}

/*
 * Returns the index of the option with this long name. An option without a long name is found by
 * its letter. "name" has len bytes. Returns list->count if there is no such option.
 */
size_t option_find(const struct option_list *list, const char *name, size_t len);

/* Returns true if the option has a short name, which is its value. */
static inline bool option_has_letter(const struct option_row *row)
{
	return row->value > ' ' && row->value < 127;
}

/* Writes the options as the lines of --help. It omits the options that come from more(). */
void option_help(struct out *out, const struct option_list *list);

/*
 * Writes text in lines of at most 80 columns. Each line end in the text begins a new line. A line
 * of the text that begins with a blank is written as it is. "column" is the number of columns that
 * the caller has already written in the current line. The function indents every line that it wraps
 * by "indent" columns. The output ends with a line end.
 */
void option_wrap(struct out *out, const char *text, size_t column, size_t indent);

#endif
