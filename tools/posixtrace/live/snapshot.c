/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * snapshot.c - the command snapshot: copies the streams of a running process into logs without
 * disturbing it.
 */
#include <unistd.h>
#include <stdio.h>

#include "base/quantity.h"
#include "base/say.h"
#include "base/tool.h"
#include "live/process.h"
#include "live/rescue.h"

extern const struct tool_command snapshot_command;

enum { OPT_LAST = 256 };

static const struct option_row option_rows[] = {
	{ "pid", 'p', "PID", "the process", OPTION_PID },
	{ "last", OPT_LAST, "TIME", "only the events of this time, such as 30s or 5m" },
	{ .rows = rescue_rows },
	OPTION_HELP,
	OPTION_END
};

/* rescue_stream() is called for each stream of the process and makes its log. */
static int take_snapshots(struct rescue *rescue, pid_t pid)
{
	/* "whose" is a text for the message that no stream was found. */
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

	while ((option = tool_option(argc, argv, &snapshot_command)) != -1) {
		if (option == 'h')
			return tool_help(&snapshot_command);
		if (option == 'p'	 ? !process_once("--pid", optarg, &pid)
		    : option == OPT_LAST ? !quantity_span("--last", optarg, &rescue.last_ns)
					 : !rescue_take(&rescue, option, optarg))
			return tool_usage(&snapshot_command);
	}
	if (optind < argc) {
		say("snapshot: %s: unexpected argument; give the process after -p and the log "
		    "after -o", argv[optind]);
		return tool_usage(&snapshot_command);
	}
	/* The process and the log have no default value. */
	if (!pid || !rescue.path) {
		say("snapshot: %s", pid ? "the name of the log is missing; give it after -o" :
				      "the process is missing; give it after -p");
		return tool_usage(&snapshot_command);
	}
	return take_snapshots(&rescue, pid);
}

const struct tool_command snapshot_command = {
	.name = "snapshot",
	.usage = "-p PID -o LOG [OPTION]...",
	.about =
		"Copies what the streams of the running process PID contain at this moment into "
		"the new file LOG. No process is stopped, and the creator of a stream can still "
		"read the copied events. With several streams the second goes to LOG.2, and so "
		"on. With --last the log has only the events of the last seconds.",
	.options = option_rows,
	.notes =
		"Exit status: 0 ok, 1 failure, 2 usage, 3 a log is not complete, 4 see "
		"--fail-on-loss.",
	.operands = OPTION_TEXT,
	.run = snapshot_run,
};
