/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c - runs the command that commands.def names, and prints the overview of all commands. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/moved.h"
#include "base/nearest.h"
#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/truncated.h"
#include "choose/at.h"
#include "convert/format.h"
#include "convert/join.h"
#include "log/logfile.h"
#ifdef HAVE_FLEET
# include "fetch/fetch.h"
#endif

#ifndef GUARDIAN_PATH
# define GUARDIAN_PATH ""
#endif
#ifndef PACKAGE_VERSION
/* A build by hand, without configure, has no version. */
# define PACKAGE_VERSION "unknown"
#endif

/*
 * Each command is defined in the folder that implements it. The declarations, the table of commands
 * and the table left_out are all generated from one list, commands.def. So they cannot contradict
 * each other.
 */
#define COMMAND(name, command, summary) extern const struct tool_command command;
#define LEFT_OUT(name, why)
#include "commands.def"
#undef COMMAND
#undef LEFT_OUT

static const struct tool_entry commands[] = {
#define COMMAND(name, command, summary) { name, summary, &command },
#define LEFT_OUT(name, why)
#include "commands.def"
#undef COMMAND
#undef LEFT_OUT
};

/*
 * The commands that this build lacks, each with the reason why it is missing. The last element has
 * a null name.
 */
static const struct {
	const char *name, *why;
} left_out[] = {
#define COMMAND(name, command, summary)
#define LEFT_OUT(name, why) { name, why },
#include "commands.def"
#undef COMMAND
#undef LEFT_OUT
	{ NULL, NULL }
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* Returns the command with this name, or NULL. */
static const struct tool_command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return commands[i].command;
	return NULL;
}

/*
 * Prints the help of the whole tool: the commands in the order of commands.def, and the statuses
 * that all of them share.
 */
static void main_overview(struct out *out)
{
	out_str(out, "Usage: posixtrace COMMAND [OPTION]... [LOG]...\n"
		     "Traces programs and processes, and reads the logs of POSIX trace streams.\n\n"
		     "Commands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		out_printf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	out_str(out, "\n"
		     "  posixtrace COMMAND --help   explains a command (also: posixtrace help "
		     "COMMAND)\n"
		     "  posixtrace --version        prints the version\n\n"
		     "Each command has a manual page, such as posixtrace-record(1).\n"
		     "A LOG of - is standard input. Exit status: 0 ok, 1 failure, 2 usage,\n"
		     "3 a log is damaged or was never closed, 4 events were lost "
		     "(--fail-on-loss).\n");
}

/*
 * Prints how the user gets help, and returns TOOL_USAGE. It is for a missing or unknown name of a
 * command. After other errors of usage each command calls tool_usage() itself.
 */
static int main_usage(void)
{
	fputs("Try 'posixtrace --help'.\n", stderr);
	return TOOL_USAGE;
}

/*
 * Reports a name that is no command of this build: a command that the build lacks, an option in the
 * place of the command, or an unknown name, together with the most similar name if there is one.
 */
static int no_command(const char *name)
{
	struct nearest nearest;

	for (size_t i = 0; left_out[i].name; i++)
		if (!strcmp(left_out[i].name, name)) {
			say("%s: this posixtrace was built without this command: %s", name,
			    left_out[i].why);
			return TOOL_USAGE;
		}
	if (name[0] == '-') {
		say("%s: no such option; the options of a command follow its name", name);
		return main_usage();
	}
	nearest_begin(&nearest, name);
	for (size_t i = 0; i < COMMANDS; i++)
		nearest_offer(&nearest, commands[i].name);
	say("%s: no such command%s", name, nearest_hint(&nearest));
	return main_usage();
}

/*
 * Runs the pseudo command help: prints the overview, or the help of the command that argv[1] names.
 */
static int print_help(int argc, char **argv)
{
	const struct tool_command *command;

	if (argc < 2) {
		main_overview(&out_stdout);
		return TOOL_OK;
	}
	command = find_command(argv[1]);
	if (!command) {
		return no_command(argv[1]);
	}
	return tool_help(command);
}

/*
 * Runs the command that argv[1] names and returns its exit status. The command receives its own
 * name as argv[0]. getopt() therefore reads the arguments behind that name, and messages about
 * options begin with the name.
 */
static int run_command(int argc, char **argv)
{
	const struct tool_command *command;

	if (argc < 2) {
		say("the name of a command is missing");
		return main_usage();
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return print_help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		out_str(&out_stdout, "posixtrace (libposixtrace) " PACKAGE_VERSION "\n");
		return TOOL_OK;
	}
	command = find_command(argv[1]);
	if (!command) {
		return no_command(argv[1]);
	}
	return command->run(argc - 1, argv + 1);
}

/*
 * The library starts the guardians of logs. It looks for their program only at the configured path,
 * unless POSIXTRACE_GUARDIAN names another one. In an installation that was moved, this function
 * sets that variable, also for the library in the programs that this tool starts.
 */
static void find_guardian(void)
{
	char path[PATH_MAX];

	if (moved_find(GUARDIAN_PATH, X_OK, path))
		setenv("POSIXTRACE_GUARDIAN", path, 0);
}

int main(int argc, char **argv)
{
	int status;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* numbers have a decimal point in every language */
	text_init();
	truncated_survive();
	find_guardian();
	/*
	 * The files of the folder log may not include headers of convert. Therefore logfile.c calls
	 * fmt_foreign_name() of convert by this pointer. The function returns the name of a foreign
	 * format, so that an error message can name the format of a file that is not a log.
	 */
	logfile_foreign_format = fmt_foreign_name;
	logfile_unread_format = fmt_unread_file;
	at_join = convert_join;
#ifdef HAVE_FLEET
	/*
	 * For the same reason at.c of choose calls functions of convert and fetch by at_join and
	 * at_fleet.
	 */
	at_fleet = &fetch_fleet;
#endif
	tool_entries = commands;
	tool_entry_count = COMMANDS;
	status = run_command(argc, argv);
	/*
	 * On a full disk perhaps only this last write fails. So the exit status depends on it, too.
	 */
	if (out_flush(&out_stdout)) {
		say("standard output: %s", strerror(out_stdout.err));
		status = tool_worse(status, TOOL_FAILURE);
	}
	return status;
}
