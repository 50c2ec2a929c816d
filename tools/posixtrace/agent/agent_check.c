/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* agent_check.c - agent --check: prints which processes a valid configuration would record now. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/vec.h"
#include "inject/target.h"
#include "live/process.h"

/* The processes that the configuration names: all that one search of /proc has found. */
struct searched {
	struct seen {
		pid_t pid;
		const struct config_record *record;
		char *executable;
	} *seen;
	size_t count;
	bool failed; /* memory was lacking */
};

/*
 * Returns true if the library cannot be loaded into the process, and stores the messages about the
 * reason. The agent would find the same reason.
 */
static bool is_refused(pid_t pid, char reason[RECORDER_REASON])
{
	struct target target;
	enum target_verdict verdict;

	say_keep(reason, RECORDER_REASON);
	verdict = target_examine(&target, pid, false);
	if (verdict == TARGET_LEAVE && target.err)
		process_say_why(pid, target.err);
	target_fini(&target);
	say_keep(NULL, 0);
	return *agent_one_line(reason);
}

/* Prints whether the agent would record the process. */
static void show_verdict(const struct seen *found)
{
	const char *families = found->record->families;
	char reason[RECORDER_REASON], lead[40];
	int len = snprintf(lead, sizeof(lead), "process %d: ", (int)found->pid);

	if (find_uses_library(found->pid)) {
		out_str(&out_stdout, "recorded\n");
	} else if (!found->record->injects) {
		out_str(&out_stdout,
			"not recorded: it does not use libposixtrace, and inject is no\n");
	} else if ((families && !strcmp(families, "none")) || !is_refused(found->pid, reason)) {
		out_str(&out_stdout, "recorded\n");
	} else {
		/* The line names the process already, so the lead "process N: " is omitted. */
		out_str(&out_stdout, "not recorded: ");
		out_str(&out_stdout, reason + (strncmp(reason, lead, (size_t)len) ? 0 : len));
		out_char(&out_stdout, '\n');
	}
}

/* find_processes() calls this function for each process that any section names. */
static void keep_process(void *arg, const struct found *found)
{
	struct searched *searched = arg;
	char *executable = strdup(found->executable);

	if (!executable || !vec_grow(&searched->seen, searched->count, 1)) {
		free(executable);
		searched->failed = true;
		return;
	}
	searched->seen[searched->count++] = (struct seen){ found->pid, found->record, executable };
}

static void show_process(const struct seen *found)
{
	out_printf(&out_stdout, "  process %d (", (int)found->pid);
	text_safe(&out_stdout, found->executable, strlen(found->executable));
	out_str(&out_stdout, "): ");
	show_verdict(found);
}

/*
 * Prints the triggers that concern a section. A section without a trigger is not a fault, because
 * the user may want logs only on request. But the pattern of a trigger may also be mistyped, so a
 * line reports that the section has no trigger.
 */
static void show_triggers(const struct config *config, const struct config_record *record)
{
	size_t shown = 0;

	for (size_t i = 0; i < config->triggers; i++) {
		const struct config_trigger *trigger = config->trigger[i];

		if (!config_matches(&trigger->record, record->name))
			continue;
		out_printf(&out_stdout, "  trigger %s: %s", trigger->name, trigger->when_text);
		if (trigger->last_ns)
			out_printf(&out_stdout, ", the last %gs", (double)trigger->last_ns / 1e9);
		out_char(&out_stdout, '\n');
		shown++;
	}
	if (!shown)
		out_str(&out_stdout, "  no trigger: logs are written on request only\n");
}

/* Returns whether a process executes the program with this path. */
static bool is_executed(const struct searched *searched, const char *path)
{
	for (size_t i = 0; i < searched->count; i++)
		if (!strcmp(searched->seen[i].executable, path))
			return true;
	return false;
}

/*
 * Prints each path of the section without wildcards that cannot be in /proc/PID/exe of a process in
 * this mount namespace: there is no such file, or the path is not the path without links, which
 * /proc/PID/exe has. A process in another mount namespace can have such a path. So the function
 * prints facts and no conclusion, and prints nothing if a process has the path. The agent itself
 * does not examine the files, because a file server that does not answer would block it.
 */
static void show_paths(const struct searched *searched, const struct config_record *record)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < record->executable.count; i++) {
		const char *given = record->executable.word[i], *real;

		if (strpbrk(given, "*?[\\"))
			continue;
		real = realpath(given, path);
		if ((real ? !strcmp(real, given) : errno != ENOENT && errno != ENOTDIR) ||
		    is_executed(searched, given))
			continue;
		out_str(&out_stdout, "  executable ");
		text_safe(&out_stdout, given, strlen(given));
		if (real) {
			out_str(&out_stdout, ": here this program has the path ");
			text_safe(&out_stdout, real, strlen(real));
			out_char(&out_stdout, '\n');
		} else {
			out_str(&out_stdout, ": no such file here\n");
		}
	}
}

/*
 * Prints a section with its processes. A process belongs to the first section that names it. If the
 * search has failed, "searched" is NULL.
 */
static void show_record(const struct config *config, const struct config_record *record,
			const struct searched *searched)
{
	size_t processes = 0;

	out_printf(&out_stdout, "record %s: %zu byte%s for each process, inject %s", record->name,
		   record->size, text_plural(record->size), record->injects ? "yes" : "no");
	if (config_budget(config, record) > 0)
		out_printf(&out_stdout, ", budget %.3g%%", 100 * config_budget(config, record));
	out_char(&out_stdout, '\n');
	if (searched)
		show_paths(searched, record);
	show_triggers(config, record);
	for (size_t i = 0; searched && i < searched->count; i++)
		if (searched->seen[i].record == record) {
			show_process(&searched->seen[i]);
			processes++;
		}
	if (searched && !processes)
		out_str(&out_stdout, "  no process now\n");
}

/* The function searches /proc once. It creates no folder and no stream. */
int agent_check(const char *path)
{
	struct config *config = config_read(path);
	struct searched searched = { .count = 0 };
	size_t hidden;
	bool good;

	if (!config)
		return TOOL_FAILURE;
	/* The path is escaped: although the user gave it, it may contain any bytes. */
	text_safe(&out_stdout, path, strlen(path));
	out_printf(&out_stdout, ": valid: %zu section%s [record], %zu [trigger]\n", config->records,
		   text_plural(config->records), config->triggers);
	good = find_processes(config, keep_process, &searched, &hidden);
	if (searched.failed)
		say("%s", strerror(ENOMEM));
	good = good && !searched.failed;
	for (size_t i = 0; i < config->records; i++)
		show_record(config, config->record[i], good ? &searched : NULL);
	for (size_t i = 0; i < searched.count; i++)
		free(searched.seen[i].executable);
	free(searched.seen);
	config_drop(config);
	return good ? TOOL_OK : TOOL_FAILURE;
}
