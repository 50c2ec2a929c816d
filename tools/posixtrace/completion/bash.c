/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bash.c - the completion for bash: a function with a case for each command.
 *
 * The script needs bash 4 for mapfile, and works without the package bash-completion. bash splits
 * --option=value, and names with a colon, into several elements of COMP_WORDS. The script joins
 * them again. readline replaces only the element at the cursor, so the words that the script offers
 * do not begin with the elements before it.
 */
#include <stdlib.h>

#include "completion/shells.h"

/*
 * The beginning of the script, up to the cases of the commands. It does not depend on the tables.
 * In bash a function can use the local variables of its caller. A hostile log may contain the name
 * of an event with $(), which compgen -W would expand. So the script compares words one by one, and
 * quotes each word by printf %q. Behind an opening quotation mark it offers only words that mean
 * the same within quotation marks. The script discards errors of posixtrace, since they would
 * appear in the prompt.
 */
static const char head[] =
	"# Completion of posixtrace for bash. Written by: posixtrace completion bash\n"
	"\n"
	"# Sets typed to the words of the command line, as they are typed, first to the index of\n"
	"# each in COMP_WORDS, and count to the index of the current word, which ends at the\n"
	"# cursor's element. bash separates words also at = and :\n"
	"_posixtrace_typed()\n"
	"{\n"
	"	local i last=-1 rest=$COMP_LINE\n"
	"	for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do\n"
	"		if ((i == 0 || i == COMP_CWORD + 1)) || [[ $rest == [[:space:]]* ]]; then\n"
	"			((++last))\n"
	"			first[last]=$i\n"
	"			typed[last]=\n"
	"		fi\n"
	"		rest=${rest#\"${rest%%[![:space:]]*}\"}\n"
	"		typed[last]+=${COMP_WORDS[i]}\n"
	"		rest=${rest#\"${COMP_WORDS[i]}\"}\n"
	"		((i != COMP_CWORD)) || count=$last\n"
	"	done\n"
	"}\n"
	"\n"
	"# Offers the words that begin with $current. bash has the part $kept already.\n"
	"_posixtrace_words()\n"
	"{\n"
	"	local word text before=$1\n"
	"	shift\n"
	"	for word; do\n"
	"		text=$word\n"
	"		if [[ ! $quote ]]; then\n"
	"			printf -v text %q \"$word\"\n"
	"		elif [[ $word == *[\\\"\\'\\$\\`\\\\!]* ]]; then\n"
	"			continue\n"
	"		fi\n"
	"		text=$before$text\n"
	"		if [[ $before$word == \"$current\"* || $text == \"$current\"* ]]; then\n"
	"			COMPREPLY+=(\"${text#\"$kept\"}\")\n"
	"		fi\n"
	"	done\n"
	"}\n"
	"\n"
	"# Offers the event types of the process and of the logs on the command line, or of\n"
	"# record's log. If the option has words of its own, only those of the process are added.\n"
	"_posixtrace_events()\n"
	"{\n"
	"	local word last= logs=()\n"
	"	for word in \"${typed[@]:2}\"; do\n"
	"		word=${word/#\\~\\//$HOME/}\n"
	"		word=${word//[\\\"\\'\\\\]/}\n"
	"		if [[ $last == @(-p|--pid) && $word == +([0-9]) ]]; then\n"
	"			logs+=(\"$word\")\n"
	"		elif [[ $word == --pid=+([0-9]) ]]; then\n"
	"			logs+=(\"${word#--pid=}\")\n"
	"		elif [[ ! $choices && -f $word ]]; then\n"
	"			logs+=(\"$word\")\n"
	"		fi\n"
	"		last=$word\n"
	"	done\n"
	"	((${#logs[@]})) || [[ $choices ]] || logs=(posixtrace.ptl)\n"
	"	((${#logs[@]})) || return\n"
	"	mapfile -t words < <(posixtrace completion events \"${logs[@]}\" 2>/dev/null)\n"
	"	_posixtrace_words \"$before\" \"${words[@]}\"\n"
	"}\n"
	"\n"
	"# Sets $program to the index of the first word that is no option, if there is one.\n"
	"_posixtrace_program()\n"
	"{\n"
	"	local i\n"
	"	for ((i = 2; i < count; i++)); do\n"
	"		if [[ ${typed[i]} == -- ]]; then\n"
	"			program=$((i + 1))\n"
	"			return\n"
	"		elif [[ \" $values \" == *\" ${typed[i]} \"* ]]; then\n"
	"			((i++))\n"
	"		elif [[ ${typed[i]} != -* ]]; then\n"
	"			program=$i\n"
	"			return\n"
	"		fi\n"
	"	done\n"
	"}\n"
	"\n"
	"_posixtrace()\n"
	"{\n"
	"	local options= values= operands= kind= choices= program= before= kept= quote=\n"
	"	local equals= count= typed=() first=() words=()\n"
	"	_posixtrace_typed\n"
	"	local current=${typed[count]} previous=${typed[count - 1]} command=${typed[1]}\n"
	"\n"
	"	if [[ $current == --*=* ]]; then\n"
	"		equals=1\n"
	"		previous=${current%%=*}\n"
	"		current=${current#*=}\n"
	"	fi\n"
	"	# readline replaces the text behind an opening quote, or the last = or colon.\n"
	"	if [[ $current == [\\\"\\']* ]]; then\n"
	"		quote=${current:0:1}\n"
	"		current=${current:1}\n"
	"	elif [[ $COMP_WORDBREAKS == *:* && $current == *[:=]* ]]; then\n"
	"		kept=${current%\"${current##*[:=]}\"}\n"
	"	fi\n"
	"	COMPREPLY=()\n"
	"	((count > 1)) || command=\n"
	"	case $command in\n";
