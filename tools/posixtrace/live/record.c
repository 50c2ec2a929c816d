/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record.c - the command record: its options and their check. */
#include "live/record.h"

#include <errno.h>
#include <unistd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/outfile.h"
#include "base/quantity.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "functions/libraries.h"
#include "live/blocked.h"
#include "live/crash.h"
#include "live/enter.h"
#include "live/families.h"
#include "live/image.h"
#include "live/preload.h"
#include "live/process.h"
#include "live/rotation.h"
#include "live/untraced.h"
#include "log/preload_types.h"

extern const struct tool_command record_command;

#define DEFAULT_LOG "posixtrace.ptl"

enum {
	OPT_TRACE = 256,
	OPT_DATA,
	OPT_FOLLOW,
	OPT_NO_FOLLOW,
	OPT_WAIT,
	OPT_POLICY,
	OPT_LOOP,
	OPT_SNAPSHOT_ON,
	OPT_LOG_POLICY,
	OPT_LOG_SIZE,
	OPT_COMPRESS,
	OPT_FAIL_ON_LOSS,
	OPT_FORCE,
	OPT_CRASH,
	OPT_BUDGET,
};

static const struct option_row option_rows[] = {
	{ "output", 'o', "LOG",
		"the log; posixtrace.ptl by default; a file that exists is renamed to LOG.old",
		OPTION_LOG },
	{ "force", OPT_FORCE, NULL, "overwrite a file that exists" },
	{ "trace", OPT_TRACE, "FAMILIES",
		"the families of C library calls to trace: alloc, lock, lock-hold, io, file, "
		"stdio, net, thread, process, signal, time, ipc, dl, func, separated by commas; "
		"all, default, none; a minus before a name excludes it; may be repeated",
		OPTION_LIST, PRELOAD_FAMILIES },
	{ "data", OPT_DATA, "BYTES", PRELOAD_DATA_HELP },
	{ .rows = patches_rows },
	{ .rows = kernel_rows },
	{ .rows = capture_rows },
	{ "follow", OPT_FOLLOW, NULL, "also trace its children; the default" },
	{ "inherit", OPT_FOLLOW, NULL, "the same as --follow" },
	{ "no-follow", OPT_NO_FOLLOW, NULL, "trace the program alone" },
	{ "wait", OPT_WAIT, NULL, "continue until its children have ended, too" },
	{ "duration", 'd', "TIME",
		"end after this time: 10, 2.5s, 300ms, 5m, 1h; the program continues" },
	{ "budget", OPT_BUDGET, "PERCENT", BUDGET_HELP },
	{ "policy", OPT_POLICY, "POLICY",
		"when the stream is full: flush (the default), until-full, loop",
		OPTION_CHOICE, "flush until-full loop" },
	{ "loop", OPT_LOOP, NULL, "the same as --policy loop: the log has the end of the trace" },
	{ "snapshot-on", OPT_SNAPSHOT_ON, "WHEN",
		"with --loop, write the content of the stream: at the exit (the default), on "
		"SIGUSR1, at a crash; several are separated by commas",
		OPTION_LIST, "exit crash SIGUSR1" },
	{ "crash", OPT_CRASH, NULL,
		"at a signal that kills the program or a child, record registers and stacks of all "
		"threads; debuggers cannot attach meanwhile" },
	{ "size", 's', "BYTES", "size of the stream: 4M, or another number with K, M or G" },
	{ "log-policy", OPT_LOG_POLICY, "POLICY",
		"when the log is full: append (never full, the default), until-full, loop",
		OPTION_CHOICE, "append until-full loop" },
	{ "log-size", OPT_LOG_SIZE, "BYTES",
		"the size at which the log is full: 1M, or another number with K, M or G" },
	{ "compress", OPT_COMPRESS, "[=LEVEL]", CAPTURE_COMPRESS_HELP },
	{ .rows = rotation_rows },
	{ "pid", 'p', "PID", "a process that runs already, instead of a program", OPTION_PID },
	{ "quiet", 'q', NULL, "print errors and losses only" },
	{ "fail-on-loss", OPT_FAIL_ON_LOSS, NULL,
		"exit with 4 if events were lost and the program ended well" },
	OPTION_HELP,
	OPTION_END
};

/* The options of this run. The command runs once in a process. */
static struct record record = { .plan = CAPTURE_PLAN_DEFAULT };

/*
 * Parses the list of --snapshot-on. If the option is given several times, the lists are combined.
 * Returns false after it printed an error.
 */
