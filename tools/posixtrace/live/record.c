/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* record.c - the command record: its options and their check. */
#include "live/record.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/say.h"
#include "base/tool.h"
#include "live/image.h"
#include "live/preload.h"
#include "live/process.h"
#include "log/preload_types.h"

extern const struct tool_command record_command;

/* The manual page and the completion must have the same options; tests compare them. */
static const char help[] =
	"Usage: posixtrace record [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       posixtrace record [OPTION]... -p PID\n"
	"Runs PROGRAM, or takes the running process PID, and traces it and its children into a "
		"log;\n"
	"says at the end how much was recorded and lost. The program needs no preparation.\n"
	"\n"
	"  -o, --output LOG         the log; posixtrace.ptl by default; one that is there already "
		"is\n"
	"                           kept as LOG.old\n"
	"      --force              it is overwritten\n"
	"      --trace FAMILIES     what is traced of the calls to the C library: alloc, lock, "
		"lock-hold,\n"
	"                           io, stdio, net, thread, process, signal, time, dl, func, "
		"separated\n"
	"                           by commas; all, default, none; a minus before a name leaves "
		"it out;\n"
	"                           may be repeated\n"
	"      --function PATTERN   functions whose name matches, from entry to return: GLOB, or\n"
	"                           GLOB@MODULE for those of one file; may be repeated\n"
	"  -e, --event GLOB         only event types whose name matches; may be repeated;\n"
	"                           a ! before the pattern: none that match\n"
	"  -x, --exclude GLOB       no event types whose name matches; may be repeated\n"
	"      --follow             also its children; the default\n"
	"      --no-follow          the program alone\n"
	"      --wait               until its children have ended too\n"
	"  -d, --duration TIME      end after this time: 10, 2.5s, 300ms, 5m, 1h; the program "
		"goes on\n"
	"      --policy POLICY      when the stream is full: flush (the default), until-full, "
		"loop\n"
	"      --loop               as --policy loop: the log has the end of the trace\n"
	"      --snapshot-on WHEN   with --loop, write what the stream holds: at the exit (the "
		"default),\n"
	"                           on SIGUSR1, at a crash; several are separated by commas\n"
	"  -s, --size BYTES         of the stream: 4M, or another number with K, M or G\n"
	"      --log-policy POLICY  when the log is full: append (never, the default), "
		"until-full,\n"
	"                           loop\n"
	"      --log-size BYTES     when that is: 1M, or another number with K, M or G\n"
	"  -p, --pid PID            a process that runs already, instead of a program\n"
	"  -q, --quiet              say nothing but what is wrong or lost\n"
	"      --fail-on-loss       exit with 4 when events were lost and the program ended well\n"
	"  -h, --help               this text\n"
	"\n"
	"Exit status: 0 ok; that of PROGRAM, 128 and the signal's number if it was killed; 125 "
		"record itself\n"
	"failed, 126 PROGRAM cannot be executed, 127 it is not found, 2 usage, 4 see "
		"--fail-on-loss.\n";

#define DEFAULT_LOG "posixtrace.ptl"

enum {
	OPT_TRACE = 256,
	OPT_FUNCTION,
	OPT_FOLLOW,
	OPT_NO_FOLLOW,
	OPT_WAIT,
	OPT_POLICY,
	OPT_LOOP,
	OPT_SNAPSHOT_ON,
	OPT_LOG_POLICY,
	OPT_LOG_SIZE,
	OPT_FAIL_ON_LOSS,
	OPT_FORCE,
};

static const struct option long_options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "trace", required_argument, NULL, OPT_TRACE },
	{ "function", required_argument, NULL, OPT_FUNCTION },
	{ "event", required_argument, NULL, 'e' },
	{ "exclude", required_argument, NULL, 'x' },
	{ "follow", no_argument, NULL, OPT_FOLLOW },
	{ "no-follow", no_argument, NULL, OPT_NO_FOLLOW },
	{ "wait", no_argument, NULL, OPT_WAIT },
	{ "duration", required_argument, NULL, 'd' },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "loop", no_argument, NULL, OPT_LOOP },
	{ "snapshot-on", required_argument, NULL, OPT_SNAPSHOT_ON },
	{ "size", required_argument, NULL, 's' },
	{ "log-policy", required_argument, NULL, OPT_LOG_POLICY },
	{ "log-size", required_argument, NULL, OPT_LOG_SIZE },
	{ "quiet", no_argument, NULL, 'q' },
	{ "fail-on-loss", no_argument, NULL, OPT_FAIL_ON_LOSS },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

