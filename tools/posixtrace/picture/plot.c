/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plot.c - the command plot: draws a log as a picture for a report. */
#include <getopt.h>
#include <string.h>

#include "base/out.h"
#include "base/say.h"
#include "base/tool.h"
#include "convert/output.h"
#include "picture/plot.h"

extern const struct tool_command plot_command;

static const char help[] =
	"Usage: posixtrace plot [OPTION]... LOG -o FILE.svg\n"
	"Draws LOG (- is standard input) as an SVG picture: events per second over time, how long "
		"spans\n"
	"took, and what each thread did when; times of which events are missing are marked.\n"
	"\n"
	"  -o, --output FILE    the picture; - is standard output; a file that is there already "
		"is refused\n"
	"      --force          overwrites it\n"
	"      --pair BEGIN,END[,FIELD]...\n"
	"                       event types that are a span, as for posixtrace latency\n"
	WANTED_CHOICE_HELP
	"      --utc            times given are in UTC\n"
	"  -h, --help           this text\n"
	"\n"
	WANTED_TIME_HELP
	"Exit status: 0 ok, 1 failure, 2 usage, 3 damaged or never closed; then what is whole is "
		"drawn.\n";

/* Opens the output first: a refused name should not cost a long reading. */
static int draw_plot(struct picture *picture, char *const *log, const char *path, bool force)
{
	static struct output file;
	bool standard = !strcmp(path, "-");
	int status;

	if (!standard && output_open_text(&file, path, force, log, 1))
		return TOOL_FAILURE;
	status = picture_take(picture, *log, PLOT_BINS, 0);
	if (status != TOOL_FAILURE && status != TOOL_USAGE) {
		plot_svg(standard ? &out_stdout : &file.out, picture);
		logfile_close(&picture->log);
	}
	return standard ? status : output_close(&file, status);
}

enum {
	OPT_FORCE = 256,
	OPT_PAIR,
	OPT_UTC,
};

static const struct option long_options[] = {
	WANTED_CHOICE_OPTIONS,
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "pair", required_argument, NULL, OPT_PAIR },
	{ "utc", no_argument, NULL, OPT_UTC },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static int plot(struct picture *picture, int argc, char **argv)
{
	const char *output = NULL;
	bool force = false, utc = false, good;
	int option;

	while ((option = tool_option(argc, argv, ":e:x:o:h", long_options)) != -1) {
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
		} else if (option != OPT_PAIR || !pairing_add(&picture->pairing, optarg)) {
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

static int plot_run(int argc, char **argv)
{
	static struct picture picture;
	int status;

	wanted_init(&picture.wanted);
	pairing_init(&picture.pairing, NULL, NULL);
	status = plot(&picture, argc, argv);
	picture_fini(&picture);
	return status;
}

const struct tool_command plot_command = {
	.name = "plot",
	.help = help,
	.run = plot_run,
};