/*
 * The end of the script. It offers words by the kind that the case of the command has set. If the
 * word is the argument of an option, the script offers the words for this option. Otherwise it
 * offers options if the word begins with -, and operands if not. If the command starts a program,
 * the arguments behind its name are completed as bash completes the arguments of that program.
 */
static const char tail[] =
	"	*)\n"
	"		return\n"
	"		;;\n"
	"	esac\n"
	"	if [[ $operands == program ]]; then\n"
	"		_posixtrace_program\n"
	"		if [[ $program ]] && ((program < count)); then\n"
	"			kind=file\n"
	"			if declare -F _command_offset >/dev/null; then\n"
	"				_command_offset \"${first[program]}\"\n"
	"				return\n"
	"			fi\n"
	"		elif [[ $program ]]; then\n"
	"			kind=program\n"
	"		fi\n"
	"	fi\n"
	"	if [[ ! $kind && $current == -* ]]; then\n"
	"		kind=choice choices=$options\n"
	"	fi\n"
	"	case ${kind:-$operands} in\n"
	"	choice | event | pair)\n"
	"		read -ra words <<<\"$choices\"\n"
	"		# The third and following words of a pair are fields.\n"
	"		[[ $kind != pair || $current != *,*,* ]] || return\n"
	"		[[ $kind != pair || $current != *,* ]] || before=${current%,*},\n"
	"		_posixtrace_words '' \"${words[@]}\"\n"
	"		[[ $kind == choice ]] || _posixtrace_events\n"
	"		[[ $kind != pair ]] || compopt -o nospace 2>/dev/null\n"
	"		[[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
	"		;;\n"
	"	list)\n"
	"		read -ra words <<<\"$choices\"\n"
	"		[[ $current != *,* ]] || before=${current%,*},\n"
	"		[[ $current != \"$before\"-* ]] || before+=-\n"
	"		_posixtrace_words \"$before\" \"${words[@]}\"\n"
	"		compopt -o nospace 2>/dev/null\n"
	"		;;\n"
	"	pid)\n"
	"		mapfile -t words < <(posixtrace completion pids 2>/dev/null)\n"
	"		_posixtrace_words '' \"${words[@]%%$'\\t'*}\"\n"
	"		;;\n"
	"	file)\n"
	"		compopt -o filenames 2>/dev/null\n"
	"		mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
	"		COMPREPLY=(\"${COMPREPLY[@]#\"$kept\"}\")\n"
	"		;;\n"
	"	folder)\n"
	"		compopt -o filenames 2>/dev/null\n"
	"		mapfile -t COMPREPLY < <(compgen -d -- \"$current\")\n"
	"		;;\n"
	"	program)\n"
	"		compopt -o filenames 2>/dev/null\n"
	"		mapfile -t COMPREPLY < <(compgen -c -f -- \"$current\" | sort -u)\n"
	"		;;\n"
	"	esac\n"
	"}\n"
	"\n"
	"complete -F _posixtrace posixtrace\n";