/* The options of this run. The command runs once in a process. */
static struct record record = { .plan = CAPTURE_PLAN_DEFAULT };

/* Parses --snapshot-on, a list. Returns false after it printed an error. */
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
			say("--snapshot-on %s: there are exit, crash and SIGUSR1", when);
			return false;
		}
		record.snapshot |= names[i].bit;
		p += len;
		if (!*p)
			return true;
	}
}

/*
 * Adds a value of --trace. Several values form one list, because a later name may change an earlier
 * one.
 */
static bool take_families(const char *families)
{
	static char *joined;
	char *all = NULL;

	if (!preload_families("--trace", families))
		return false;
	if (asprintf(&all, "%s%s%s", joined ? joined : "", joined ? "," : "", families) < 0) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	free(joined);
	/* The string exists until the end of the process. */
	record.launch.families = joined = all;
	return true;
}

/* Processes one option. Returns false after an error was printed. */
static bool take_option(int option)
{
	switch (option) {
	case 'p':
		return process_once("--pid", optarg, &record.plan.pid);
	case 'o':
		record.plan.path = optarg;
		return true;
	case 'd':
		return quantity_span("--duration", optarg, &record.plan.duration_ns);
	case 'e':
		return *optarg == '!' ? capture_take_exclude(&record.plan, optarg + 1) :
					capture_take_event(&record.plan, optarg);
	case 'x':
		return capture_take_exclude(&record.plan, optarg);
	case 's':
		return quantity_bytes("--size", optarg, &record.plan.stream_size);
	case 'q':
		record.quiet = true;
		return true;
	case OPT_TRACE:
		return take_families(optarg);
	case OPT_FUNCTION:
		return patches_add(&record.functions, optarg);
	case OPT_FOLLOW:
	case OPT_NO_FOLLOW:
		record.plan.inherit = option == OPT_FOLLOW;
		return true;
	case OPT_WAIT:
		record.wait_for_children = true;
		return true;
	case OPT_POLICY:
		return capture_take_policy(&record.plan, optarg);
	/* The same as --policy loop. */
	case OPT_LOOP:
		record.plan.stream_policy = POSIX_TRACE_LOOP;
		return true;
	case OPT_SNAPSHOT_ON:
		return take_snapshot_on(optarg);
	case OPT_LOG_POLICY:
		return capture_take_log_policy(&record.plan, optarg);
	case OPT_LOG_SIZE:
		return quantity_bytes("--log-size", optarg, &record.plan.log_size);
	case OPT_FAIL_ON_LOSS:
		record.fail_on_loss = true;
		return true;
	case OPT_FORCE:
		record.force = true;
		return true;
	}
	return false;
}

/* Returns the first contradiction between the options as a message, NULL if there is none. */
static const char *find_contradiction(bool has_program)
{
	if (has_program && record.plan.pid)
		return "a program and -p: one of the two";
	if (!has_program && !record.plan.pid)
		return "which program?";
	/* The environment of a running process cannot be changed. */
	if (!has_program && record.launch.families)
		return "--trace has no meaning for a process that runs already";
	if (!has_program && record.functions.patterns)
		return "--function has no meaning for a process that runs already";
	if (record.functions.patterns && record.launch.families &&
	    !strcmp(record.launch.families, "none"))
		return "--function has no meaning with --trace=none";
	if (!has_program && (record.snapshot & RECORD_SNAPSHOT_CRASH))
		return "--snapshot-on crash needs a program that record itself starts";
	if (record.snapshot && record.plan.stream_policy != POSIX_TRACE_LOOP)
		return "--snapshot-on has no meaning without --loop";
	if (record.snapshot && !(record.snapshot & RECORD_SNAPSHOT_EXIT) &&
	    record.plan.log_policy != POSIX_TRACE_APPEND)
		return "--snapshot-on without exit needs a log that is never full";
	if (record.wait_for_children && !record.plan.inherit)
		return "--wait has no meaning with --no-follow";
	return NULL;
}

