/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* main.c - posixtrace: the table of commands. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "say.h"
#include "text.h"
#include "tool.h"

#ifndef PACKAGE_VERSION
# define PACKAGE_VERSION "unknown"
#endif

static const struct tool_command *const commands[] = {
	&record_command,
	&attach_command,
	&top_command,
	&list_command,
	&status_command,
	&snapshot_command,
	&recover_command,
	&dump_command,
	&report_command,
	&stat_command,
	&latency_command,
	&diff_command,
#ifdef HAVE_SQLITE_QUERY
	&query_command,
#endif
	&check_command,
	&plot_command,
	&html_command,
	&verify_command,
	&convert_command,
	&send_command,
	&receive_command,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct tool_command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static void overview(struct out *out)
{
	out_str(out, "Usage: posixtrace COMMAND [OPTION]... [LOG]...\n"
		     "Traces programs and processes, and reads the logs of POSIX trace streams.\n\n"
		     "Commands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		out_printf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	out_str(out, "\n"
		     "  posixtrace COMMAND --help   explains a command (also: posixtrace help COMMAND)\n"
		     "  posixtrace --version        prints the version\n\n"
		     "A LOG of - is standard input. Exit status: 0 ok, 1 failure, 2 usage,\n"
		     "3 a log is damaged or was never closed, 4 events were lost (--fail-on-loss).\n");
}

static int usage(void)
{
	fputs("Try 'posixtrace --help'.\n", stderr);
	return TOOL_USAGE;
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
		say("%s: no such command", argv[1]);
		return usage();
	}
	return tool_help(command);
}

static int run(int argc, char **argv)
{
	const struct tool_command *command;

	if (argc < 2) {
		say("which command?");
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
		say("%s: no such command", argv[1]);
		return usage();
	}
	return command->run(argc - 1, argv + 1);
}

int tool_worse(int a, int b)
{
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

int tool_option(int argc, char **argv, const char *letters, const struct option *options)
{
	int option;

	opterr = 0; /* getopt would print what it was given as it is */
	option = getopt_long(argc, argv, letters, options, NULL);
	if (option == ':')
		say("%s: %s: needs a value", argv[0], argv[optind - 1]);
	else if (option == '?' && optopt > 0 && optopt < 256)
		say("%s: -%c: no such option", argv[0], optopt);
	else if (option == '?')
		say("%s: %s: no such option, or not in this form", argv[0], argv[optind - 1]);
	return option;
}

bool tool_number(const char *option, const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (!errno && *text >= '0' && *text <= '9' && !*end)
		return true;
	say("%s %s: no number", option, text);
	return false;
}

int tool_help(const struct tool_command *command)
{
	out_str(&out_stdout, command->help);
	return TOOL_OK;
}

int main(int argc, char **argv)
{
	int status;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* a decimal point, whoever reads the output */
	text_init();
	status = run(argc, argv);
	if (out_flush(&out_stdout)) {
		say("standard output: %s", strerror(out_stdout.err));
		status = tool_worse(status, TOOL_FAILURE);
	}
	return status;
}