static bool take_snapshot_on(const char *when)
{
	static const struct {
		const char *name;
		unsigned bit;
	} names[] = {
		{ "exit", RECORD_SNAPSHOT_EXIT }, { "crash", RECORD_SNAPSHOT_CRASH },
		{ "SIGUSR1", RECORD_SNAPSHOT_USR1 }, { "USR1", RECORD_SNAPSHOT_USR1 },
	};

	for (const char *p = when;; p++) {
		/* An empty element is an error, too. */
		size_t len = strcspn(p, ","), i = 0;

		while (i < 4 && (strlen(names[i].name) != len || memcmp(names[i].name, p, len)))
			i++;
		if (i == 4) {
			say("--snapshot-on %s: there are exit, crash and SIGUSR1%s",
			    text_given(when), nearest_among(p, len, "exit, crash and SIGUSR1"));
			return false;
		}
		record.snapshot |= names[i].bit;
		p += len;
		if (!*p)
			return true;
	}
}

/* Processes one option. Returns false after an error was printed. */
static bool take_option(int option)
{
	int took;

	switch (option) {
	case 'p':
		return process_once("--pid", optarg, &record.plan.pid);
	case 'o':
		return outfile_take_log(&record.plan.path, optarg);
	case 'd':
		return quantity_span("--duration", optarg, &record.plan.duration_ns);
	case 'e':
		return capture_take_pattern(&record.plan, optarg);
	case 'x':
		return capture_take_exclude(&record.plan, optarg);
	case 's':
		return quantity_bytes("--size", optarg, &record.plan.stream_size);
	case 'q':
		record.plan.quiet = true;
		return true;
	case OPT_CRASH:
		record.crash = true;
		return true;
	case OPT_TRACE:
		return preload_take_families(&record.launch.families, optarg);
	case OPT_DATA:
		return preload_take_data(&record.plan.content, optarg);
	case OPT_FOLLOW:
	case OPT_NO_FOLLOW:
		record.plan.inherit = option == OPT_FOLLOW;
		return true;
	case OPT_WAIT:
		record.wait_for_children = true;
		return true;
	case OPT_POLICY:
		return capture_take_policy(&record.plan, optarg);
	/* --loop is the same as --policy loop. */
	case OPT_LOOP:
		record.plan.stream_policy = POSIX_TRACE_LOOP;
		return true;
	case OPT_SNAPSHOT_ON:
		return take_snapshot_on(optarg);
	case OPT_LOG_POLICY:
		return capture_take_log_policy(&record.plan, optarg);
	case OPT_LOG_SIZE:
		return quantity_bytes("--log-size", optarg, &record.plan.log_size);
	case OPT_COMPRESS:
		return capture_take_compress(&record.plan, optarg);
	case OPT_FAIL_ON_LOSS:
		record.fail_on_loss = true;
		return true;
	case OPT_BUDGET:
		return budget_take(&record.plan.budget, "--budget", optarg);
	case OPT_FORCE:
		record.force = true;
		return true;
	}
	took = patches_take_option(&record.functions, option, optarg);
	if (!took)
		took = rotation_take_option(&record.plan.rotate, option, optarg);
	return (took ? took : kernel_take_option(&record.kernel, option, optarg)) == 1;
}

/* Returns the first contradiction between the options as a message, or NULL if there is none. */
static const char *find_contradiction(bool has_program)
{
	const char *contradiction;

	if (has_program && record.plan.pid)
		return "give either a program or -p";
	if (!has_program && !record.plan.pid)
		return "the program is missing; to record a running process, give it after -p";
	if (!has_program && record.crash)
		return "--crash needs a program that record itself starts";
	if (!has_program && (record.snapshot & RECORD_SNAPSHOT_CRASH))
		return "--snapshot-on crash needs a program that record itself starts";
	if (record.snapshot && record.plan.stream_policy != POSIX_TRACE_LOOP)
		return "--snapshot-on has no meaning without --loop";
	if (record.snapshot && !(record.snapshot & RECORD_SNAPSHOT_EXIT) &&
	    record.plan.log_policy != POSIX_TRACE_APPEND)
		return "--snapshot-on without exit needs a log that is never full";
	contradiction = enter_contradiction(&record.plan, &record.kernel, &record.functions,
					    record.launch.families);
	if (!contradiction && record.wait_for_children && !record.plan.inherit)
		return "--wait has no meaning with --no-follow";
	return contradiction;
}

