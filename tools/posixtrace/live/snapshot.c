/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * snapshot.c - the command snapshot: copies the streams of a running process into logs without
 * disturbing it.
 */
#include <getopt.h>
#include <stdio.h>

#include "base/say.h"
#include "base/tool.h"
#include "live/process.h"
#include "live/rescue.h"

extern const struct tool_command snapshot_command;

/* The manual page and the completion must have the same options; tests compare them. */
static const char help[] =
	"Usage: posixtrace snapshot -p PID -o LOG [OPTION]...\n"
	"Copies what the streams of the running process PID hold at this moment into the new file "
		"LOG.\n"
	"No process is stopped, and the creator of a stream can still read the copied events.\n"
	"With several streams the second goes to LOG.2, and so on.\n"
	"\n"
	"  -p, --pid PID        the process\n"
	"  -o, --output LOG     the log; a file that is there already is refused\n"
	"      --force          overwrite it\n"
	"  -n, --name GLOB      only streams whose name matches\n"
	"      --json           a JSON object for each log\n"
	"      --fail-on-loss   exit with 4 when events were lost\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 ok, 1 failure, 2 usage, 3 a log is not whole, 4 see --fail-on-loss.\n";

static const struct option long_options[] = {
	{ "pid", required_argument, NULL, 'p' },
	RESCUE_OPTIONS,
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

/* rescue_stream() is called for each stream of the process and makes its log. */
static int take_snapshots(struct rescue *rescue, pid_t pid)
{
	/* For the message that no stream was found. */
	char whose[40];
	int err = posix_trace_observe_np(pid, rescue_stream, rescue);

	if (err)
		return tool_worse(rescue->status, process_say_why(pid, err));
	snprintf(whose, sizeof(whose), "process %d", (int)pid);
	return rescue_end(rescue, whose);
}

static int snapshot_run(int argc, char **argv)
{
	struct rescue rescue = { .path = NULL };
	pid_t pid = 0;
	int option;

	while ((option = tool_option(argc, argv, ":p:h" RESCUE_LETTERS, long_options)) != -1) {
		if (option == 'h')
			return tool_help(&snapshot_command);
		if (option == 'p' ? !process_once("--pid", optarg, &pid)
				  : !rescue_take(&rescue, option, optarg))
			return tool_usage(&snapshot_command);
	}
	if (optind < argc) {
		say("snapshot: %s: unexpected argument", argv[optind]);
		return tool_usage(&snapshot_command);
	}
	/* Neither has a default. */
	if (!pid || !rescue.path) {
		say("snapshot: %s", pid ? "the name of the log is missing; give it after -o" :
				      "the process is missing; give it after -p");
		return tool_usage(&snapshot_command);
	}
	return take_snapshots(&rescue, pid);
}

const struct tool_command snapshot_command = {
	.name = "snapshot",
	.help = help,
	.run = snapshot_run,
};
