/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* list.c - the command list: a table of the active streams on this machine. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "live/list_probes.h"
#include "live/streams.h"
#include "log/policy.h"

extern const struct tool_command list_command;

/*
 * A column of the table. The width of the column is the width of its widest content, because names
 * have any length.
 */
struct column {
	const char *title;
	size_t width;
	bool right;
	void (*put)(struct out *out, const struct streams_one *one);
};

static void put_pid(struct out *out, const struct streams_one *one)
{
	out_signed(out, one->is.pid);
}

/* Programs choose their own names and the names of streams, so all these names are escaped. */
static void put_program(struct out *out, const struct streams_one *one)
{
	text_name(out, one->program, strlen(one->program));
}

static void put_name(struct out *out, const struct streams_one *one)
{
	text_name(out, one->is.name, strlen(one->is.name));
}

/* Writes a policy as one word, as in the options. */
static void put_word(struct out *out, const char *policy)
{
	for (; *policy; policy++)
		out_char(out, *policy == ' ' ? '-' : *policy);
}

static void put_policy(struct out *out, const struct streams_one *one)
{
	put_word(out, policy_name(one->is.stream_full_policy));
}

static void put_log(struct out *out, const struct streams_one *one)
{
	put_word(out, one->is.log_full_policy ? policy_name(one->is.log_full_policy) : "-");
}

static void put_status(struct out *out, const struct streams_one *one)
{
	out_str(out, streams_status(one));
}

static void put_fill(struct out *out, const struct streams_one *one)
{
	out_unsigned(out, streams_fill_percent(one));
	out_char(out, '%');
}

static void put_recorded(struct out *out, const struct streams_one *one)
{
	out_unsigned(out, one->is.recorded);
}

static void put_lost(struct out *out, const struct streams_one *one)
{
	out_unsigned(out, streams_lost(one));
}

/*
 * Writes the creator. The creator may have ended, or its number may be unknown because the creator
 * is in another PID namespace.
 */
static void put_creator(struct out *out, const struct streams_one *one)
{
	if (one->is.creator > 0) {
		out_signed(out, one->is.creator);
		out_str(out, " (");
		text_name(out, one->creator_program, strlen(one->creator_program));
		out_char(out, ')');
	} else {
		out_str(out, one->is.creator ? "ended" : "?");
	}
}

/* "by N" is the number of processes that inherited the stream so far. */
static void put_inherited(struct out *out, const struct streams_one *one)
{
	out_str(out, one->is.inheritance == POSIX_TRACE_INHERITED ? "yes" : "no");
	if (one->is.members)
		out_printf(out, ", by %zu", one->is.members);
}

/* The columns in the order of the output; true: aligned to the right, for numbers. */
static struct column columns[] = {
	{ "PID", 0, true, put_pid },
	{ "PROGRAM", 0, false, put_program },
	{ "STREAM", 0, false, put_name },
	{ "POLICY", 0, false, put_policy },
	{ "LOG", 0, false, put_log },
	{ "STATUS", 0, false, put_status },
	{ "FILL", 0, true, put_fill },
	{ "EVENTS", 0, true, put_recorded },
	{ "LOST", 0, true, put_lost },
	{ "CREATOR", 0, false, put_creator },
	{ "INHERITED", 0, false, put_inherited },
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/*
 * Returns the content of a cell. If "one" is NULL, returns the title of the column. The result is
 * valid until the next call.
 */
static const struct out *list_content(const struct column *column, const struct streams_one *one)
{
	/* A buffer without a file. A cell is far shorter than the buffer. */
	static struct out scratch = { .fd = -1 };

	scratch.used = 0;
	if (one)
		column->put(&scratch, one);
	else
		out_str(&scratch, column->title);
	return &scratch;
}

/* Writes a line. The last column is not padded. */
static void put_line(struct out *out, const struct streams_one *one)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct column *column = &columns[i];
		const struct out *text = list_content(column, one);
		size_t width = text_columns(text->bytes, text->used);
		size_t gap = i + 1 < COLUMNS ? column->width - width : 0;

		if (!column->right)
			out_bytes(out, text->bytes, text->used);
		for (; gap; gap--)
			out_char(out, ' ');
		if (column->right)
			out_bytes(out, text->bytes, text->used);
		out_str(out, i + 1 < COLUMNS ? "  " : "\n");
	}
}

/*
 * Widens the columns to the contents of a line. put_line() later writes the same contents, because
 * the streams are a copy that does not change.
 */
static void measure_columns(const struct streams_one *one)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct out *text = list_content(&columns[i], one);
		size_t width = text_columns(text->bytes, text->used);

		if (width > columns[i].width)
			columns[i].width = width;
	}
}

