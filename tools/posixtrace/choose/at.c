/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* at.c - the options --at and --host, and the number of logs that a command reads. */
#include "choose/at.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "log/logfile.h"

#define NAMES_MOST 10 /* the most logs that a message names */

const struct at_fleet *at_fleet;
int (*at_join)(char **path, size_t paths, int *fd);

const struct option_row at_rows[] = {
	{ "at", AT_URL, "URL",
		"logs of the database to which ship has sent them: clickhouse://HOST/DB; a LOG is "
		"[HOST:]NAME[@UUID], patterns are allowed" },
	{ "host", AT_HOST, "GLOB", "only logs of these hosts; may be repeated", .needs = "at" },
	OPTION_END
};

bool at_option(struct at *at, int option, const char *value, bool *good)
{
	*good = true;
	if (option == AT_URL) {
		if (at->url)
			say("--at: give only one database"); /* the URL may contain a password */
		*good = !at->url;
		at->url = value;
		return true;
	}
	if (option != AT_HOST)
		return false;
	*good = choose_add_name(&at->host, value);
	if (!*good)
		say("%s", strerror(ENOMEM));
	return true;
}

/* Prints that the command cannot read this number of logs, and some of their names. */
static int say_number(const struct at *at, const char *command, size_t least, size_t most)
{
	say("%s: %zu log%s of the database %s chosen, and the command reads %s%zu: name them, or "
	    "use --host, --begin and --end", command, at->paths, text_plural(at->paths),
	    at->paths == 1 ? "is" : "are",
	    least == most ? "" : at->paths < least ? "at least " : "at most ",
	    at->paths < least ? least : most);
	for (size_t i = 0; i < at->paths && i < NAMES_MOST; i++)
		say("%s", at->path[i]);
	if (at->paths > NAMES_MOST)
		say("and %zu further log%s", at->paths - NAMES_MOST,
		    text_plural(at->paths - NAMES_MOST));
	return TOOL_USAGE;
}

/* Joins the files to one log, which logfile_open() finds by its name. */
static int join_files(struct at *at, char **operand, size_t operands)
{
	int fd = -1, status;

	if (asprintf(&at->joined, "%s and %zu more", operand[0], operands - 1) < 0) {
		at->joined = NULL;
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	status = at_join(operand, operands, &fd);
	if (status != TOOL_OK && status != TOOL_DAMAGED)
		return status;
	at->status = status;
	logfile_joined = (struct logfile_joined){ .name = at->joined, .fd = fd };
	at->path = &at->joined;
	at->paths = 1;
	return TOOL_OK;
}

/* Without --at, the operands are the logs, so the messages do not mention databases. */
static int take_files(struct at *at, const char *command, char **operand, size_t operands,
		      size_t least, size_t most)
{
	if (at->joins && operands > 1)
		return join_files(at, operand, operands);
	if (operands < least || operands > most) {
		if (least == 2)
			say("%s: give two logs", command);
		else if (operands)
			say("%s: one log at a time", command);
		else
			say("%s: the name of a log is missing", command);
		return TOOL_USAGE;
	}
	at->path = operand;
	at->paths = operands;
	return TOOL_OK;
}

static int choose_logs(struct at *at, const char *command, char **operand, size_t operands,
		       size_t least, size_t most)
{
	int status;

	if (!at->url)
		return take_files(at, command, operand, operands, least, most);
	if (!at_fleet) {
		say("%s: --at needs libcurl, which posixtrace was built without", command);
		return TOOL_USAGE;
	}
	status = at_fleet->find(at, operand, operands);
	if (!status && (at->paths < least || at->paths > most))
		status = say_number(at, command, least, most);
	return status;
}

int at_logs(struct at *at, const struct tool_command *command, char **operand, size_t operands,
	    size_t least, size_t most)
{
	int status = choose_logs(at, command->name, operand, operands, least, most);

	return status == TOOL_USAGE ? tool_usage(command) : status;
}

void at_fini(struct at *at)
{
	if (at->url && at_fleet)
		at_fleet->end();
	if (logfile_joined.name)
		close(logfile_joined.fd);
	logfile_joined = (struct logfile_joined){ .name = NULL };
	free(at->joined);
	free(at->host.glob);
	memset(at, 0, sizeof(*at));
}
