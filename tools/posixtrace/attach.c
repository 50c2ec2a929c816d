/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* attach.c - posixtrace attach: a log of a process that runs already. */
#include "attach.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "equation.h"
#include "losses.h"
#include "out.h"
#include "quantity.h"
#include "say.h"
#include "text.h"
#include "tool.h"

static const char help[] =
	"Usage: posixtrace attach -p PID -o LOG [OPTION]...\n"
	"Traces the running process PID into the new file LOG, until Ctrl-C, SIGTERM, the end of\n"
	"--duration or of the process; then prints how much was recorded and lost.\n"
	"\n"
	"  -p, --pid PID            the process; its program must use libposixtrace\n"
	"  -o, --output LOG         the log; a file that is there already is refused\n"
	"      --force              overwrite it\n"
	"  -d, --duration TIME      end after this time: 10, 2.5s, 300ms, 5m, 1h\n"
	"  -e, --event GLOB         only event types whose name matches; may be repeated\n"
	"      --policy POLICY      when the stream is full: flush (the default), until-full, loop\n"
	"  -s, --size BYTES         of the stream: 4M, or another number with K, M or G\n"
	"      --inherit            also the children that it has from now on, until they end, too\n"
	"      --log-policy POLICY  when the log is full: append (never, the default), until-full,\n"
	"                           loop\n"
	"      --log-size BYTES     when that is: 1M, or another number with K, M or G\n"
	"      --json               a JSON object at the end\n"
	"      --fail-on-loss       exit with 4 when events were lost\n"
	"  -h, --help               this text\n"
	"\n"
	"Exit status: 0 ok, 1 failure, 2 usage, 3 the log is not whole, 4 see --fail-on-loss.\n";

#define STREAM_SIZE ((size_t)4 << 20)

struct policy {
	const char *name;
	int value;
};

static const struct policy stream_policies[] = {
	{ "loop", POSIX_TRACE_LOOP }, { "until-full", POSIX_TRACE_UNTIL_FULL },
	{ "flush", POSIX_TRACE_FLUSH }, { NULL, 0 }
};

static const struct policy log_policies[] = {
	{ "append", POSIX_TRACE_APPEND }, { "until-full", POSIX_TRACE_UNTIL_FULL },
	{ "loop", POSIX_TRACE_LOOP }, { NULL, 0 }
};

static bool find_policy(const char *option, const struct policy *policy, const char *name,
			int *value)
{
	for (; policy->name; policy++)
		if (!strcmp(policy->name, name)) {
			*value = policy->value;
			return true;
		}
	say("%s %s: no such policy", option, name);
	return false;
}

static void result_text(const struct attach *attach, const struct attach_result *result)
{
	struct out *out = &out_stdout;

	text_safe(out, attach->path, strlen(attach->path));
	out_str(out, ": ");
	out_unsigned(out, result->ledger.reported);
	out_str(out, " events, ");
	out_unsigned(out, equation_lost(&result->ledger));
	out_str(out, " lost");
	equation_causes(out, &result->ledger);
	out_str(out, ", ");
	out_unsigned(out, result->bytes);
	out_str(out, " bytes\n");
}

static void result_json(const struct attach *attach, const struct attach_result *result)
{
	static const char *const ends[] = {
		[ATTACH_SIGNAL] = "signal", [ATTACH_DURATION] = "duration",
		[ATTACH_TARGET_ENDED] = "process ended", [ATTACH_FLUSH_ERROR] = "log error",
		[ATTACH_ERROR] = "error",
	};
	struct out *out = &out_stdout;

	out_str(out, "{\"log\":");
	text_json(out, attach->path, strlen(attach->path));
	out_printf(out, ",\"pid\":%d,\"program\":", (int)attach->pid);
	text_json(out, result->program, strlen(result->program));
	out_printf(out, ",\"end\":\"%s\",\"events\":%llu,\"lost\":%llu,\"bytes\":%llu,\"ledger\":",
		   ends[result->end], (unsigned long long)result->ledger.reported,
		   (unsigned long long)equation_lost(&result->ledger),
		   (unsigned long long)result->bytes);
	equation_json(out, &result->ledger);
	out_str(out, "}\n");
}

