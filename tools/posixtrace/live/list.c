/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* list.c - posixtrace list: who is traced on this machine, and by whom. */
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "live/streams.h"
#include "log/policy.h"

extern const struct tool_command list_command;

static const char help[] =
	"Usage: posixtrace list [OPTION]...\n"
	"Prints a line for each active stream on this machine that you may look at: the traced\n"
	"process, the stream's name, policy and status, how much of its memory is taken, the "
		"events\n"
	"recorded and lost until now, who created it, and whether children inherit it.\n"
	"\n"
	"      --json           a JSON object for each stream, with everything that status shows\n"
	"      --fail-on-loss   exit with 4 when events were lost\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 ok, 1 failure, 2 usage, 4 see --fail-on-loss.\n";

/* As wide as what it holds; names are as other people chose them. */
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

static void put_program(struct out *out, const struct streams_one *one)
{
	text_name(out, one->program, strlen(one->program));
}

static void put_name(struct out *out, const struct streams_one *one)
{
	text_name(out, one->is.name, strlen(one->is.name));
}

/* One word, as options have it. */
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

static void put_inherited(struct out *out, const struct streams_one *one)
{
	out_str(out, one->is.inheritance == POSIX_TRACE_INHERITED ? "yes" : "no");
	if (one->is.members)
		out_printf(out, ", by %zu", one->is.members);
}

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

static const struct out *content(const struct column *column, const struct streams_one *one)
{
	static struct out scratch = { .fd = -1 };

	scratch.used = 0;
	if (one)
		column->put(&scratch, one);
	else
		out_str(&scratch, column->title);
	return &scratch;
}

static void put_line(struct out *out, const struct streams_one *one)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct column *column = &columns[i];
		const struct out *text = content(column, one);
		size_t gap = i + 1 < COLUMNS ? column->width - text->used : 0;

		if (!column->right)
			out_bytes(out, text->bytes, text->used);
		for (; gap; gap--)
			out_char(out, ' ');
		if (column->right)
			out_bytes(out, text->bytes, text->used);
		out_str(out, i + 1 < COLUMNS ? "  " : "\n");
	}
}

static void measure(const struct streams_one *one)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		size_t width = content(&columns[i], one)->used;

		if (width > columns[i].width)
			columns[i].width = width;
	}
}

static void print_table(const struct streams *streams)
{
	measure(NULL);
	for (size_t i = 0; i < streams->count; i++)
		measure(&streams->one[i]);
	put_line(&out_stdout, NULL);
	for (size_t i = 0; i < streams->count; i++)
		put_line(&out_stdout, &streams->one[i]);
}

enum {
	OPT_JSON = 256,
	OPT_FAIL_ON_LOSS,
};

static const struct option long_options[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	{ "fail-on-loss", no_argument, NULL, OPT_FAIL_ON_LOSS },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static int list(bool json, bool fail_on_loss)
{
	struct streams streams;
	int status, err = streams_look(&streams, POSIX_TRACE_EVERY_PROCESS_NP);

	if (err) {
		say("list: %s", strerror(err));
		return TOOL_FAILURE;
	}
	if (json)
		for (size_t i = 0; i < streams.count; i++)
			streams_json(&out_stdout, &streams.one[i]);
	else
		print_table(&streams);
	status = streams_exit(&streams, fail_on_loss);
	streams_fini(&streams);
	return status;
}

static int run(int argc, char **argv)
{
	bool json = false, fail_on_loss = false;
	int option;

	while ((option = tool_option(argc, argv, ":h", long_options)) != -1) {
		switch (option) {
		case 'h':
			return tool_help(&list_command);
		case OPT_JSON:
			json = true;
			break;
		case OPT_FAIL_ON_LOSS:
			fail_on_loss = true;
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
	return list(json, fail_on_loss);
}

const struct tool_command list_command = {
	.name = "list",
	.help = help,
	.run = run,
};
