/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* attach.c - the command attach: its options and its result. */
#include "live/attach.h"

#include <unistd.h>
#include <string.h>

#include "base/json.h"
#include "base/out.h"
#include "base/outfile.h"
#include "base/quantity.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "live/blocked.h"
#include "live/enter.h"
#include "live/families.h"
#include "live/preload.h"
#include "live/rotation.h"
#include "live/untraced.h"
#include "log/equation.h"
#include "log/losses.h"

extern const struct tool_command attach_command;

/*
 * Prints the result in JSON. Other programs read the names in "ends", so these names must not
 * change.
 */
static void result_json(const struct capture_plan *plan, const struct attach_result *result)
{
	static const char *const ends[] = {
		[ATTACH_SIGNAL] = "signal", [ATTACH_DURATION] = "duration",
		[ATTACH_TARGET_ENDED] = "process ended", [ATTACH_FLUSH_ERROR] = "log error",
		[ATTACH_ERROR] = "error",
	};
	struct out *out = &out_stdout;
	struct json json = json_begin(out);

	json_object(&json, NULL);
	json_string_member(&json, "log", plan->path);
	json_signed(&json, "pid", plan->pid);
	json_string_member(&json, "program", result->program);
	json_string_member(&json, "end", ends[result->end]);
	if (result->capture.has_counts) {
		json_unsigned(&json, "events", result->capture.ledger.reported);
		json_unsigned(&json, "lost", equation_lost(&result->capture.ledger));
	}
	json_unsigned(&json, "bytes", result->capture.bytes);
	if (result->capture.logs) {
		json_unsigned(&json, "logs", result->capture.logs);
		json_unsigned(&json, "removed_logs", result->capture.removed);
		json_unsigned(&json, "removed_events", result->capture.removed_events);
	}
	if (result->capture.has_counts) {
		equation_json(&json, "ledger", &result->capture.ledger);
		shimloss_json(&json, "shim_lost", &result->capture.shim);
	}
	processes_json(&json, "processes", &result->processes);
	json_end_line(&json);
}

enum {
	OPT_FORCE = 256,
	OPT_POLICY,
	OPT_LOOP,
	OPT_INHERIT,
	OPT_NO_FOLLOW,
	OPT_LOG_POLICY,
	OPT_LOG_SIZE,
	OPT_COMPRESS,
	OPT_JSON,
	OPT_TRACE,
	OPT_DATA,
	OPT_FAIL_ON_LOSS,
	OPT_BUDGET,
};

static const struct option_row option_rows[] = {
	{ "pid", 'p', "PID", "the process; its program needs no preparation", OPTION_PID },
	{ "output", 'o', "LOG", "the new log; a file that exists is refused", OPTION_LOG },
	{ "force", OPT_FORCE, NULL, "overwrite a file that exists" },
	{ "duration", 'd', "TIME", "end after this time: 10, 2.5s, 300ms, 5m, 1h" },
	{ "trace", OPT_TRACE, "FAMILIES",
		"the calls to trace in a program without libposixtrace, as for record; none: load "
		"nothing into it",
		OPTION_LIST, PRELOAD_FAMILIES },
	{ "data", OPT_DATA, "BYTES", PRELOAD_DATA_HELP },
	{ .rows = patches_rows },
	{ .rows = kernel_rows },
	{ .rows = capture_rows },
	{ "budget", OPT_BUDGET, "PERCENT", BUDGET_HELP },
	{ "policy", OPT_POLICY, "POLICY",
		"when the stream is full: flush (the default), until-full, loop",
		OPTION_CHOICE, "flush until-full loop" },
	{ "loop", OPT_LOOP, NULL, "the same as --policy loop: the log has the end of the trace" },
	{ "size", 's', "BYTES", "size of the stream: 4M, or another number with K, M or G" },
	{ "inherit", OPT_INHERIT, NULL,
		"also trace the children that it has from now on, until they end" },
	{ "follow", OPT_INHERIT, NULL, "the same as --inherit" },
	{ "no-follow", OPT_NO_FOLLOW, NULL, "trace the process alone; the default" },
	{ "log-policy", OPT_LOG_POLICY, "POLICY",
		"when the log is full: append (never full, the default), until-full, loop",
		OPTION_CHOICE, "append until-full loop" },
	{ "log-size", OPT_LOG_SIZE, "BYTES",
		"the size at which the log is full: 1M, or another number with K, M or G" },
	{ "compress", OPT_COMPRESS, "[=LEVEL]", CAPTURE_COMPRESS_HELP },
	{ .rows = rotation_rows },
	{ "json", OPT_JSON, NULL, "print a JSON object at the end" },
	{ "quiet", 'q', NULL, "print errors and losses only" },
	{ "fail-on-loss", OPT_FAIL_ON_LOSS, NULL, "exit with 4 if events were lost" },
	OPTION_HELP,
	OPTION_END
};

/* The options of this run. The command runs once in a process. */
static struct capture_plan plan = CAPTURE_PLAN_DEFAULT;
static struct patches functions;
static struct kernel_plan kernel;
static bool force, json, fail_on_loss;