/*
 * Finds the library to preload, unless the user wants none. Returns false after it printed an
 * error.
 */
static bool find_preload(void)
{
	const char *families = record.launch.families;

	/* Without the library the program's own trace points are recorded. */
	if (families && !strcmp(families, "none")) {
		record.launch.families = NULL;
		return true;
	}
	record.launch.preload = preload_find();
	return record.launch.preload;
}

/*
 * Does without the library if the program's dynamic linker would fail or complain because of it.
 * The program then runs with its own trace points only, which a message reports.
 */
static void drop_preload_if_foreign(const char *program)
{
	char loader[SHIM_LOADER_BYTES];

	switch (shim_image_find(program, getenv("PATH"), loader)) {
	case SHIM_IMAGE_FOREIGN:
		if (*loader)
			say("%s: its calls cannot be traced: its C library is another one than "
			    "glibc (%s)",
			    program, loader);
		else
			say("%s: calls cannot be traced: this is the dynamic linker of another C "
			    "library than glibc",
			    program);
		record.launch.preload = NULL;
		break;
	case SHIM_IMAGE_MACHINE:
		say("%s: its calls cannot be traced: it is for another processor, or of another "
		    "word size",
		    program);
		record.launch.preload = NULL;
		break;
	case SHIM_IMAGE_STATIC:
		if (!record.quiet) /* a static program may still execute dynamic ones */
			say("%s: its own calls cannot be traced: it is statically linked", program);
		break;
	/* An unknown or missing program is left to execvp(), which reports the error. */
	case SHIM_IMAGE_UNKNOWN:
	case SHIM_IMAGE_GLIBC:
		break;
	}
}

/*
 * Plans the functions of --function. Their family is added to those of --trace. Returns false after
 * it printed an error.
 */
static bool prepare_functions(const char *program)
{
	if (!record.launch.preload) {
		say("--function: the functions of %s cannot be traced", program);
		return false;
	}
	return take_families(record.launch.families ? "func" : "default,func") &&
	       patch_plan(&record.functions, program, record.quiet, &record.launch.patch);
}

/*
 * Parses the options, prepares the library, and records. The + in the letters ends the options at
 * the program, whose own options follow.
 */
static int record_run_command(int argc, char **argv)
{
	const char *wrong;
	bool has_program;
	int option, status;

	record.plan.inherit = true; /* --follow is the default */
	record.plan.path = DEFAULT_LOG;
	while ((option = tool_option(argc, argv, "+:p:o:e:x:d:s:qh", long_options)) != -1) {
		if (option == 'h')
			return tool_help(&record_command);
		if (!take_option(option))
			return tool_usage(&record_command);
	}
	has_program = optind < argc;
	wrong = find_contradiction(has_program);
	if (wrong)
		say("record: %s", wrong);
	if (wrong || !capture_is_possible(&record.plan, "record"))
		return tool_usage(&record_command);
	/* A stream in loop mode needs a moment at which it is written. */
	if (record.plan.stream_policy == POSIX_TRACE_LOOP && !record.snapshot)
		record.snapshot = RECORD_SNAPSHOT_EXIT;
	if (has_program) {
		record.launch.argv = argv + optind;
		record.plan.known = preload_types;
		/* The event with the command line is recorded whatever the patterns are. */
		if (record.plan.choose.include.count &&
		    !capture_take_event(&record.plan, LAUNCH_COMMAND_EVENT))
			return RECORD_FAILURE;
		if (!find_preload())
			return RECORD_FAILURE;
		if (record.launch.preload)
			drop_preload_if_foreign(argv[optind]);
		if (record.functions.patterns && !prepare_functions(argv[optind]))
			return RECORD_FAILURE;
	}
	status = record_run(&record);
	patches_fini(&record.functions);
	choose_fini(&record.plan.choose);
	return status;
}

const struct tool_command record_command = {
	.name = "record",
	.help = help,
	.run = record_run_command,
};
