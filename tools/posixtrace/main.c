/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c - posixtrace: the table of commands. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "convert/format.h"
#include "log/logfile.h"

#ifndef PACKAGE_VERSION
# define PACKAGE_VERSION "unknown"
#endif

#define COMMAND(name, command, summary) extern const struct tool_command command;
#define LEFT_OUT(name, why)
#include "commands.def"
#undef COMMAND
#undef LEFT_OUT

static const struct {
	const char *name, *summary;
	const struct tool_command *command;
} commands[] = {
#define COMMAND(name, command, summary) { name, summary, &command },
#define LEFT_OUT(name, why)
#include "commands.def"
#undef COMMAND
#undef LEFT_OUT
};

/* A null name ends it. */
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

static const struct tool_command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return commands[i].command;
	return NULL;
}

static void overview(struct out *out)
{
	out_str(out, "Usage: posixtrace COMMAND [OPTION]... [LOG]...\n"
		     "Traces programs and processes, and reads the logs of POSIX trace streams.\n\n"
		     "Commands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		out_printf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
	out_str(out, "\n"
		     "  posixtrace COMMAND --help   explains a command (also: posixtrace help "
		     "COMMAND)\n"
		     "  posixtrace --version        prints the version\n\n"
		     "Each command has a manual page, such as posixtrace-record(1).\n"
		     "A LOG of - is standard input. Exit status: 0 ok, 1 failure, 2 usage,\n"
		     "3 a log is damaged or was never closed, 4 events were lost "
		     "(--fail-on-loss).\n");
}

static int usage(void)
{
	fputs("Try 'posixtrace --help'.\n", stderr);
	return TOOL_USAGE;
}

static int no_command(const char *name)
{
	struct nearest nearest;

	for (size_t i = 0; left_out[i].name; i++)
		if (!strcmp(left_out[i].name, name)) {
			say("%s: this posixtrace was built without this command: %s", name,
			    left_out[i].why);
			return TOOL_USAGE;
		}
	nearest_begin(&nearest, name);
	for (size_t i = 0; i < COMMANDS; i++)
		nearest_offer(&nearest, commands[i].name);
	say("%s: no such command%s", name, nearest_hint(&nearest));
	return usage();
}

static int help(int argc, char **argv)
{
	const struct tool_command *command;

	if (argc < 2) {
		overview(&out_stdout);
		return TOOL_OK;
	}
	command = find(argv[1]);
	if (!command) {
		return no_command(argv[1]);
	}
	return tool_help(command);
}

static int run(int argc, char **argv)
{
	const struct tool_command *command;

	if (argc < 2) {
		say("the name of a command is missing");
		return usage();
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		out_str(&out_stdout, "posixtrace (libposixtrace) " PACKAGE_VERSION "\n");
		return TOOL_OK;
	}
	command = find(argv[1]);
	if (!command) {
		return no_command(argv[1]);
	}
	return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int status;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* a decimal point, whoever reads the output */
	text_init();
	logfile_foreign_format = fmt_foreign_name;
	status = run(argc, argv);
	if (out_flush(&out_stdout)) {
		say("standard output: %s", strerror(out_stdout.err));
		status = tool_worse(status, TOOL_FAILURE);
	}
	return status;
}
