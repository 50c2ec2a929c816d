/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * doctor.c - the command doctor: prints a line for each requirement of tracing. It tries each
 * service of the system and does not rely on version numbers.
 */
#include "doctor/doctor.h"

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "live/process.h"

extern const struct tool_command doctor_command;

static const char *const verdict_names[] = {
	[DOCTOR_WORKS] = "works",
	[DOCTOR_UNKNOWN] = "unknown",
	[DOCTOR_LIMITED] = "limited",
	[DOCTOR_FAILS] = "fails",
};

/* The options and the result of this run. The command runs once in a process. */
static struct {
	bool json;
	enum doctor_verdict worst;
} run;

void doctor_say(doctor_report *report, const char *name, enum doctor_verdict verdict,
		const char *advice, const char *format, ...)
{
	struct doctor_finding finding = { .name = name, .verdict = verdict };
	va_list args;

	va_start(args, format);
	vsnprintf(finding.fact, sizeof(finding.fact), format, args);
	va_end(args);
	if (advice)
		snprintf(finding.advice, sizeof(finding.advice), "%s", advice);
	report(&finding);
}

/* Writes a finding as a line of text, and its advice into a line below. */
static void put_text(const struct doctor_finding *finding)
{
	out_printf(&out_stdout, "%-8s %-17s ", verdict_names[finding->verdict], finding->name);
	/* Facts contain names of programs and files, which may have control characters. */
	text_safe(&out_stdout, finding->fact, strlen(finding->fact));
	out_char(&out_stdout, '\n');
	if (*finding->advice) {
		out_printf(&out_stdout, "%-8s %-17s -> ", "", "");
		text_safe(&out_stdout, finding->advice, strlen(finding->advice));
		out_char(&out_stdout, '\n');
	}
}

/* Writes a finding as a JSON object on a line of its own. */
static void put_json(const struct doctor_finding *finding)
{
	struct json json = json_begin(&out_stdout);

	json_object(&json, NULL);
	json_string_member(&json, "requirement", finding->name);
	json_string_member(&json, "verdict", verdict_names[finding->verdict]);
	json_string_member(&json, "fact", finding->fact);
	if (*finding->advice)
		json_string_member(&json, "advice", finding->advice);
	json_end_object(&json);
	out_char(&out_stdout, '\n');
}

/* Prints a finding in the form that the user chose, and keeps the worst verdict. */
static void put_finding(const struct doctor_finding *finding)
{
	if (finding->verdict > run.worst)
		run.worst = finding->verdict;
	(run.json ? put_json : put_text)(finding);
}

enum { OPT_JSON = 256 };

static const struct option_row option_rows[] = {
	{ .rows = process_rows },
	{ "json", OPT_JSON, NULL, "a JSON object a line" },
	OPTION_HELP,
	OPTION_END
};

static int examine_all(struct process_list *list, int argc, char **argv)
{
	int option;

	while ((option = tool_option(argc, argv, &doctor_command)) != -1) {
		switch (option) {
		case 'h':
			return tool_help(&doctor_command);
		case OPT_JSON:
			run.json = true;
			break;
		case 'p':
			if (!process_add(list, "--pid", optarg))
				return tool_usage(&doctor_command);
			break;
		default:
			return tool_usage(&doctor_command);
		}
	}
	/*
	 * All arguments are checked before the first finding, so that no error of usage follows the
	 * findings about the machine.
	 */
	if (!process_add_operands(list, "doctor", argc, argv))
		return tool_usage(&doctor_command);
	/* Shared memory can exceed the limit of file sizes. The calls then return EFBIG. */
	signal(SIGXFSZ, SIG_IGN);
	doctor_machine(put_finding);
	for (size_t i = 0; i < list->count; i++)
		doctor_process(list->pid[i], put_finding);
	return run.worst == DOCTOR_FAILS ? TOOL_FAILURE : TOOL_OK;
}

/* Runs the command and frees the list in any case. */
static int doctor_run(int argc, char **argv)
{
	struct process_list list = { .pid = NULL };
	int status = examine_all(&list, argc, argv);

	free(list.pid);
	return status;
}

const struct tool_command doctor_command = {
	.name = "doctor",
	.usage = "[OPTION]... [PID]...",
	.about =
		"Examines what tracing needs of this machine, and of each process PID: a line for "
		"each requirement with what was found, and below it what can be done.\n"
		"  works    available\n"
		"  unknown  the answer cannot be found from here\n"
		"  limited  the line says what is missing; everything else works\n"
		"  fails    no trace is possible without it",
	.options = option_rows,
	.notes =
		"Exit status: 0 nothing fails, 1 something fails, 2 usage.",
	.operands = OPTION_PID,
	.run = doctor_run,
};
