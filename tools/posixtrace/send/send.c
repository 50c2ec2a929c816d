/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * send.c - the command send: sends the events of a process or of a trace through a pipe of bytes.
 */
#include "send/send.h"

#include <unistd.h>

#include "base/quantity.h"
#include "base/say.h"
#include "live/process.h"

extern const struct tool_command send_command;

enum {
	OPT_FORCE = 256,
	OPT_INHERIT,
	OPT_NO_CONTEXT,
};

static const struct option_row option_rows[] = {
	{ "pid", 'p', "PID", "the process; its program must use libposixtrace", OPTION_PID },
	{ "output", 'o', "WHERE",
		"a pipe, a serial line or another file; tcp:HOST:PORT; listen:[HOST:]PORT, "
		"which waits for a connection; the default is standard output", OPTION_FILE },
	{ "force", OPT_FORCE, NULL, "overwrite a file" },
	{ "duration", 'd', "TIME", "end after this time: 10, 2.5s, 300ms, 5m, 1h" },
	{ "size", 's', "BYTES", "size of the stream: 8M, or another number with K, M or G" },
	{ "inherit", OPT_INHERIT, NULL,
		"also send the events of the children that it has from now on" },
	{ "no-context", OPT_NO_CONTEXT, NULL, "send no processes, threads and addresses" },
	OPTION_HELP,
	OPTION_END
};

/*
 * Options for the sink. The ledger and the schemas are always sent, so the first two options are
 * always used. The third option is used only with --no-context.
 */
static const struct fmt_given given[] = { { "account", "" },
					  { "schemas", "" },
					  { "no-context", "" } };

/* Processes one option. Returns false after an error was printed. */
static bool take_option(int option, struct through *plan)
{
	switch (option) {
	case 'p':
		return process_once("--pid", optarg, &send_plan.pid);
	case 'o':
		plan->output = optarg;
		return true;
	case 'd':
		return quantity_span("--duration", optarg, &send_plan.duration_ns);
	case 's':
		return quantity_bytes("--size", optarg, &send_plan.stream_size);
	case OPT_FORCE:
		plan->force = true;
		return true;
	case OPT_INHERIT:
		send_plan.inherit = true;
		return true;
	case OPT_NO_CONTEXT:
		plan->givens = 3;
		return true;
	}
	return false;
}

/* Checks the options together. Returns false after it printed an error. */
static bool is_possible(int argc)
{
	/* The message names the first given option that is not possible with a trace. */
	const char *only = send_plan.duration_ns ? "--duration" : send_plan.stream_size ? "--size"
			   : send_plan.inherit ? "--inherit" : NULL;

	if (!send_plan.pid && argc - optind != 1)
		say(argc == optind ? "send: give a process with -p, or a trace"
				   : "send: one trace at a time");
	else if (send_plan.pid && argc != optind)
		say("send: give a process with -p or a trace, not both");
	else if (!send_plan.pid && only)
		say("send: %s applies to a process only; give one with -p", only);
	else
		return true;
	return false;
}

/*
 * Parses the options. Then converts the events of the process, or a trace whose format is
 * recognized by its contents.
 */
static int send_run(int argc, char **argv)
{
	/* The sink is always rkh, because the command receive reads no other format. */
	struct through plan = { .to = fmt_by_name("rkh"), .output = "-", .given = given,
				.givens = 2 };
	static struct fmt_input input = { .name = "process", .fd = -1, .signals = -1 };
	int option, status;

	while ((option = tool_option(argc, argv, &send_command)) != -1) {
		if (option == 'h')
			return tool_help(&send_command);
		if (!take_option(option, &plan))
			return tool_usage(&send_command);
	}
	if (!is_possible(argc))
		return tool_usage(&send_command);
	if (send_plan.pid) {
		plan.from = &send_process_format; /* not in the table of formats */
		return through(&plan, &input);
	}
	/* As with the command convert, a trace may be a file, a pipe or a connection. */
	status = input_open(&input, argv[optind]);
	if (status)
		return status;
	/*
	 * On a terminal, the command shows how much of the trace has been read. It shows nothing
	 * for a process, because the number of events is not known.
	 */
	plan.is_metered = true;
	status = through(&plan, &input);
	input_close(&input);
	return status;
}

const struct tool_command send_command = {
	.name = "send",
	.usage = "[OPTION]... -p PID | TRACE",
	.about =
		"Sends the events of the running process PID when they are recorded, until "
		"Ctrl-C, SIGTERM, the end of --duration or of the process; or those of TRACE, "
		"of any format that convert reads (- is standard input). posixtrace receive "
		"writes a log of them, and counts those that are missing.",
	.options = option_rows,
	.notes =
		"The connection is neither encrypted nor signed: between hosts that do not "
		"trust their network, use a pipe through ssh.\n"
		"Exit status: 0 ok, 1 failure, 2 usage, 3 TRACE is damaged.",
	.operands = OPTION_FILE,
	.run = send_run,
};
