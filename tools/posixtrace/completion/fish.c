/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fish.c - the completion for fish: a line for each command and each option.
 *
 * fish evaluates the condition -n of each line when it completes, and expands the words of -a. Each
 * line has a complete condition, so the order of the lines has no meaning.
 */
#include <stdlib.h>
#include <string.h>

#include "completion/shells.h"

/*
 * The functions that the conditions and words of the lines call. commandline -opc prints the words
 * before the word that is being completed. With -f or -x, fish offers only the words and no file
 * names.
 */
static const char head[] =
	"# Completion of posixtrace for fish. Written by: posixtrace completion fish\n"
	"\n"
	"function __posixtrace_needs_command\n"
	"	test (count (commandline -opc)) -eq 1\n"
	"end\n"
	"\n"
	"# Whether the command is one of the arguments.\n"
	"function __posixtrace_is\n"
	"	set -l words (commandline -opc)\n"
	"	set -q words[2]; and contains -- $words[2] $argv\n"
	"end\n"
	"\n"
	"# Words of a list that is separated by commas; a minus may precede a word.\n"
	"function __posixtrace_list\n"
	"	set -l current (commandline -ct | string replace -r '^--[a-z-]*=' '')\n"
	"	set -l before (string match -r '^.*,|^' -- $current)\n"
	"	string match -q -- \"$before-*\" $current; and set before $before-\n"
	"	string join \\n -- $before$argv\n"
	"end\n"
	"\n"
	"# The event types of the process and of the logs on the command line, or of record's\n"
	"# log. If the option has words of its own, the arguments, only those of the process are\n"
	"# added.\n"
	"function __posixtrace_events\n"
	"	set -l logs\n"
	"	set -l last ''\n"
	"	for word in (string replace -r '^~/' $HOME/ -- (commandline -op)[3..-1])\n"
	"		if string match -qr '^(-p|--pid=?)[0-9]+$' -- $last$word $word\n"
	"			set -a logs (string replace -r -- '^(-p|--pid=)' '' $word)\n"
	"		else if not set -q argv[1]; and test -f $word\n"
	"			set -a logs $word\n"
	"		end\n"
	"		set last $word\n"
	"	end\n"
	"	set -q argv[1]; or set -q logs[1]; or set logs posixtrace.ptl\n"
	"	set -q argv[1]; and string join \\n -- $argv\n"
	"	set -q logs[1]; and posixtrace completion events $logs 2>/dev/null\n"
	"end\n"
	"\n"
	"# Event types for the two words before the fields of a pair.\n"
	"function __posixtrace_pair\n"
	"	string match -q '*,*,*' -- (commandline -ct)\n"
	"	or __posixtrace_list (__posixtrace_events)\n"
	"end\n"
	"\n"
	"complete -c posixtrace -f -n __posixtrace_needs_command -s h -l help "
		"-d 'print the commands'\n"
	"complete -c posixtrace -f -n __posixtrace_needs_command -s V -l version "
		"-d 'print the version'\n"
	"complete -c posixtrace -f -n __posixtrace_needs_command -a help -d 'explain a command'\n";

/* Writes text between two '. In fish a backslash before ' or \ is special between them. */
static void put_quoted(struct out *out, const char *text, size_t len)
{
	out_char(out, '\'');
	shells_quoted(out, text, len, "'\\", "\\");
	out_char(out, '\'');
}

/*
 * Writes the options of complete that say how an argument is completed. -r: an argument follows;
 * -x: an argument follows that is not a file name; -F: file names are offered. An optional argument
 * follows only behind =, so its option has -f, no file names, instead of -x.
 */
static void put_kind(struct out *out, enum option_kind kind, const char *choices, bool is_optional)
{
	const char *word = is_optional ? " -f" : " -x";

	switch (kind) {
	case OPTION_TEXT:
		out_str(out, word);
		break;
	case OPTION_FILE:
	case OPTION_LOG:
		out_str(out, " -r -F");
		break;
	case OPTION_FOLDER:
		out_printf(out, "%s -a '(__fish_complete_directories)'", word);
		break;
	case OPTION_PID:
		out_printf(out, "%s -a '(posixtrace completion pids 2>/dev/null)'", word);
		break;
	case OPTION_LIST:
		out_printf(out, "%s -a '(__posixtrace_list %s)'", word, choices);
		break;
	case OPTION_PROGRAM:
		out_printf(out, "%s -a '(__fish_complete_subcommand --fcs-skip=2)'", word);
		break;
	case OPTION_EVENT:
		out_printf(out, "%s -a '(__posixtrace_events", word);
		/* fish expands the words of -a, so backslashes protect each * of a pattern. */
		if (choices) {
			out_char(out, ' ');
			shells_quoted(out, choices, strlen(choices), "*", "\\\\");
		}
		out_str(out, ")'");
		break;
	case OPTION_PAIR:
		out_printf(out, "%s -a '(__posixtrace_pair)'", word);
		break;
	case OPTION_CHOICE:
	case OPTION_SOURCE:
	case OPTION_SINK:
		out_printf(out, "%s -a '", word);
		shells_words(out, kind, choices);
		out_char(out, '\'');
		break;
	}
}

/*
 * Writes a line for each option of a command, and a line for its other arguments. Returns false if
 * memory is lacking. Hidden options have no help text and no line.
 */
static bool put_command(struct out *out, const struct tool_command *command)
{
	struct option_list list;

	if (!option_list(&list, command->options))
		return false;
	for (size_t i = 0; i < list.count; i++) {
		const struct option_row *row = list.row[i];

		if (!row->help)
			continue;
		out_printf(out, "complete -c posixtrace -n '__posixtrace_is %s'", command->name);
		if (option_has_letter(row))
			out_printf(out, " -s %c", row->value);
		if (row->name)
			out_printf(out, " -l %s", row->name);
		if (row->arg)
			put_kind(out, row->kind, row->choices, !option_needs_arg(row));
		out_str(out, " -d ");
		put_quoted(out, row->help, shells_brief(row->help));
		out_char(out, '\n');
	}
	out_printf(out, "complete -c posixtrace -n '__posixtrace_is %s'", command->name);
	if (command->operands == OPTION_FILE || command->operands == OPTION_LOG)
		out_str(out, " -F");
	else if (command->operands == OPTION_TEXT)
		out_str(out, " -f");
	else
		put_kind(out, command->operands, command->words, false);
	out_char(out, '\n');
	free(list.row);
	return true;
}

/*
 * Each command has two lines: one for the first word, and one for the argument of the command help,
 * which is the name of a command.
 */
bool fish_script(struct out *out)
{
	out_str(out, head);
	for (size_t i = 0; i < tool_entry_count; i++) {
		out_printf(out, "complete -c posixtrace -f -n __posixtrace_needs_command -a %s -d ",
			   tool_entries[i].name);
		put_quoted(out, tool_entries[i].summary, strlen(tool_entries[i].summary));
		out_printf(out, "\ncomplete -c posixtrace -f -n '__posixtrace_is help' -a %s -d ",
			   tool_entries[i].name);
		put_quoted(out, tool_entries[i].summary, strlen(tool_entries[i].summary));
		out_char(out, '\n');
	}
	for (size_t i = 0; i < tool_entry_count; i++)
		if (!put_command(out, tool_entries[i].command))
			return false;
	return true;
}