/* Processes one option. Returns false after an error was printed. */
static bool take_option(int option)
{
	int took;

	switch (option) {
	case 'p':
		return process_once("--pid", optarg, &plan.pid);
	case 'o':
		/* a later -o replaces an earlier one */
		return outfile_take_log(&plan.path, optarg);
	case 'd':
		return quantity_span("--duration", optarg, &plan.duration_ns);
	case 'e':
		return capture_take_pattern(&plan, optarg);
	case 'x':
		return capture_take_exclude(&plan, optarg);
	case 'q':
		plan.quiet = true;
		return true;
	case 's':
		return quantity_bytes("--size", optarg, &plan.stream_size);
	case OPT_TRACE:
		return preload_take_families(&plan.families, optarg);
	case OPT_DATA:
		return preload_take_data(&plan.content, optarg);
	case OPT_BUDGET:
		return budget_take(&plan.budget, "--budget", optarg);
	case OPT_FORCE:
		force = true;
		return true;
	case OPT_POLICY:
		return capture_take_policy(&plan, optarg);
	case OPT_LOOP:
		plan.stream_policy = POSIX_TRACE_LOOP;
		return true;
	case OPT_INHERIT:
	case OPT_NO_FOLLOW:
		plan.inherit = option == OPT_INHERIT;
		return true;
	case OPT_LOG_POLICY:
		return capture_take_log_policy(&plan, optarg);
	case OPT_LOG_SIZE:
		return quantity_bytes("--log-size", optarg, &plan.log_size);
	case OPT_COMPRESS:
		return capture_take_compress(&plan, optarg);
	case OPT_JSON:
		json = true;
		return true;
	case OPT_FAIL_ON_LOSS:
		fail_on_loss = true;
		return true;
	}
	took = patches_take_option(&functions, option, optarg);
	if (!took)
		took = rotation_take_option(&plan.rotate, option, optarg);
	return (took ? took : kernel_take_option(&kernel, option, optarg)) == 1;
}

/*
 * Checks that the options are complete and fit together. Returns false after it printed an error.
 */
static bool is_complete(int argc, char **argv)
{
	const char *contradiction;

	if (optind < argc) {
		say("attach: %s: unexpected argument; give the process after -p and the log "
		    "after -o", argv[optind]);
		return false;
	}
	/*
	 * The process and the log have no default value, because a trace of the wrong process would
	 * be worse than an error.
	 */
	if (!plan.pid || !plan.path) {
		say("attach: %s", plan.pid ? "the name of the log is missing; give it after -o" :
					 "the process is missing; give it after -p");
		return false;
	}
	contradiction = enter_contradiction(&plan, &kernel, &functions, plan.families);
	if (contradiction) {
		say("attach: %s", contradiction);
		return false;
	}
	kernel.alone = !plan.inherit;
	return capture_is_possible(&plan, "attach");
}

/*
 * Parses the options, traces, and prints the result. The log is complete when this function
 * returns.
 */
static int attach_run(int argc, char **argv)
{
	struct attach_result result;
	int option, status;

	while ((option = tool_option(argc, argv, &attach_command)) != -1) {
		if (option == 'h')
			return tool_help(&attach_command);
		if (!take_option(option))
			return tool_usage(&attach_command);
	}
	if (!is_complete(argc, argv))
		return tool_usage(&attach_command);
	/*
	 * Without --trace, --event adds families to the default families. --function adds the
	 * family func in any case.
	 */
	if (!families_add_needed(&plan.families, &plan.choose))
		return TOOL_FAILURE;
	if (functions.patterns &&
	    !preload_take_families(&plan.families, plan.families ? "func" : "default,func"))
		return TOOL_FAILURE;
	/* The library reads the number of bytes of --data from the list of families. */
	if (plan.content && !preload_add_data(&plan.families, plan.content))
		return TOOL_FAILURE;
	if (kernel.stack.globs && !stack_add(&kernel.stack, &plan.families, &plan))
		return TOOL_FAILURE;
	/*
	 * A pattern of --event must not exclude UNTRACED_EVENT. The preload library records this
	 * event, and with --trace=none the process does not get this library.
	 */
	if (plan.choose.include.count && !(plan.families && !strcmp(plan.families, "none")) &&
	    !capture_take_event(&plan, UNTRACED_EVENT))
		return TOOL_FAILURE;
	if (plan.budget && plan.choose.include.count && !capture_take_event(&plan, BUDGET_EVENT))
		return TOOL_FAILURE;
	plan.looks_at_blocked = blocked_is_wanted(plan.families, kernel.sched);
	enter_allow_traps(&plan, &functions.traps);
	kernel.traps = &functions.traps;
	status = attach_trace(&plan, &functions, &kernel, force ? OUTFILE_REPLACE : OUTFILE_REFUSE,
			      &result);
	patches_fini(&functions);
	choose_fini(&plan.choose);
	if (result.capture.bytes) { /* there is a log; without a log all counts are 0 */
		if (json) {
			result_json(&plan, &result);
		} else if (!plan.quiet || !result.capture.has_counts ||
			   losses_count(&result.capture.ledger) ||
			   (fail_on_loss && capture_has_lost(&result.capture))) {
			capture_result_text(&out_stdout, plan.path, &result.capture);
			if (!plan.quiet)
				processes_text(&out_stdout, &result.processes);
		}
	}
	processes_fini(&result.processes);
	if (fail_on_loss && capture_has_lost(&result.capture))
		status = tool_worse(status, TOOL_LOST);
	return status;
}

const struct tool_command attach_command = {
	.name = "attach",
	.usage = "-p PID -o LOG [OPTION]...",
	.about =
		"Records the events of the running process PID into the new file LOG, until "
		"Ctrl-C, SIGTERM, the end of --duration or of the process. Prints at the end "
		"how many events were recorded and lost.",
	.options = option_rows,
	.notes =
		"Exit status: 0 ok, 1 failure, 2 usage, 3 the log is not complete, 4 see "
		"--fail-on-loss.",
	.operands = OPTION_TEXT,
	.run = attach_run,
};
