/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tool.c - parses the options, prints the help and ranks the exit statuses of the commands. */
#include "base/tool.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/out.h"
#include "base/say.h"
#include "base/text.h"

const struct tool_entry *tool_entries;
size_t tool_entry_count;

/*
 * The arrays of getopt_long(), which make_parser() fills from the command's table. The arrays that
 * are in use when the process ends are never freed.
 */
static struct {
	const struct tool_command *command;
	struct option_list list;
	struct option *options;
	bool *is_given; /* at the index of the row */
	char letters[256]; /* ":" or "+:", then each letter, with a colon if it has an argument */
	const struct option_row *given;
} parser;

int tool_worse(int a, int b)
{
	/*
	 * The manual page fixes the values of the statuses. Their values are not in the order of
	 * severity, so this table gives that order.
	 */
	static const int rank[] = {
		[TOOL_OK] = 0, [TOOL_LOST] = 1, [TOOL_DAMAGED] = 2, [TOOL_FAILURE] = 3,
		[TOOL_USAGE] = 4,
	};

	return rank[a] > rank[b] ? a : b;
}

int tool_usage(const struct tool_command *command)
{
	fprintf(stderr, "Try 'posixtrace %s --help'.\n", command->name);
	return TOOL_USAGE;
}

/*
 * Reports an abbreviation that fits several options, or a value for an option that has no argument.
 * Returns false if "given" has neither of these errors. len is the length of the name in "given",
 * without the dashes.
 */
static bool say_wrong_form(const char *command, const char *given, size_t len,
			   const struct option *options)
{
	const char *first = NULL, *second = NULL;

	for (; len && options->name; options++) {
		if (strncmp(options->name, given + 2, len) != 0)
			continue;
		if (!options->name[len]) {
			say("%s: %s: this option accepts no value", command, given);
			return true;
		}
		second = first ? options->name : NULL;
		first = first ? first : options->name;
		if (second) {
			say("%s: %s: ambiguous: --%s or --%s", command, given, first, second);
			return true;
		}
	}
	if (first)
		say("%s: %s: --%s accepts no value", command, given, first);
	return first != NULL;
}

/*
 * Reports an option that does not exist. "given" is "--name" or "--name=value". The message
 * contains all of "given"; the search for a similar name uses only the part before "=".
 */
static void say_no_option(const char *command, const char *given, const struct option *options)
{
	char name[NEAREST_BYTES + 1];
	size_t len = strcspn(given, "=");
	struct nearest nearest;

	/*
	 * If "given" is too short to have two dashes and a name, it is not "--name", and the name
	 * is empty.
	 */
	len = len > 2 ? len - 2 : 0;
	if (say_wrong_form(command, given, len, options))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(len < NEAREST_BYTES ? len : NEAREST_BYTES),
		 len ? given + 2 : "");
	nearest_begin(&nearest, name);
	for (; options->name; options++)
		nearest_offer(&nearest, options->name);
	if (nearest.name)
		say("%s: %s: no such option; did you mean --%s?", command, given, nearest.name);
	else
		say("%s: %s: no such option", command, given);
}

/*
 * For a long option getopt_long() returns VALUE_OF_INDEX plus the index of the row. So the values
 * of the rows need not be distinct, and each format of convert may choose the values of its options
 * freely.
 */
#define VALUE_OF_INDEX 4096

/* Makes the arrays of getopt_long(). Returns false if memory is lacking. */
static bool make_parser(const struct tool_command *command)
{
	char *letter = parser.letters;
	size_t options = 0;

	free(parser.list.row);
	free(parser.options);
	free(parser.is_given);
	memset(&parser, 0, sizeof(parser));
	if (!option_list(&parser.list, command->options))
		return false;
	parser.options = calloc(parser.list.count + 1, sizeof(*parser.options));
	parser.is_given = calloc(parser.list.count + 1, sizeof(*parser.is_given));
	if (!parser.options || !parser.is_given)
		return false;
	letter = stpcpy(parser.letters, command->ends_options ? "+:" : ":");
	for (size_t i = 0; i < parser.list.count; i++) {
		const struct option_row *row = parser.list.row[i];

		if (row->name) {
			parser.options[options].name = row->name;
			parser.options[options].has_arg =
				option_needs_arg(row) ? required_argument :
				row->arg ? optional_argument : no_argument;
			parser.options[options++].val = VALUE_OF_INDEX + (int)i;
		}
		/*
		 * The array letters is large enough: only printable characters are letters, and
		 * each is added once.
		 */
		if (option_has_letter(row) && !strchr(parser.letters + 1, row->value)) {
			*letter++ = (char)row->value;
			if (row->arg)
				*letter++ = ':';
		}
	}
	*letter = '\0';
	parser.command = command;
	return true;
}

/* Returns the index of the short option, or the number of rows if there is none. */
static size_t index_of_letter(int letter)
{
	size_t i = 0;

	while (i < parser.list.count && !(option_has_letter(parser.list.row[i]) &&
					  parser.list.row[i]->value == letter))
		i++;
	return i;
}

