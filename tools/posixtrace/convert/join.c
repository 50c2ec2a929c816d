/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* join.c - joins logs by the command convert. */
#include "convert/join.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/spool.h"
#include "base/tool.h"

extern const struct tool_command convert_command;

/* Prints messages that were kept. */
static void say_lines(char *text)
{
	for (char *next, *line = text; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		say("%s", line);
	}
}

int convert_join(char **path, size_t paths, int *fd)
{
	static char to[] = "--to", log[] = "log", output[] = "--output", end[] = "--",
		    name[] = "convert";
	char place[40], *const head[] = { name, to, log, output, place, end }, text[4096] = "";
	const size_t heads = sizeof(head) / sizeof(*head);
	const int before = optind;
	char **argument = calloc(heads + paths + 1, sizeof(*argument));
	int status, err = argument ? spool_create(fd) : ENOMEM;

	if (err) {
		spool_say_why(path[0], err);
		free(argument);
		return TOOL_FAILURE;
	}
	snprintf(place, sizeof(place), "/proc/self/fd/%d", *fd);
	memcpy(argument, head, sizeof(head));
	memcpy(argument + heads, path, paths * sizeof(*path));
	/* 0 makes getopt_long() begin anew; the caller has processed its own options. */
	optind = 0;
	/*
	 * If convert succeeds, its messages are dropped. Otherwise each command would print the
	 * notes of convert about clocks.
	 */
	say_keep(text, sizeof(text));
	status = convert_command.run((int)(heads + paths), argument);
	say_keep(NULL, 0);
	optind = before;
	if (status)
		say_lines(text);
	if (status && status != TOOL_DAMAGED) {
		close(*fd);
		*fd = -1;
	}
	free(argument);
	return status;
}
