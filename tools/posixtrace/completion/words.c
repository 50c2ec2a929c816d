/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * words.c - prints words for which the scripts ask while the user types: event types and processes.
 *
 * Logs, other processes and their names may be hostile. The shell uses each line as a word, and
 * shows it. So a name with an unsafe character, such as a line end, is left out.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#include "base/path.h"
#include "base/procfile.h"
#include "base/say.h"
#include "base/text.h"
#include "completion/shells.h"
#include "log/logfile.h"

/*
 * Prints the event types of a log. A name is unsafe if its escaped form is longer than the name
 * itself.
 */
static int events_of_log(const char *path)
{
	struct logfile log;
	int status = logfile_open(&log, path, NULL);

	if (status)
		return status;
	for (size_t i = 0; i < log.types; i++) {
		const struct log_type *type = log.list[i];

		if (type->name_len && type->shown_len == type->name_len)
			out_printf(&out_stdout, "%s\n", type->name);
	}
	logfile_close(&log);
	return TOOL_OK;
}

/* Returns whether the text is not empty and has only safe characters. */
static bool is_one_word(const char *text)
{
	size_t len = strlen(text);
	uint32_t character;

	for (size_t i = 0, bytes; i < len; i += bytes) {
		bytes = text_character(text + i, len - i, &character);
		if (!bytes || text_is_unsafe(character))
			return false;
	}
	return len > 0;
}

/* A visitor for posix_trace_observe_np(). */
static void print_names(void *arg, const struct posix_trace_stream_np *stream)
{
	(void)arg;
	for (unsigned i = 0; i < stream->event_names; i++) {
		const char *name = stream->event_name[i];

		if (name && is_one_word(name))
			out_printf(&out_stdout, "%s\n", name);
	}
}

int shells_events(const char *argument)
{
	const bool is_number = argument[strspn(argument, "0123456789")] == '\0';
	int err;

	/* A log may have a number as its name. */
	if (!*argument || !is_number || !access(argument, F_OK))
		return events_of_log(argument);
	err = posix_trace_observe_np((pid_t)strtol(argument, NULL, 10), print_names, NULL);
	if (!err)
		return TOOL_OK;
	say("completion: process %s: %s", argument, strerror(err));
	return TOOL_FAILURE;
}

/*
 * The kernel shows the program of a process, which is the target of the link exe, only to users who
 * may trace the process. A thread of the kernel and a process that has ended have no program.
 */
int shells_processes(void)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	if (!folder) {
		say("completion: /proc: %s", strerror(errno));
		return TOOL_FAILURE;
	}
	while ((entry = readdir(folder))) {
		pid_t pid = (pid_t)atoi(entry->d_name);
		char program[PATH_MAX];
		const char *name;

		if (pid <= 0 || pid == getpid() ||
		    !procfile_program(pid, program, sizeof(program)))
			continue;
		name = path_last(program);
		out_str(&out_stdout, entry->d_name);
		if (is_one_word(name))
			out_printf(&out_stdout, "\t%s", name);
		out_char(&out_stdout, '\n');
	}
	closedir(folder);
	return TOOL_OK;
}
