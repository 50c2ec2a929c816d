/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * zsh.c - the completion for zsh: a call of _arguments for each command.
 *
 * _arguments parses the command line by specifications. Each option has one specification.
 * _arguments offers an option only once in a command line, unless the specification begins with *.
 */
#include <stdlib.h>
#include <string.h>

#include "completion/shells.h"

/*
 * The beginning of the script, up to the descriptions of the commands. The first line of the file,
 * #compdef, names the command that zsh completes by the file. zsh executes the file at the first
 * completion, as the body of the function _posixtrace.
 */
static const char head[] =
	"#compdef posixtrace\n"
	"# Completion of posixtrace for zsh. Written by: posixtrace completion zsh\n"
	"\n"
	"# Offers words of a list that is separated by commas; a minus may precede a word.\n"
	"_posixtrace_list()\n"
	"{\n"
	"	compset -P '*,'\n"
	"	compset -P '-'\n"
	"	compadd -q -S , -- \"$@\"\n"
	"}\n"
	"\n"
	"# Offers the processes that the user may trace. _pids has those of this terminal only.\n"
	"_posixtrace_pids()\n"
	"{\n"
	"	local -a pids\n"
	"	pids=(${(f)\"$(posixtrace completion pids 2>/dev/null)\"})\n"
	"	compadd -- ${pids%%$'\\t'*}\n"
	"}\n"
	"\n"
	"# Offers the event types of the process and of the logs on the command line, or of\n"
	"# record's log. If the option has words of its own, $@, only those of the process are\n"
	"# added.\n"
	"_posixtrace_events()\n"
	"{\n"
	"	local -a logs names\n"
	"	local word last\n"
	"	for word in ${(Q)words[2,-1]}; do\n"
	"		word=${word/#\\~\\//$HOME/}\n"
	"		if [[ $last$word == (-p|--pid)<-> || $word == --pid=<-> ]]; then\n"
	"			logs+=(${word#--pid=})\n"
	"		elif ((!$#)) && [[ -f $word ]]; then\n"
	"			logs+=($word)\n"
	"		fi\n"
	"		last=$word\n"
	"	done\n"
	"	(($#logs || $#)) || logs=(posixtrace.ptl)\n"
	"	(($#logs)) && names=(${(f)\"$(posixtrace completion events $logs 2>/dev/null)\"})\n"
	"	compadd $suffix -- $@ $names\n"
	"}\n"
	"\n"
	"# Offers event types for the two words before the fields of a pair.\n"
	"_posixtrace_pair()\n"
	"{\n"
	"	local -a suffix\n"
	"	[[ $PREFIX != *,*,* ]] || return\n"
	"	[[ $PREFIX == *,* ]] || suffix=(-q -S ,)\n"
	"	compset -P '*,'\n"
	"	_posixtrace_events\n"
	"}\n"
	"\n"
	"_posixtrace()\n"
	"{\n"
	"	local curcontext=$curcontext state line\n"
	"	local -a commands\n"
	"	typeset -A opt_args\n"
	"\n"
	"	commands=(\n";
/*
 * The part of the script between the descriptions and the cases of the commands. The first call of
 * _arguments finds the command. In the cases the array words has the arguments of this command.
 */
static const char middle[] =
	"	)\n"
	"	_arguments -C \\\n"
	"		'(- *)'{-h,--help}'[print the commands]' \\\n"
	"		'(- *)'{-V,--version}'[print the version]' \\\n"
	"		'1:command:->command' '*::argument:->argument' && return\n"
	"	if [[ $state == command ]]; then\n"
	"		_describe -t commands 'command' commands\n"
	"		return\n"
	"	fi\n"
	"	curcontext=${curcontext%:*:*}:posixtrace-$words[1]:\n"
	"	case $words[1] in\n"
	"	help)\n"
	"		_describe -t commands 'command' commands\n"
	"		;;\n";
/*
 * The end of the script. If zsh executes the file for a completion, the innermost running function
 * is _posixtrace, and the script must complete the command line. Otherwise the user evaluates or
 * sources the script: then it only registers the function. A shell without completion starts it
 * first. compinit -i asks no questions, and -D leaves the file ~/.zcompdump alone.
 */
static const char tail[] =
	"	esac\n"
	"}\n"
	"\n"
	"if [[ ${funcstack[1]-} == _posixtrace ]]; then\n"
	"	_posixtrace \"$@\"\n"
	"else\n"
	"	(($+functions[compdef])) || { autoload -Uz compinit && compinit -i -D; }\n"
	"	compdef _posixtrace posixtrace\n"
	"fi\n";

/*
 * Writes text that the script quotes by ', with a backslash before each character that is special
 * in a specification. A backslash is not special within the quotes. So for a ' in the text the
 * function ends the quotation, writes the ' and begins the quotation again.
 */
