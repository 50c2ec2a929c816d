/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* agent_check.c - agent --check: what a valid configuration would record now. */
#include <string.h>

#include "agent/agent.h"
#include "base/out.h"
#include "base/text.h"
#include "base/tool.h"

/* A section of which the processes are printed, and their number. */
struct shown {
	const struct config_record *record;
	size_t processes;
};

/*
 * A visitor for find_processes(). A process belongs to the first section that names it, so those of
 * other sections are skipped here; they are printed with their own section.
 */
static void show_process(void *arg, const struct found *found)
{
	struct shown *shown = arg;

	if (found->record != shown->record)
		return;
	shown->processes++;
	out_printf(&out_stdout, "  process %d (", (int)found->pid);
	text_safe(&out_stdout, found->executable, strlen(found->executable));
	out_str(&out_stdout,
		found->record->injects || find_uses_library(found->pid)
			? "): recorded\n"
			: "): not recorded: it does not use libposixtrace, and inject is no\n");
}

/*
 * Prints the triggers that concern a section. A section without one is no fault: logs may be wanted
 * on request only. But it may also be a mistyped pattern, so a line says so.
 */
static void show_triggers(const struct config *config, const struct config_record *record)
{
	size_t shown = 0;

	for (size_t i = 0; i < config->triggers; i++) {
		const struct config_trigger *trigger = config->trigger[i];

		if (!config_matches(&trigger->record, record->name))
			continue;
		out_printf(&out_stdout, "  trigger %s: %s\n", trigger->name, trigger->when_text);
		shown++;
	}
	if (!shown)
		out_str(&out_stdout, "  no trigger: logs are written on request only\n");
}

/*
 * /proc is searched once for each section, so that the processes are printed below it. Nothing is
 * created: neither the folder nor a stream.
 */
int agent_check(const char *path)
{
	struct config *config = config_read(path);
	int status = TOOL_OK;

	if (!config)
		return TOOL_FAILURE;
	/* The path is the user's own, but may have any bytes. */
	text_safe(&out_stdout, path, strlen(path));
	out_printf(&out_stdout, ": valid: %zu section%s [record], %zu [trigger]\n", config->records,
		   text_plural(config->records), config->triggers);
	for (size_t i = 0; i < config->records; i++) {
		struct shown shown = { .record = config->record[i] };

		out_printf(&out_stdout, "record %s: %zu bytes for each process, inject %s\n",
			   shown.record->name, shown.record->size,
			   shown.record->injects ? "yes" : "no");
		show_triggers(config, shown.record);
		if (!find_processes(config, show_process, &shown))
			status = TOOL_FAILURE;
		else if (!shown.processes)
			out_str(&out_stdout, "  no process now\n");
	}
	config_drop(config);
	return status;
}
