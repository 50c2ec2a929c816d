/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* status.c - the command status: prints the streams of processes in detail. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/when.h"
#include "live/process.h"
#include "live/streams.h"
#include "log/equation.h"
#include "log/policy.h"

extern const struct tool_command status_command;

/* The options of this run. The command runs once in a process. */
static struct {
	enum when_form form;
	bool json;
	bool fail_on_loss;
} options;

/* Writes the title of a line; all contents begin in the same column. */
static void put_label(struct out *out, const char *name)
{
	out_printf(out, "%-11s ", name);
}

/* Writes a process with its name, which may contain any bytes. */
static void put_process(struct out *out, pid_t pid)
{
	char name[PROCESS_NAME_BYTES];

	process_name(name, pid);
	out_printf(out, "%d (", (int)pid);
	text_name(out, name, strlen(name));
	out_char(out, ')');
}

/*
 * Prints when and by which process the stream was created. A creator in another PID namespace is
 * not visible.
 */
static void print_origin(struct out *out, const struct streams_one *one)
{
	char when[WHEN_BYTES];

	put_label(out, "created");
	out_str(out, when_string(when, one->is.creation_ns, options.form));
	if (one->is.creator > 0) {
		out_str(out, " by process ");
		put_process(out, one->is.creator);
	} else {
		out_str(out, one->is.creator ? " by a process that has ended" :
					       " by a process that cannot be seen from here");
	}
	out_char(out, '\n');
}

/* Prints the attributes. A stream without a log has no policy for a log. */
static void print_attributes(struct out *out, const struct streams_one *one)
{
	put_label(out, "policies");
	out_printf(out, "stream %s, %s%s, %s\n", policy_name(one->is.stream_full_policy),
		   one->is.log_full_policy ? "log " : "no log",
		   one->is.log_full_policy ? policy_name(one->is.log_full_policy) : "",
		   policy_name(one->is.inheritance));
	put_label(out, "limits");
	out_printf(out, "stream %zu bytes, data of an event %zu bytes\n", one->is.stream_size,
		   one->is.max_data_size);
}

/*
 * Prints the state and the use of memory. Memory is counted in chunks, which the output calls
 * parts.
 */
static void print_status(struct out *out, const struct streams_one *one)
{
	const struct posix_trace_stream_np *stream = &one->is;

	put_label(out, "status");
	out_printf(out, "%s, %s, %s; %u%% of its memory in use (%u of %u parts)\n",
		   stream->stream_status == POSIX_TRACE_RUNNING ? "running" : "suspended",
		   stream->stream_full_status == POSIX_TRACE_FULL ? "full" : "not full",
		   stream->stream_overrun_status == POSIX_TRACE_OVERRUN ? "overrun" : "no overrun",
		   streams_fill_percent(one), stream->chunks_taken, stream->chunks);
	if (stream->waiting) {
		put_label(out, "");
		out_str(out, "waiting: the process does not use libposixtrace\n");
	}
}

/*
 * Prints the counts. The function copies the losses into a ledger, since the functions that print
 * causes need a ledger.
 */
static void print_counts(struct out *out, const struct streams_one *one)
{
	struct posix_trace_ledger_np ledger = { 0 };

	memcpy(ledger.lost, one->is.lost, sizeof(ledger.lost));
	put_label(out, "events");
	out_printf(out, "%llu recorded, %llu lost", (unsigned long long)one->is.recorded,
		   (unsigned long long)equation_lost(&ledger));
	equation_causes(out, &ledger);
	out_char(out, '\n');
}

/*
 * Prints how many of the event types the stream filters, and then the names of the filtered types.
 */
static void print_filter(struct out *out, const struct streams_one *one)
{
	put_label(out, "filtered");
	out_printf(out, "%zu of %zu event types", one->filtered_count, one->names);
	for (size_t i = 0; i < one->filtered_count; i++) {
		out_str(out, i ? ", " : ": ");
		text_name(out, one->filtered[i], strlen(one->filtered[i]));
	}
	out_char(out, '\n');
}

static void put_parent(struct out *out, pid_t pid)
{
	out_str(out, "from process ");
	put_process(out, pid);
	out_char(out, '\n');
}

/*
 * Prints the relation to other processes: the process for which the stream was created, and the
 * processes that inherited it.
 */