static void put_quoted(struct out *out, const char *text, size_t len, const char *special)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\'') {
			out_str(out, "'\\''");
			continue;
		}
		shells_quoted(out, text + i, 1, special, "\\");
	}
}

/*
 * Writes how the argument of an option or a command is completed: a function, or words in
 * parentheses. If a blank precedes the name of a function, _arguments adds no options of compadd to
 * the function's arguments.
 */
static void put_action(struct out *out, enum option_kind kind, const char *choices)
{
	switch (kind) {
	case OPTION_TEXT:
		/* With a blank as the action, zsh only shows the name of the argument. */
		out_char(out, ' ');
		break;
	case OPTION_FILE:
	case OPTION_LOG:
		out_str(out, "_files");
		break;
	case OPTION_FOLDER:
		out_str(out, "_files -/");
		break;
	case OPTION_PID:
		out_str(out, "_posixtrace_pids");
		break;
	case OPTION_LIST:
		out_str(out, " _posixtrace_list ");
		shells_words(out, kind, choices);
		break;
	case OPTION_PROGRAM:
		out_str(out, "_normal");
		break;
	case OPTION_EVENT:
		out_str(out, " _posixtrace_events");
		if (choices) {
			out_char(out, ' ');
			shells_quoted(out, choices, strlen(choices), "*", "\\");
		}
		break;
	case OPTION_PAIR:
		out_str(out, " _posixtrace_pair");
		break;
	case OPTION_CHOICE:
	case OPTION_SOURCE:
	case OPTION_SINK:
		out_char(out, '(');
		shells_words(out, kind, choices);
		out_char(out, ')');
		break;
	}
}

/*
 * Writes the specification of an option: the names that it excludes, its own names, the help and
 * the argument. _arguments separates the parts by colons and brackets.
 */
static void put_option(struct out *out, const struct option_row *row)
{
	/*
	 * Only the help text says whether an option may be repeated: the tables have no field for
	 * that.
	 */
	bool repeats = row->help && strstr(row->help, "may be repeated");
	const bool needs_arg = option_needs_arg(row);
	/* =-: an argument that is optional follows the equals sign in the same word. */
	const char *plus = needs_arg ? "+" : "", *equals = needs_arg ? "=" : row->arg ? "=-" : "";

	if (repeats)
		out_str(out, "			'*'");
	else if (row->name && option_has_letter(row))
		out_printf(out, "			'(-%c --%s)'", row->value, row->name);
	else
		out_str(out, "			");
	if (row->name && option_has_letter(row))
		out_printf(out, "{-%c%s,--%s%s}", row->value, plus, row->name, equals);
	else if (row->name)
		out_printf(out, "--%s%s", row->name, equals);
	else
		out_printf(out, "-%c%s", row->value, plus);
	out_str(out, "'[");
	put_quoted(out, row->help, shells_brief(row->help), "[]");
	out_char(out, ']');
	if (row->arg) {
		out_str(out, needs_arg ? ":" : "::");
		/* An optional argument has the form [=NAME] in the table. */
		if (needs_arg)
			put_quoted(out, row->arg, strlen(row->arg), ":");
		else
			put_quoted(out, row->arg + 2, strlen(row->arg) - 3, ":");
		out_char(out, ':');
		put_action(out, row->kind, row->choices);
	}
	out_str(out, "' \\\n");
}

/*
 * Writes the case of a command. Returns false if memory is lacking. -S and -A end the options at --
 * and at the name of the program, because the options behind it belong to the program.
 */
static bool put_command(struct out *out, const struct tool_command *command)
{
	struct option_list list;

	if (!option_list(&list, command->options))
		return false;
	out_printf(out, "	%s)\n		_arguments %s\\\n", command->name,
		   command->ends_options ? "-S -A '-*' " : "");
	for (size_t i = 0; i < list.count; i++)
		if (list.row[i]->help)
			put_option(out, list.row[i]);
	if (command->ends_options) {
		out_str(out, "			'(-):program: _command_names -e' "
			     "'*::argument: _normal'\n");
	} else {
		out_str(out, "			'*:argument:");
		put_action(out, command->operands, command->words);
		out_str(out, "'\n");
	}
	out_str(out, "		;;\n");
	free(list.row);
	return true;
}

bool zsh_script(struct out *out)
{
	out_str(out, head);
	for (size_t i = 0; i < tool_entry_count; i++) {
		out_printf(out, "		'%s:", tool_entries[i].name);
		put_quoted(out, tool_entries[i].summary, strlen(tool_entries[i].summary), ":");
		out_str(out, "'\n");
	}
	out_str(out, middle);
	for (size_t i = 0; i < tool_entry_count; i++)
		if (!put_command(out, tool_entries[i].command))
			return false;
	out_str(out, tail);
	return true;
}