/* The function measures all columns before it prints the first line. */
static void print_table(const struct streams *streams)
{
	measure_columns(NULL); /* the titles */
	for (size_t i = 0; i < streams->count; i++)
		measure_columns(&streams->one[i]);
	put_line(&out_stdout, NULL);
	for (size_t i = 0; i < streams->count; i++)
		put_line(&out_stdout, &streams->one[i]);
}

enum {
	OPT_JSON = 256,
	OPT_FAIL_ON_LOSS,
	OPT_PROBES,
};

static const struct option_row option_rows[] = {
	{ "probes", OPT_PROBES, "TARGET",
		"instead of streams, the functions and probes of a file, or of the files of a "
		"process, and how each can be traced", OPTION_FILE },
	{ "json", OPT_JSON, NULL,
		"a JSON object for each stream, with everything that status shows" },
	{ "fail-on-loss", OPT_FAIL_ON_LOSS, NULL, "exit with 4 if events were lost" },
	OPTION_HELP,
	OPTION_END
};

/*
 * A visitor that does nothing, because say_other_versions() needs only the error number of
 * posix_trace_observe_np().
 */
static void ignore_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	(void)arg;
	(void)stream;
}

/* Returns whether the process has shared memory of the library open, of any version. */
static bool has_shared_memory(pid_t pid)
{
	static const char wanted[] = PROCESS_ARENA;
	char path[40], target[sizeof(wanted)];
	struct dirent *entry;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder)))
		found = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target)) ==
				(ssize_t)sizeof(target) &&
			!memcmp(target, wanted, sizeof(wanted) - 1);
	if (folder)
		closedir(folder);
	return found;
}

/*
 * Prints a line for each process whose streams are missing in the list, because the process uses
 * another version of the library. The library omits such processes when it looks at all processes.
 * A question about one process also makes the library examine the files of all processes, which
 * takes time. So this function asks the library only about processes that have shared memory.
 */
static void say_other_versions(void)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		const pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && has_shared_memory(pid) &&
		    posix_trace_observe_np(pid, ignore_stream, NULL) == EPROTONOSUPPORT)
			process_say_other_version(pid, "its streams are not listed: ");
	}
	if (folder)
		closedir(folder);
}

/*
 * Prints the streams that the user may observe. It is no error if there is no stream. Returns a
 * status of the tool.
 */
static int list_streams(bool json, bool fail_on_loss)
{
	struct streams streams;
	int status, err = streams_look(&streams, POSIX_TRACE_EVERY_PROCESS_NP);

	if (err) {
		say("list: %s", say_strerror(err));
		return TOOL_FAILURE;
	}
	if (json)
		for (size_t i = 0; i < streams.count; i++)
			streams_json(&out_stdout, &streams.one[i]);
	else
		print_table(&streams);
	status = streams_exit(&streams, fail_on_loss);
	streams_fini(&streams);
	say_other_versions();
	return status;
}

/*
 * Parses the options. The command takes no operand, so an argument is probably meant for the
 * command status.
 */
static int list_run(int argc, char **argv)
{
	bool json = false, fail_on_loss = false;
	const char *probes = NULL;
	int option, status;

	while ((option = tool_option(argc, argv, &list_command)) != -1) {
		switch (option) {
		case 'h':
			return tool_help(&list_command);
		case OPT_JSON:
			json = true;
			break;
		case OPT_FAIL_ON_LOSS:
			fail_on_loss = true;
			break;
		case OPT_PROBES:
			probes = optarg;
			break;
		default:
			return tool_usage(&list_command);
		}
	}
	if (optind < argc) {
		say("list: %s: takes no argument; 'posixtrace status PID' shows one process",
		    argv[optind]);
		return tool_usage(&list_command);
	}
	if (probes && (json || fail_on_loss)) {
		say("list: --probes lists no streams: --json and --fail-on-loss have no meaning");
		return tool_usage(&list_command);
	}
	if (!probes)
		return list_streams(json, fail_on_loss);
	status = list_probes(probes);
	return status == TOOL_USAGE ? tool_usage(&list_command) : status;
}

const struct tool_command list_command = {
	.name = "list",
	.usage = "[OPTION]...",
	.about =
		"Prints a line for each active stream on this machine that you may observe: the "
		"traced process, the stream's name, policy and status, the share of its memory "
		"that is in use, the events recorded and lost until now, its creator, and "
		"whether children inherit it. With --probes, prints which functions of a program "
		"can be traced by posixtrace record --function.",
	.options = option_rows,
	.notes =
		"Exit status: 0 ok, 1 failure, 2 usage, 4 see --fail-on-loss.",
	.operands = OPTION_TEXT,
	.run = list_run,
};