/*
 * The names of kinds in the script, by enum option_kind. Texts, numbers and times are of the kind
 * text, for which the script offers nothing.
 */
static const char *const kinds[] = {
	[OPTION_TEXT] = "text", [OPTION_FILE] = "file", [OPTION_FOLDER] = "folder",
	[OPTION_LOG] = "file", [OPTION_PID] = "pid", [OPTION_EVENT] = "event",
	[OPTION_PAIR] = "pair",
	[OPTION_CHOICE] = "choice", [OPTION_LIST] = "list", [OPTION_SOURCE] = "choice",
	[OPTION_SINK] = "choice", [OPTION_PROGRAM] = "program",
};

/*
 * Writes the names of an option, with "between" between the short and the long name. Each option
 * has at least one of these names.
 */
static void put_names(struct out *out, const struct option_row *row, const char *between)
{
	if (option_has_letter(row))
		out_printf(out, "-%c%s", row->value, row->name ? between : "");
	if (row->name)
		out_printf(out, "--%s", row->name);
}

/*
 * Writes the case of a command: its options, the kinds of their arguments, and the kind of the
 * other arguments. Returns false if memory is lacking. Options without a help text are hidden. They
 * work, but the script does not offer them.
 */
static bool put_command(struct out *out, const struct tool_command *command)
{
	struct option_list list;
	const char *between = "";

	if (!option_list(&list, command->options))
		return false;
	out_printf(out, "	%s)\n		options='", command->name);
	for (size_t i = 0; i < list.count; i++) {
		if (!list.row[i]->help)
			continue;
		out_str(out, between);
		/*
		 * Only one name of each option is offered, because the list would be twice as long
		 * with both names.
		 */
		if (list.row[i]->name)
			out_printf(out, "--%s", list.row[i]->name);
		else
			out_printf(out, "-%c", list.row[i]->value);
		between = " ";
	}
	out_str(out, "'\n");
	/*
	 * If the command starts a program, the script must find the first word that is neither an
	 * option nor a value of one. So the function writes a list of all options with a value into
	 * the script, including the hidden ones.
	 */
	if (command->ends_options) {
		out_str(out, "		values='");
		between = "";
		for (size_t i = 0; i < list.count; i++)
			if (option_needs_arg(list.row[i])) {
				out_str(out, between);
				put_names(out, list.row[i], " ");
				between = " ";
			}
		out_str(out, "'\n");
	}
	out_printf(out, "		operands=%s\n		case $previous in\n",
		   kinds[command->operands]);
	for (size_t i = 0; i < list.count; i++) {
		const struct option_row *row = list.row[i];

		if (!row->arg || !row->help)
			continue;
		out_str(out, "		");
		put_names(out, row, " | ");
		out_printf(out, ") %skind=%s choices='",
			   option_needs_arg(row) ? "" : "[[ ! $equals ]] || ", kinds[row->kind]);
		shells_words(out, row->kind, row->choices);
		out_str(out, "' ;;\n");
	}
	out_str(out, "		esac\n");
	/*
	 * If the word before the current one is an option with an argument, the script has already
	 * set $kind and $choices for this argument.
	 */
	if (command->words)
		out_printf(out, "		[[ $kind ]] || choices='%s'\n", command->words);
	out_str(out, "		;;\n");
	free(list.row);
	return true;
}

/*
 * The cases are in the order of the table of commands. The words of the tables contain no quotation
 * mark, so the script quotes them by '.
 */
bool bash_script(struct out *out)
{
	out_str(out, head);
	/*
	 * This case offers the names of the commands. $command is empty if the command itself is
	 * completed. The argument of help is a command too.
	 */
	out_str(out, "	'' | help)\n		kind=choice choices='");
	for (size_t i = 0; i < tool_entry_count; i++)
		out_printf(out, "%s%s", i ? " " : "", tool_entries[i].name);
	out_str(out, "'\n"
		     "		[[ $command ]] || choices+=' help --help --version'\n"
		     "		;;\n");
	for (size_t i = 0; i < tool_entry_count; i++)
		if (!put_command(out, tool_entries[i].command))
			return false;
	out_str(out, tail);
	return true;
}
