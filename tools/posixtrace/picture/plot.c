/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plot.c - the command plot: draws a log as a picture for a report. */
#include <unistd.h>
#include <string.h>

#include "base/out.h"
#include "base/say.h"
#include "base/tool.h"
#include "convert/output.h"
#include "picture/plot.h"
#include "symbols/symbols.h"

extern const struct tool_command plot_command;

/*
 * Opens the output before it reads the log, so that an error of the output is reported immediately
 * and not after a long reading.
 */
static int draw_plot(struct picture *picture, char *const *log, const char *path, bool force)
{
	static struct output file;
	bool standard = !strcmp(path, "-");
	int status;

	if (!standard && output_open_text(&file, path, force, log, 1))
		return TOOL_FAILURE;
	status = picture_open(picture, *log);
	if (status == TOOL_OK)
		status = picture_take(picture, PLOT_BINS, 0);
	if (status != TOOL_FAILURE && status != TOOL_USAGE)
		plot_svg(standard ? &out_stdout : &file.out, picture);
	return standard ? status : output_close(&file, status);
}

enum {
	OPT_FORCE = 256,
	OPT_PAIR,
	OPT_UTC,
};

static const struct option_row option_rows[] = {
	{ "output", 'o', "FILE",
		"the picture; - is standard output; a file that exists is refused", OPTION_FILE },
	{ "force", OPT_FORCE, NULL, "overwrite a file that exists" },
	{ "pair", OPT_PAIR, "BEGIN,END[,FIELD]...",
		"event types that begin and end a span, as for posixtrace latency", OPTION_PAIR },
	{ .rows = wanted_choice_rows },
	{ .rows = symbols_rows },
	{ "utc", OPT_UTC, NULL, "times in options are in UTC" },
	OPTION_HELP,
	OPTION_END
};

static int write_file(struct picture *picture, int argc, char **argv)
{
	const char *output = NULL;
	bool force = false, utc = false, good;
	int option;

	while ((option = tool_option(argc, argv, &plot_command)) != -1) {
		if (wanted_option(&picture->wanted, option, optarg, &good)) {
			if (!good)
				return tool_usage(&plot_command);
		} else if (option == 'h') {
			return tool_help(&plot_command);
		} else if (option == 'o') {
			output = optarg;
		} else if (option == OPT_FORCE) {
			force = true;
		} else if (option == OPT_UTC) {
			utc = true;
		} else if (option == OPT_PAIR ? !wanted_pair(&picture->wanted, optarg) :
						!symbols_option(option, optarg)) {
			return tool_usage(&plot_command);
		}
	}
	if (!wanted_ready(&picture->wanted, utc))
		return tool_usage(&plot_command);
	if (optind + 1 != argc || !output) {
		say("plot: give one log, and the output after -o");
		return tool_usage(&plot_command);
	}
	return draw_plot(picture, &argv[optind], output, force);
}

/* The picture is static because it is large, and because the process makes only one. */
static int plot_run(int argc, char **argv)
{
	static struct picture picture;
	int status;

	wanted_init(&picture.wanted);
	status = write_file(&picture, argc, argv);
	picture_fini(&picture);
	return status;
}

const struct tool_command plot_command = {
	.name = "plot",
	.usage = "[OPTION]... -o FILE LOG",
	.about =
		"Draws LOG (- is standard input) as an SVG picture: events per second over "
		"time, durations of spans, and what each thread did when. Times at which events "
		"are missing are marked.",
	.options = option_rows,
	.notes =
		WANTED_TIME_NOTE
		"Exit status: 0 ok, 1 failure, 2 usage, 3 damaged or never closed; the picture "
		"then has what could be read.",
	.operands = OPTION_LOG,
	.run = plot_run,
};