static void print_family(struct out *out, const struct streams_one *one, pid_t pid)
{
	if (one->is.pid != pid) {
		put_label(out, "inherited");
		/* The name of a process that has ended cannot be read any longer. */
		if (one->is.ended == POSIX_TRACE_PROCESS_ENDED_NP)
			out_printf(out, "from process %d, which has ended\n", (int)one->is.pid);
		else if (one->is.ended)
			out_printf(out, "from process %d, which cannot be seen from here; it may "
				   "have ended, or be in another namespace of process IDs\n",
				   (int)one->is.pid);
		else
			put_parent(out, one->is.pid);
	}
	if (!one->is.members)
		return;
	put_label(out, "members");
	for (size_t i = 0; i < one->is.members; i++) {
		if (i)
			out_str(out, ", ");
		put_process(out, one->member[i]);
	}
	out_char(out, '\n');
}

/* pid is the process that the user named, which may have inherited the stream. */
static void print_stream(struct out *out, const struct streams_one *one, pid_t pid)
{
	out_char(out, '\n');
	put_label(out, "stream");
	text_name(out, one->is.name, strlen(one->is.name));
	out_char(out, '\n');
	print_origin(out, one);
	print_family(out, one, pid);
	print_attributes(out, one);
	print_status(out, one);
	print_counts(out, one);
	print_filter(out, one);
}

/* Prints the process, and then each of its streams. */
static void print_process(struct out *out, const struct streams *streams, pid_t pid)
{
	put_label(out, "process");
	put_process(out, pid);
	out_char(out, '\n');
	put_label(out, "streams");
	out_printf(out, "%zu\n", streams->count);
	for (size_t i = 0; i < streams->count; i++)
		print_stream(out, &streams->one[i], pid);
}

/*
 * Prints the streams of one process, behind an empty line unless it is the first. A process without
 * streams is no error.
 */
static int show_process(pid_t pid, bool is_first)
{
	struct streams streams;
	int status, err = streams_look(&streams, pid);

	if (err)
		return process_say_why(pid, err);
	if (!is_first && !options.json)
		out_char(&out_stdout, '\n');
	if (options.json)
		for (size_t i = 0; i < streams.count; i++)
			streams_json(&out_stdout, &streams.one[i]);
	else
		print_process(&out_stdout, &streams, pid);
	status = streams_exit(&streams, options.fail_on_loss);
	streams_fini(&streams);
	return status;
}

enum {
	OPT_UTC = 256,
	OPT_RAW,
	OPT_JSON,
	OPT_FAIL_ON_LOSS,
};

static const struct option_row option_rows[] = {
	{ .rows = process_rows },
	{ "utc", OPT_UTC, NULL, "times in UTC" },
	{ "raw", OPT_RAW, NULL, "times in nanoseconds since 1970", .excludes = "utc" },
	{ "json", OPT_JSON, NULL, "a JSON object for each stream" },
	{ "fail-on-loss", OPT_FAIL_ON_LOSS, NULL, "exit with 4 if events were lost" },
	OPTION_HELP,
	OPTION_END
};

/* All arguments are checked before the first output. */
static int show_all(struct process_list *list, int argc, char **argv)
{
	int status = TOOL_OK;

	if (!process_add_operands(list, "status", argc, argv))
		return tool_usage(&status_command);
	if (!list->count) {
		say("status: the number of a process is missing");
		return tool_usage(&status_command);
	}
	for (size_t i = 0; i < list->count && !out_stdout.err; i++)
		status = tool_worse(status, show_process(list->pid[i], i == 0));
	return status;
}

/* Parses the options; the operands are processes. */
static int show_chosen(struct process_list *list, int argc, char **argv)
{
	int option;

	while ((option = tool_option(argc, argv, &status_command)) != -1) {
		switch (option) {
		case 'h':
			return tool_help(&status_command);
		case OPT_UTC:
			options.form = WHEN_UTC;
			break;
		case OPT_RAW:
			options.form = WHEN_RAW;
			break;
		case OPT_JSON:
			options.json = true;
			break;
		case OPT_FAIL_ON_LOSS:
			options.fail_on_loss = true;
			break;
		case 'p':
			if (!process_add(list, "--pid", optarg))
				return tool_usage(&status_command);
			break;
		default:
			return tool_usage(&status_command);
		}
	}
	return show_all(list, argc, argv);
}

/* Runs the command and frees the list in any case. */
static int status_run(int argc, char **argv)
{
	struct process_list list = { .pid = NULL };
	int status = show_chosen(&list, argc, argv);

	free(list.pid);
	return status;
}

const struct tool_command status_command = {
	.name = "status",
	.usage = "[OPTION]... PID...",
	.about =
		"Prints every active stream of the process PID, also those that it inherited: "
		"attributes, status, how full it is, events, losses by cause, the event types "
		"that its filter excludes, and the other processes that are traced into it.",
	.options = option_rows,
	.notes =
		"Exit status: 0 ok, 1 failure, 2 usage, 4 see --fail-on-loss.",
	.operands = OPTION_PID,
	.run = status_run,
};