/* The dashes and the name of an option, for a message. */
#define DASHES(row) ((row)->name ? "--" : "-")
#define NAME(row)   ((row)->name ? (row)->name : (const char[]){ (char)(row)->value, '\0' })

/* If the row excludes an option that is given, too, prints an error and returns false. */
static bool excludes_none(const char *command, const struct option_row *row)
{
	const char *name = row->excludes;

	while (name && *name) {
		size_t len = strcspn(name, " "), other = option_find(&parser.list, name, len);

		if (other < parser.list.count && parser.is_given[other]) {
			say("%s: %s%s and %s%s cannot be used together", command, DASHES(row),
			    NAME(row), DASHES(parser.list.row[other]),
			    NAME(parser.list.row[other]));
			return false;
		}
		name += len + (name[len] == ' ');
	}
	return true;
}

/*
 * If the row needs one of several options and none of these is given, prints an error and returns
 * false.
 */
static bool has_needs(const char *command, const struct option_row *row)
{
	const struct option_row *needed = NULL;
	const char *name = row->needs;

	while (name && *name) {
		size_t len = strcspn(name, " "), other = option_find(&parser.list, name, len);

		if (other < parser.list.count) {
			if (parser.is_given[other])
				return true;
			needed = needed ? needed : parser.list.row[other];
		}
		name += len + (name[len] == ' ');
	}
	if (needed)
		say("%s: %s%s has no effect without %s%s", command, DASHES(row), NAME(row),
		    DASHES(needed), NAME(needed));
	return !needed;
}

/* Checks the relations of all given options. Returns false after an error. */
static bool options_agree(const char *command)
{
	for (size_t i = 0; i < parser.list.count; i++)
		if (parser.is_given[i] && (!excludes_none(command, parser.list.row[i]) ||
					   !has_needs(command, parser.list.row[i])))
			return false;
	return true;
}

const struct option_row *tool_option_row(void)
{
	return parser.given;
}

int tool_option(int argc, char **argv, const struct tool_command *command)
{
	size_t row;
	int option;

	if (parser.command != command && !make_parser(command)) {
		say("%s", strerror(ENOMEM));
		return '?';
	}
	opterr = 0; /* getopt's own messages would print hostile bytes unescaped */
	option = getopt_long(argc, argv, parser.letters, parser.options, NULL);
	row = option >= VALUE_OF_INDEX ? (size_t)(option - VALUE_OF_INDEX) :
					 index_of_letter(option);
	parser.given = row < parser.list.count ? parser.list.row[row] : NULL;
	if (parser.given)
		parser.is_given[row] = true;
	else if (option == -1 && !options_agree(argv[0]))
		return '?';
	if (option == ':')
		say("%s: %s: needs a value", argv[0], argv[optind - 1]);
	/*
	 * For a short option, optopt is its letter. For a long option, it is 0 or a number above
	 * 255.
	 */
	else if (option == '?' && optopt > 0 && optopt < 256)
		say("%s: -%c: no such option", argv[0], optopt);
	else if (option == '?')
		say_no_option(argv[0], argv[optind - 1], parser.options);
	return parser.given ? parser.given->value : option;
}

bool tool_number(const char *option, const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	/*
	 * The first character must be a digit: strtoull() itself would also accept blanks and a
	 * sign, and would convert -1 to the greatest number.
	 */
	if (!errno && *text >= '0' && *text <= '9' && !*end)
		return true;
	say("%s %s: %s", option, text_given(text), errno == ERANGE && !*end && *text != '-' ?
	    "this number is too large" : "not a number");
	return false;
}

bool tool_number_within(const char *option, const char *text, uint64_t least, uint64_t most,
			uint64_t *number)
{
	if (!tool_number(option, text, number))
		return false;
	if (*number >= least && *number <= most)
		return true;
	say("%s %s: not a number from %llu to %llu", option, text_given(text),
	    (unsigned long long)least, (unsigned long long)most);
	return false;
}

/* Writes a line for each form of the command, such as "Usage: posixtrace dump LOG...". */
static void put_usage(struct out *out, const struct tool_command *command)
{
	const char *form = command->usage, *label = "Usage: ";

	while (*form) {
		size_t len = strcspn(form, "\n");

		out_printf(out, "%sposixtrace %s %.*s\n", label, command->name, (int)len, form);
		label = "       ";
		form += len + (form[len] == '\n');
	}
}

int tool_help(const struct tool_command *command)
{
	struct option_list list;

	if (!option_list(&list, command->options)) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	put_usage(&out_stdout, command);
	option_wrap(&out_stdout, command->about, 0, 0);
	out_char(&out_stdout, '\n');
	option_help(&out_stdout, &list);
	out_char(&out_stdout, '\n');
	option_wrap(&out_stdout, command->notes, 0, 0);
	out_printf(&out_stdout, "Manual page: posixtrace-%s(1)\n", command->name);
	free(list.row);
	return TOOL_OK;
}
