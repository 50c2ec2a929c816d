/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tool.c - options, help and exit statuses of the commands. */
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
	/*
	 * The values of the statuses are fixed by the manual page, so they need an order of their
	 * own.
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
 * Reports an option that does not exist. given is "--name" or "--name=value"; the message repeats
 * it as a whole, the search for a similar name uses the name only.
 */
static void say_no_option(const char *command, const char *given, const struct option *options)
{
	char name[NEAREST_BYTES + 1];
	size_t len = strcspn(given, "=");
	struct nearest nearest;

	/* A single letter arrives here without dashes. */
	len = len > 2 ? len - 2 : 0;
	snprintf(name, sizeof(name), "%.*s", (int)(len < NEAREST_BYTES ? len : NEAREST_BYTES),
		 len ? given + 2 : "");
	nearest_begin(&nearest, name);
	for (; options->name; options++)
		nearest_offer(&nearest, options->name);
	/*
	 * A distance of 0 is an option that exists but was used with a wrong form, such as --all=3.
	 */
	if (nearest.name && nearest.distance)
		say("%s: %s: no such option; did you mean --%s?", command, given, nearest.name);
	else
		say("%s: %s: no such option, or not in this form", command, given);
}

int tool_option(int argc, char **argv, const char *letters, const struct option *options)
{
	int option;

	opterr = 0; /* getopt's own messages would print hostile bytes unescaped */
	option = getopt_long(argc, argv, letters, options, NULL);
	if (option == ':')
		say("%s: %s: needs a value", argv[0], argv[optind - 1]);
	/*
	 * optopt holds the letter of a short option, or a number above 255 (or 0) for a long one.
	 */
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
	/*
	 * strtoull() itself would accept blanks and a sign, and turn -1 into the greatest number.
	 */
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
