/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * receive.c - the command receive: makes a log from the events that arrive through a pipe of bytes.
 */
#include <unistd.h>

#include "base/say.h"
#include "convert/through.h"

extern const struct tool_command receive_command;

enum {
	OPT_FORCE = 256,
	OPT_DIALECT,
	OPT_BAUD,
	OPT_MAX_FRAME,
	OPT_FAIL_ON_LOSS,
};

static const struct option_row option_rows[] = {
	{ "output", 'o', "LOG", "the new log; a file that exists is refused", OPTION_LOG },
	{ "force", OPT_FORCE, NULL, "overwrite a file that exists" },
	{ "to", 't', "FORMAT", "another format that convert writes, into LOG", OPTION_SINK },
	{ "dialect", OPT_DIALECT, "NAME",
		"the format received: ptx (of posixtrace send, the default), rkh3 or rkh2 (of a "
		"target that has RKH)",
		OPTION_CHOICE, "ptx rkh3 rkh2" },
	{ "baud", OPT_BAUD, "N", "bits per second of a serial line" },
	{ "max-frame", OPT_MAX_FRAME, "N", "bytes of the longest frame; the default is 1048576" },
	{ "fail-on-loss", OPT_FAIL_ON_LOSS, NULL, "exit with 4 if events were lost" },
	OPTION_HELP,
	OPTION_END
};

/*
 * Options for the source of the format rkh. If a name occurs twice, fmt_option() uses its last
 * value.
 */
static struct fmt_given given[4] = {
	{ "dialect", "ptx" }, { "max-frame", "1048576" }, { "account", "" },
};

/* Processes one option. Returns false after an error was printed. */
static bool take_option(int option, struct through *plan)
{
	switch (option) {
	case 'o':
		plan->output = optarg;
		return true;
	case 't':
		plan->to = through_named(optarg, false);
		return plan->to; /* NULL: through_named() has printed the error */
	case OPT_FORCE:
		plan->force = true;
		return true;
	case OPT_DIALECT:
		given[0].value = optarg;
		return true;
	case OPT_MAX_FRAME:
		given[1].value = optarg;
		return true;
	/*
	 * The element for the speed is added only if --baud is given. Without --baud the serial
	 * line keeps its speed.
	 */
	case OPT_BAUD:
		given[3] = (struct fmt_given){ "baud", optarg };
		plan->givens = 4;
		return true;
	case OPT_FAIL_ON_LOSS:
		plan->fail_on_loss = true;
		return true;
	}
	return false;
}

/* Parses the options, opens the source and converts until its end. */
static int receive_run(int argc, char **argv)
{
	/*
	 * The format of the frames is always rkh. For other formats there is the command convert.
	 */
	struct through plan = {
		.from = fmt_by_name("rkh"), .to = fmt_by_name("log"), .given = given, .givens = 3,
	};
	static struct fmt_input input;
	int option, status;

	while ((option = tool_option(argc, argv, &receive_command)) != -1) {
		if (option == 'h')
			return tool_help(&receive_command);
		if (!take_option(option, &plan))
			return tool_usage(&receive_command);
	}
	/*
	 * A log is written directly into its file. Therefore the output needs a name, for which
	 * there is no default.
	 */
	if (argc - optind > 1 || !plan.output) {
		say("receive: %s", plan.output ? "give only one source" :
			"the name of the log is missing; give it after -o");
		return tool_usage(&receive_command);
	}
	status = input_open(&input, optind < argc ? argv[optind] : "-");
	if (status)
		return status;
	/* SIGINT and SIGTERM end the input, so that the log is completed. */
	input_end_at_signals(&input);
	status = through(&plan, &input);
	input_close(&input);
	return status;
}

const struct tool_command receive_command = {
	.name = "receive",
	.usage = "[OPTION]... -o LOG [FROM]",
	.about =
		"Writes a log of the events from posixtrace send, until they end, or until "
		"Ctrl-C or SIGTERM. Missing events are counted in the log's ledger.\n"
		"\n"
		"FROM is a pipe, a serial line or another file; tcp:HOST:PORT; "
		"listen:[HOST:]PORT, which waits for a connection. The default is standard input.",
	.options = option_rows,
	.notes =
		"Exit status: 0 ok, 1 failure, 2 usage, 3 the received data is damaged, or its "
		"sender did not end it, 4 see --fail-on-loss.",
	.operands = OPTION_FILE,
	.run = receive_run,
};