/*
 * Finds the library to preload, unless the user wants none. Returns false after it printed an
 * error.
 */
static bool find_preload(const char *program)
{
	const char *families = record.launch.families;

	/*
	 * If the user wants no families and no patches, only the program's own trace points are
	 * recorded. The library is then needed only by a program that itself searches for it.
	 */
	if (families && !strcmp(families, "none") && !patch_is_wanted(&record.functions) &&
	    !preload_is_sought(program)) {
		free((void *)record.launch.families);
		record.launch.families = NULL;
		return true;
	}
	record.launch.preload = preload_find();
	return record.launch.preload;
}

/*
 * Returns false after it printed why the kernel would not execute the program, or why its libraries
 * are unknown. For such a program, a reason why its calls or functions cannot be traced would
 * mislead. patch_plan() makes the same check for all other programs.
 */
static bool has_libraries(const char *program)
{
	struct libraries libraries;
	bool has = libraries_of_program(&libraries, program);

	if (has)
		libraries_fini(&libraries);
	return has;
}

/*
 * Finds out whether the library can enter the program, and notes the reason if it cannot. If the
 * program's dynamic linker would fail or complain because of the library, the function removes the
 * library from the plan. A program that is static, or runs with the rights of another user, ignores
 * the library. A message reports that the kernel records the system calls, or why it does not.
 * Returns false after it printed that the program cannot be executed.
 */
static bool drop_preload_if_foreign(const char *program)
{
	char loader[SHIM_LOADER_BYTES];
	const char *subject = "its calls", *why;
	bool is_said = true;

	switch (shim_image_find(program, getenv("PATH"), loader)) {
	case SHIM_IMAGE_FOREIGN:
		record.untraced = *loader ? "its C library is another one than glibc" :
				  "this is the dynamic linker of another C library than glibc";
		record.launch.preload = NULL;
		break;
	case SHIM_IMAGE_MACHINE:
		record.untraced = "it is for another processor, or of another word size";
		record.launch.preload = NULL;
		break;
	/*
	 * The library remains in the plan, because such a program may execute other programs that
	 * the library can enter.
	 */
	case SHIM_IMAGE_STATIC:
		record.untraced = "it is statically linked";
		subject = "its own calls";
		is_said = !record.plan.quiet;
		if (is_said && preload_is_sought(program))
			say("%s: its lines with POSIX_TRACE_WEAK_NP record nothing, because it is "
			    "statically linked; see trace_point_np(3)", program);
		break;
	case SHIM_IMAGE_RIGHTS:
		record.untraced = "it is set-user-ID or set-group-ID";
		subject = "its own calls";
		is_said = !record.plan.quiet;
		break;
	/*
	 * If the program is unknown or missing, nothing is done here, because execvp() reports the
	 * error.
	 */
	case SHIM_IMAGE_UNKNOWN:
	case SHIM_IMAGE_UNOPENED:
	case SHIM_IMAGE_GLIBC:
		return true;
	}
	if (patch_is_wanted(&record.functions) && !has_libraries(program))
		return false;
	why = enter_by_kernel(&record.plan, &record.kernel);
	if (!why && !record.plan.quiet)
		say("%s: system calls by kernel tracing: %s", program, record.untraced);
	else if (why && is_said)
		say("%s: %s cannot be traced: %s; no kernel tracing: %s", program, subject,
		    record.untraced, why);
	return true;
}

/*
 * Plans the functions and probes. Returns false after it printed an error. It is an error if no
 * function can be traced, because a user who names functions does not want a trace without them.
 */
static bool prepare_functions(char *const argv[])
{
	const char *program = argv[0];

	if (!record.launch.preload || record.untraced) {
		if (!traps_are_permitted(&record.functions.traps)) {
			say("--function and --probe: those of %s cannot be traced%s%s; no uprobes: "
			    "%s", program, record.untraced ? ": " : "",
			    record.untraced ? record.untraced : "", record.functions.traps.why);
			return false;
		}
		record.functions.traps.is_forced = true;
	}
	return patch_plan(&record.functions, argv, &record.launch.patch);
}

/*
 * Parses the options, prepares the library, and records. The name of the program ends the options
 * of the command (ends_options), since the program's own options follow.
 */
