/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* agent.c - the options of the command agent, and the actions that they select. */
#include "agent/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"

extern const struct tool_command agent_command;

/*
 * This path does not depend on the installation prefix, so that the unit of systemd and the manual
 * page always have the right path.
 */
#define SYSTEM_CONFIG "/etc/posixtrace/agent.conf"

enum { OPT_CHECK = 256, OPT_SNAPSHOT, OPT_STATUS, OPT_LAST };

static const struct option_row option_rows[] = {
	{ "config", 'c', "FILE",
	  "the configuration; the default is " SYSTEM_CONFIG " for root, and "
	  "posixtrace/agent.conf in the folder for configurations for others",
	  OPTION_FILE },
	{ "check", OPT_CHECK, NULL,
	  "check the configuration; print what it would record now, and end" },
	/*
	 * With --snapshot, the running agent writes the log, because only the creator of a stream
	 * can record the reason in it.
	 */
	{ "snapshot", OPT_SNAPSHOT, "NAME",
	  "let the agent that runs write a log of each process of the section [record NAME]; "
	  "NAME is a pattern, or the number of a process" },
	{ "last", OPT_LAST, "TIME", "only the events of this time, such as 30s; with --snapshot" },
	{ "status", OPT_STATUS, NULL, "print what the agent that runs records now" },
	OPTION_HELP,
	OPTION_END
};

/* Returns the path of the default configuration, or NULL after it printed an error. */
static const char *default_config(void)
{
	const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char *path = NULL;

	if (geteuid() == 0)
		return SYSTEM_CONFIG;
	if (folder && *folder == '/') {
		if (asprintf(&path, "%s/posixtrace/agent.conf", folder) < 0)
			path = NULL;
	} else if (home && *home == '/') {
		if (asprintf(&path, "%s/.config/posixtrace/agent.conf", home) < 0)
			path = NULL;
	} else {
		say("agent: the configuration is missing: neither XDG_CONFIG_HOME nor HOME names a "
		    "folder with it; give it after -c");
		return NULL;
	}
	if (!path)
		say("%s", strerror(ENOMEM));
	return path;
}

/*
 * Parses the options and starts the action that they name. Without such an option, the action is
 * the service. Each action reads the configuration itself, so errors of the command line are
 * reported first.
 */
static int agent_run(int argc, char **argv)
{
	const char *path = NULL, *name = NULL;
	bool checks = false, asks_status = false;
	char request[200];
	int64_t last_ns = 0;
	int option;

	while ((option = tool_option(argc, argv, &agent_command)) != -1)
		switch (option) {
		case 'h':
			return tool_help(&agent_command);
		case 'c':
			path = optarg;
			break;
		case OPT_CHECK:
			checks = true;
			break;
		case OPT_SNAPSHOT:
			name = optarg;
			break;
		case OPT_STATUS:
			asks_status = true;
			break;
		case OPT_LAST:
			if (!quantity_span("--last", optarg, &last_ns))
				return tool_usage(&agent_command);
			break;
		default:
			return tool_usage(&agent_command);
		}
	if (optind < argc) {
		say("agent: %s: unexpected argument; give the configuration after -c",
		    argv[optind]);
		return tool_usage(&agent_command);
	}
	/* If the command line names several actions, the command performs none of them. */
	if (checks + asks_status + (name != NULL) > 1) {
		say("agent: give only one of --check, --snapshot and --status");
		return tool_usage(&agent_command);
	}
	if (name && (!*name || strlen(name) > 128)) {
		say("agent: --snapshot %s: not the name of a section", text_given(name));
		return tool_usage(&agent_command);
	}
	if (last_ns && !name) {
		say("agent: --last needs --snapshot");
		return tool_usage(&agent_command);
	}
	if (!path)
		path = default_config();
	if (!path)
		return tool_usage(&agent_command);
	if (checks)
		return agent_check(path);
	if (asks_status)
		return agent_control_request(path, "status");
	if (!name)
		return agent_serve(path);
	if (last_ns)
		snprintf(request, sizeof(request), "last %" PRIi64 " snapshot %s", last_ns, name);
	else
		snprintf(request, sizeof(request), "snapshot %s", name);
	return agent_control_request(path, request);
}

const struct tool_command agent_command = {
	.name = "agent",
	.usage = "[-c FILE]\n"
		 "[-c FILE] --check\n"
		 "[-c FILE] --status\n"
		 "[-c FILE] --snapshot NAME [--last TIME]",
	.about =
		"Keeps a flight recorder on each process that the configuration names, also on "
		"those that start later: the last events of the process, in memory. Writes them as "
		"a log when a trigger of the configuration fires, on SIGUSR1, or by --snapshot. "
		"Ends with SIGTERM or Ctrl-C. SIGHUP loads the configuration again.",
	.options = option_rows,
	.notes = "Exit status: 0 ok, 1 failure, 2 usage.",
	.operands = OPTION_TEXT,
	.run = agent_run,
};
