/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * completion.c - the command completion: writes the scripts for shells. The scripts call it to list
 * the event types of logs, and processes.
 *
 * The scripts are made from the tables that the commands use to parse their options. So a new
 * option needs no change here, and no script can offer an option that the tool does not have.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/say.h"
#include "completion/shells.h"
#include "convert/format.h"

extern const struct tool_command completion_command;

/* The shells, with the functions that write their scripts. */
static const struct {
	const char *name;
	bool (*write)(struct out *out);
} shells[] = {
	{ "bash", bash_script },
	{ "zsh", zsh_script },
	{ "fish", fish_script },
};

#define SHELLS (sizeof(shells) / sizeof(shells[0]))

size_t shells_brief(const char *help)
{
	/* The text behind these characters has details, which --help and the manual page show. */
	return strcspn(help, ";:\n");
}

/*
 * strchr() also finds the NUL at the end of "special", but "text" has no NUL among its first "len"
 * bytes.
 */
void shells_quoted(struct out *out, const char *text, size_t len, const char *special,
		   const char *before)
{
	for (size_t i = 0; i < len; i++) {
		if (strchr(special, text[i]))
			out_str(out, before);
		out_char(out, text[i]);
	}
}

/* A format is a source if it has the function import, and a sink if it has the function open. */
void shells_words(struct out *out, enum option_kind kind, const char *choices)
{
	const char *blank = "";

	if (choices)
		out_str(out, choices);
	if (kind != OPTION_SOURCE && kind != OPTION_SINK)
		return;
	for (size_t i = 0; i < formats_count; i++) {
		if (kind == OPTION_SOURCE ? !formats[i]->import : !formats[i]->open)
			continue;
		out_printf(out, "%s%s", blank, formats[i]->name);
		blank = " ";
	}
}

/*
 * Writes the script for the shell of this name. An unknown name is a usage error, and the message
 * has the most similar name of a known shell.
 */
static int write_script(const char *name)
{
	struct nearest nearest;

	nearest_begin(&nearest, name);
	for (size_t i = 0; i < SHELLS; i++) {
		nearest_offer(&nearest, shells[i].name);
		if (strcmp(shells[i].name, name))
			continue;
		if (shells[i].write(&out_stdout))
			return TOOL_OK;
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	say("completion %s: there are bash, zsh, fish, events and pids%s", name,
	    nearest_hint(&nearest));
	return tool_usage(&completion_command);
}

static const struct option_row option_rows[] = {
	OPTION_HELP,
	OPTION_END
};

/* The only option is --help, so the loop ends at the first option. */
static int completion_run(int argc, char **argv)
{
	int option, status = TOOL_OK;

	while ((option = tool_option(argc, argv, &completion_command)) != -1)
		return option == 'h' ? tool_help(&completion_command)
				     : tool_usage(&completion_command);
	if (optind == argc) {
		say("completion: the name of a shell is missing: bash, zsh or fish");
		return tool_usage(&completion_command);
	}
	if (!strcmp(argv[optind], "events")) {
		for (int i = optind + 1; i < argc; i++)
			status = tool_worse(status, shells_events(argv[i]));
		return status;
	}
	if (!strcmp(argv[optind], "pids") && optind + 1 == argc)
		return shells_processes();
	if (optind + 1 < argc) {
		say("completion: one shell at a time");
		return tool_usage(&completion_command);
	}
	return write_script(argv[optind]);
}

const struct tool_command completion_command = {
	.name = "completion",
	.usage = "bash|zsh|fish\n"
		"events LOG|PID...\n"
		"pids",
	.about =
		"Writes the script by which a shell completes the commands, options and arguments "
		"of posixtrace. make install puts the scripts of all three shells where the "
		"shells look for them. The scripts call the other forms: events prints the names "
		"of the event types in each LOG, or in the streams of each process PID; pids "
		"prints the processes that this user may trace.",
	.options = option_rows,
	.notes =
		"In a running bash: source <(posixtrace completion bash)\n"
		"Exit status: 0 ok, 1 failure, 2 usage.",
	.operands = OPTION_CHOICE,
	.words = "bash zsh fish events pids",
	.run = completion_run,
};