static int record_run_command(int argc, char **argv)
{
	const char *environment = getenv("POSIXTRACE_TRACE"), *wrong;
	bool has_program, wants_none;
	int option, status;

	record.plan.inherit = true; /* --follow is the default */
	record.plan.path = DEFAULT_LOG;
	while ((option = tool_option(argc, argv, &record_command)) != -1) {
		if (option == 'h')
			return tool_help(&record_command);
		if (!take_option(option))
			return tool_usage(&record_command);
	}
	has_program = optind < argc;
	/*
	 * The families are changed only if the options fit together. If the user has chosen no
	 * families by --trace or the environment, --event adds families to the default families.
	 * --function adds the family func, and --data adds its number of bytes.
	 */
	wrong = find_contradiction(has_program);
	if (!record.launch.families && environment && strcmp(environment, "none") != 0 &&
	    !(record.launch.families = strdup(environment)))
		wrong = strerror(ENOMEM);
	if (!wrong && !environment &&
	    !families_add_needed(&record.launch.families, &record.plan.choose))
		return RECORD_FAILURE;
	if (!wrong && record.functions.patterns &&
	    !preload_take_families(&record.launch.families,
				   record.launch.families ? "func" : "default,func"))
		return RECORD_FAILURE;
	if (!wrong && record.plan.content &&
	    !preload_add_data(&record.launch.families, record.plan.content))
		return RECORD_FAILURE;
	if (!wrong && record.kernel.stack.globs &&
	    !stack_add(&record.kernel.stack, &record.launch.families, &record.plan))
		return RECORD_FAILURE;
	if (wrong)
		say("record: %s", wrong);
	if (wrong || !capture_is_possible(&record.plan, "record"))
		return tool_usage(&record_command);
	record.plan.looks_at_blocked = blocked_is_wanted(record.launch.families,
							 record.kernel.sched);
	enter_allow_traps(&record.plan, &record.functions.traps);
	record.kernel.traps = &record.functions.traps;
	/*
	 * A stream in loop mode must be written at some moment. By default this is the end of the
	 * program.
	 */
	if (record.plan.stream_policy == POSIX_TRACE_LOOP && !record.snapshot)
		record.snapshot = RECORD_SNAPSHOT_EXIT;
	wants_none = record.launch.families && !strcmp(record.launch.families, "none");
	if (has_program) {
		record.launch.argv = argv + optind;
		record.plan.known = preload_types;
		/*
		 * --event must not exclude the command line, the exit status and the events of
		 * --crash.
		 */
		if (record.plan.choose.include.count &&
		    (!capture_take_event(&record.plan, LAUNCH_COMMAND_EVENT) ||
		     !capture_take_event(&record.plan, ENDED_EVENT) ||
		     (record.crash && !capture_take_event(&record.plan, CRASH_EVENTS))))
			return RECORD_FAILURE;
		if (!find_preload(argv[optind]))
			return RECORD_FAILURE;
		if (record.launch.preload && !drop_preload_if_foreign(argv[optind]))
			return RECORD_FAILURE;
		if (patch_is_wanted(&record.functions) &&
		    !prepare_functions(argv + optind))
			return RECORD_FAILURE;
	}
	if (record.plan.choose.include.count &&
	    (!capture_take_event(&record.plan, UNTRACED_EVENT) ||
	     (record.plan.budget && !capture_take_event(&record.plan, BUDGET_EVENT))))
		return RECORD_FAILURE;
	/* find_preload() removes the list "none", because nothing is preloaded then. */
	record.plan.families = wants_none ? "none" : record.launch.families;
	record.kernel.has_library = record.launch.preload && !record.untraced;
	record.kernel.choose = &record.plan.choose;
	record.kernel.families = record.launch.families;
	record.kernel.alone = !record.plan.inherit;
	status = record_run(&record);
	patches_fini(&record.functions);
	choose_fini(&record.plan.choose);
	return status;
}

const struct tool_command record_command = {
	.name = "record",
	.usage = "[OPTION]... [--] PROGRAM [ARGUMENT]...\n"
		"[OPTION]... -p PID",
	.about =
		"Runs PROGRAM, or attaches to the running process PID, and records its events "
		"and those of its children into a log. Prints at the end how many events were "
		"recorded and lost. PROGRAM needs no preparation.",
	.options = option_rows,
	.notes =
		"Exit status: 0 ok; the status of PROGRAM, or 128 and the signal's number if it "
		"was killed; 125 record itself failed, 126 PROGRAM cannot be executed, 127 it "
		"is not found, 2 usage, 4 see --fail-on-loss.",
	.operands = OPTION_PROGRAM,
	.ends_options = true,
	.run = record_run_command,
};
