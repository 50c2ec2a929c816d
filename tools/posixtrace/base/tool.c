/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/tool.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/out.h"
#include "base/say.h"

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

/* --name, or --name=value: as it was given up to there. */
static void say_no_option(const char *command, const char *given, const struct option *options)
{
	char name[NEAREST_BYTES + 1];
	size_t len = strcspn(given, "=");
	struct nearest nearest;

	len = len > 2 ? len - 2 : 0;
	snprintf(name, sizeof(name), "%.*s", (int)(len < NEAREST_BYTES ? len : NEAREST_BYTES),
		 len ? given + 2 : "");
	nearest_begin(&nearest, name);
	for (; options->name; options++)
		nearest_offer(&nearest, options->name);
	if (nearest.name && nearest.distance)
		say("%s: %s: no such option; did you mean --%s?", command, given, nearest.name);
	else
		say("%s: %s: no such option, or not in this form", command, given);
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
		say_no_option(argv[0], argv[optind - 1], options);
	return option;
}

bool tool_number(const char *option, const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (!errno && *text >= '0' && *text <= '9' && !*end)
		return true;
	say("%s %s: not a number", option, text);
	return false;
}

int tool_help(const struct tool_command *command)
{
	out_str(&out_stdout, command->help);
	out_printf(&out_stdout, "Manual page: posixtrace-%s(1)\n", command->name);
	return TOOL_OK;
}
