/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * receive.c - the command receive: makes a log of the events that arrive through a pipe of bytes.
 */
#include <getopt.h>

#include "base/say.h"
#include "convert/through.h"

extern const struct tool_command receive_command;

/* The manual page and the completion must have the same options; tests compare them. */
static const char help[] =
	"Usage: posixtrace receive [FROM] -o LOG [OPTION]...\n"
	"Makes a log of the events that posixtrace send sends, until it ends, or Ctrl-C or "
		"SIGTERM. Events\n"
	"that are missing are counted in the log's ledger.\n"
	"\n"
	"FROM is a pipe, a serial line or another file; tcp:HOST:PORT; listen:[HOST:]PORT, which "
		"waits for a\n"
	"connection; else standard input.\n"
	"\n"
	"  -o, --output LOG      the log; a file that is there already is refused\n"
	"      --force           overwrites it\n"
	"  -t, --to FORMAT       another format that convert writes, into LOG\n"
	"      --dialect NAME    what is sent: ptx (by posixtrace, the default), or rkh3 or rkh2 "
		"(by a\n"
	"                        target that has RKH)\n"
	"      --baud N          bits per second of a serial line\n"
	"      --max-frame N     bytes of the longest frame; else 1048576\n"
	"      --fail-on-loss    exit with 4 when events were lost\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: 0 ok, 1 failure, 2 usage, 3 what came is damaged, or its sender did not end "
		"it,\n"
	"4 see --fail-on-loss.\n";

enum {
	OPT_FORCE = 256,
	OPT_DIALECT,
	OPT_BAUD,
	OPT_MAX_FRAME,
	OPT_FAIL_ON_LOSS,
};

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "to", required_argument, NULL, 't' },
	{ "dialect", required_argument, NULL, OPT_DIALECT },
	{ "baud", required_argument, NULL, OPT_BAUD },
	{ "max-frame", required_argument, NULL, OPT_MAX_FRAME },
	{ "fail-on-loss", no_argument, NULL, OPT_FAIL_ON_LOSS },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

/* Options for the source of the format rkh. If a name occurs twice, the last one counts. */
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
	/* The speed is an option of its own: without it the line keeps its setting. */
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
	/* The format of the frames is always rkh; convert reads other formats. */
	struct through plan = {
		.from = fmt_by_name("rkh"), .to = fmt_by_name("log"), .given = given, .givens = 3,
	};
	static struct fmt_input input;
	int option, status;

	while ((option = tool_option(argc, argv, ":o:t:h", long_options)) != -1) {
		if (option == 'h')
			return tool_help(&receive_command);
		if (!take_option(option, &plan))
			return tool_usage(&receive_command);
	}
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
	.help = help,
	.run = receive_run,
};