enum {
	OPT_FORCE = 256,
	OPT_POLICY,
	OPT_INHERIT,
	OPT_LOG_POLICY,
	OPT_LOG_SIZE,
	OPT_JSON,
	OPT_FAIL_ON_LOSS,
};

static const struct option long_options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "duration", required_argument, NULL, 'd' },
	{ "event", required_argument, NULL, 'e' },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "size", required_argument, NULL, 's' },
	{ "inherit", no_argument, NULL, OPT_INHERIT },
	{ "log-policy", required_argument, NULL, OPT_LOG_POLICY },
	{ "log-size", required_argument, NULL, OPT_LOG_SIZE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "fail-on-loss", no_argument, NULL, OPT_FAIL_ON_LOSS },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static struct attach attach = {
	.stream_policy = POSIX_TRACE_FLUSH,
	.log_policy = POSIX_TRACE_APPEND,
	.stream_size = STREAM_SIZE,
};
static bool json, fail_on_loss;

/* False: the command line is wrong; that has been said. */
static bool take(int option)
{
	switch (option) {
	case 'p':
		return process_number("--pid", optarg, &attach.pid);
	case 'o':
		attach.path = optarg;
		return true;
	case 'd':
		return quantity_span("--duration", optarg, &attach.duration_ns);
	case 'e':
		if (choose_add_name(&attach.choose.include, optarg))
			return true;
		say("%s", strerror(ENOMEM));
		return false;
	case 's':
		return quantity_bytes("--size", optarg, &attach.stream_size);
	case OPT_FORCE:
		attach.force = true;
		return true;
	case OPT_POLICY:
		return find_policy("--policy", stream_policies, optarg, &attach.stream_policy);
	case OPT_INHERIT:
		attach.inherit = true;
		return true;
	case OPT_LOG_POLICY:
		return find_policy("--log-policy", log_policies, optarg, &attach.log_policy);
	case OPT_LOG_SIZE:
		return quantity_bytes("--log-size", optarg, &attach.log_size);
	case OPT_JSON:
		json = true;
		return true;
	case OPT_FAIL_ON_LOSS:
		fail_on_loss = true;
		return true;
	}
	return false;
}

static bool is_complete(int argc, char **argv)
{
	if (optind < argc) {
		say("attach: %s: an argument that belongs to no option", argv[optind]);
		return false;
	}
	if (!attach.pid || !attach.path) {
		say("attach: %s", attach.pid ? "into which log? (-o)" : "which process? (-p)");
		return false;
	}
	if (attach.log_size && attach.log_policy == POSIX_TRACE_APPEND) {
		say("attach: --log-size has no meaning for a log that is never full; see --log-policy");
		return false;
	}
	return true;
}

static int run(int argc, char **argv)
{
	struct attach_result result;
	int option, status;

	while ((option = tool_option(argc, argv, ":p:o:d:e:s:h", long_options)) != -1) {
		if (option == 'h')
			return tool_help(&attach_command);
		if (!take(option))
			return tool_usage(&attach_command);
	}
	if (!is_complete(argc, argv))
		return tool_usage(&attach_command);
	status = attach_trace(&attach, &result);
	choose_fini(&attach.choose);
	if (result.bytes) {
		if (json)
			result_json(&attach, &result);
		else
			result_text(&attach, &result);
	}
	if (fail_on_loss && losses_count(&result.ledger))
		status = tool_worse(status, TOOL_LOST);
	return status;
}

const struct tool_command attach_command = {
	.name = "attach",
	.summary = "traces a running process into a log",
	.help = help,
	.run = run,
};
