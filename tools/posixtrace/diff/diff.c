/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * diff.c - the command diff: finds the differences between two logs that are greater than chance
 * explains.
 */
#include "diff/diff.h"

#include <errno.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "choose/at.h"

extern const struct tool_command diff_command;

enum {
	OPT_LEVEL = 256,
	OPT_MARGIN,
	OPT_RELATIVE,
	OPT_ALL,
	OPT_PAIR,
	OPT_UTC,
	OPT_JSON,
	OPT_FAIL,
};

static const struct option_row option_rows[] = {
	{ "level", OPT_LEVEL, "P",
		"the probability of any mark if nothing differs; the default is 0.05" },
	{ "margin", OPT_MARGIN, "PERCENT", "do not mark differences up to this; the default is 5" },
	{ "relative", OPT_RELATIVE, NULL,
		"first remove the slowdown that most spans have in common" },
	{ "all", OPT_ALL, NULL, "also show types with too few events to be tested" },
	{ "pair", OPT_PAIR, "BEGIN,END[,FIELD]...",
		"event types that begin and end a span, as for posixtrace latency", OPTION_PAIR },
	{ .rows = at_rows },
	{ .rows = wanted_choice_rows },
	{ "utc", OPT_UTC, NULL, "times in options are in UTC" },
	{ "json", OPT_JSON, NULL, "a JSON object" },
	{ "fail-on-difference", OPT_FAIL, NULL, "exit with 4 if anything differs" },
	OPTION_HELP,
	OPTION_END
};

struct diff {
	struct sample sample[2];
	struct compare compare;
	struct at at;
	bool utc, all, json, fail;
};

/*
 * Parses a number from 0 to "most". The first character is tested because strtod() would also
 * accept "nan" and "inf".
 */
static bool parse_part(const char *option, const char *text, double most, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (((*text >= '0' && *text <= '9') || *text == '.') && !*end && *value >= 0 &&
	    *value <= most)
		return true;
	say("%s %s: not a number from 0 to %g", option, text_given(text), most);
	return false;
}

/*
 * Processes an option, which applies to both logs. Returns false if the option or its value is
 * wrong; the error has been printed.
 */
static bool parse_option(struct diff *diff, int option)
{
	bool good = true;

	if (wanted_option(&diff->sample[0].wanted, option, optarg, &good))
		return good && wanted_option(&diff->sample[1].wanted, option, optarg, &good) &&
		       good;
	if (at_option(&diff->at, option, optarg, &good))
		return good;
	switch (option) {
	case OPT_LEVEL:
		return parse_part("--level", optarg, 1, &diff->compare.level);
	case OPT_MARGIN:
		good = parse_part("--margin", optarg, 1000, &diff->compare.margin);
		diff->compare.margin /= 100;
		return good;
	case OPT_RELATIVE:
		diff->compare.relative = true;
		return true;
	case OPT_ALL:
		diff->all = true;
		return true;
	case OPT_PAIR:
		return wanted_pair(&diff->sample[0].wanted, optarg) &&
		       wanted_pair(&diff->sample[1].wanted, optarg) &&
		       pairing_add(&diff->sample[0].pairing, optarg) &&
		       pairing_add(&diff->sample[1].pairing, optarg);
	case OPT_UTC:
		diff->utc = true;
		return true;
	case OPT_JSON:
		diff->json = true;
		return true;
	case OPT_FAIL:
		diff->fail = true;
		return true;
	}
	return false; /* tool_option() has printed the error */
}

/*
 * Reads both logs, compares them and prints the result. A damaged log is compared as far as it can
 * be read.
 */
static int compare_logs(struct diff *diff, char **path)
{
	int status = TOOL_OK;

	for (int i = 0; i < 2; i++) {
		int taken = sample_take(&diff->sample[i], path[i]);

		if (taken == TOOL_FAILURE || taken == TOOL_USAGE)
			return taken;
		status = tool_worse(status, taken);
	}
	if (!compare_samples(&diff->compare, &diff->sample[0], &diff->sample[1])) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	if (diff->json)
		diff_json(&out_stdout, &diff->compare, &diff->sample[0], &diff->sample[1]);
	else
		diff_text(&out_stdout, &diff->compare, &diff->sample[0], &diff->sample[1],
			  diff->all);
	/* The exit status for differences is documented as 4, which is the value of TOOL_LOST. */
	return diff->fail && diff->compare.differ ? tool_worse(status, TOOL_LOST) : status;
}

/* Parses the options and compares the two logs. */
static int diff_logs(struct diff *diff, int argc, char **argv)
{
	int option, status;

	while ((option = tool_option(argc, argv, &diff_command)) != -1) {
		if (option == 'h')
			return tool_help(&diff_command);
		if (!parse_option(diff, option))
			return tool_usage(&diff_command);
	}
	if (!wanted_ready(&diff->sample[0].wanted, diff->utc) ||
	    !wanted_ready(&diff->sample[1].wanted, diff->utc))
		return tool_usage(&diff_command);
	diff->at.wanted = &diff->sample[0].wanted;
	diff->at.pairs = true;
	status = at_logs(&diff->at, &diff_command, argv + optind, (size_t)(argc - optind), 2, 2);
	return status ? status : compare_logs(diff, diff->at.path);
}

static int diff_run(int argc, char **argv)
{
	static struct diff diff = { .compare = { .level = 0.05, .margin = 0.05 } };
	int status;

	for (int i = 0; i < 2; i++) {
		wanted_init(&diff.sample[i].wanted);
		pairing_init(&diff.sample[i].pairing, NULL, NULL);
	}
	status = diff_logs(&diff, argc, argv);
	compare_fini(&diff.compare);
	sample_fini(&diff.sample[0]);
	sample_fini(&diff.sample[1]);
	at_fini(&diff.at);
	return status;
}

const struct tool_command diff_command = {
	.name = "diff",
	.usage = "[OPTION]... A B\n"
		 "[OPTION]... --at URL [A B]",
	.about =
		"Compares two logs: the number of events of each type, and how long spans, "
		"calls and waits took (p50, p90, p99), each with the 95 % interval of the ratio "
		"of B to A. Differences greater than chance and a margin are marked; "
		"posixtrace-diff(1) has the method.",
	.options = option_rows,
	.notes =
		WANTED_TIME_NOTE
		"Exit status: 0 ok, 1 failure, 2 usage, 3 damaged or never closed, 4 see "
		"--fail-on-difference.",
	.operands = OPTION_LOG,
	.run = diff_run,
};
