/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * convert.c - the command convert: converts a trace from one format into another.
 *
 * This file processes the options of the command line; through.h has the conversion itself.
 * Functions that return int return an exit status, unless their comments state otherwise.
 */
#include <errno.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "choose/wanted.h"
#include "convert/through.h"
#include "show/merge.h"
#include "symbols/symbols.h"

extern const struct tool_command convert_command;

struct convert {
	const char *from, *to, *output;
	bool force, fail_on_loss, utc, chooses;
	struct wanted wanted;
	struct merge clocks; /* for the values of --clock-error */
	struct fmt_given *given;
	size_t givens;
	char **texts; /* copies of the arguments of -O, split at = */
	size_t text_count;
};

enum {
	OPT_FORCE = 256,
	OPT_FAIL_ON_LOSS,
	OPT_UTC,
};

/*
 * Returns the options of the i-th format, or NULL behind the last format. The table of a format
 * without options is empty. Several formats may have an option with the same name.
 */
static const struct option_row *format_rows(size_t i)
{
	static const struct option_row none[] = { OPTION_END };

	if (i >= formats_count)
		return NULL;
	return formats[i]->options ? formats[i]->options : none;
}

static const struct option_row option_rows[] = {
	{ "from", 'f', "FORMAT",
		"format of IN; by default recognized by its contents", OPTION_SOURCE },
	{ "to", 't', "FORMAT",
		"format of OUT; by default chosen by the suffix of its name", OPTION_SINK },
	{ "output", 'o', "OUT", "a file, or a folder for ctf, parquet, otlp; must not exist",
		OPTION_FILE },
	{ "force", OPT_FORCE, NULL, "overwrite OUT if it is a file" },
	{ NULL, 'O', "KEY[=VALUE]",
		"an option of the format of IN or OUT; the same as --KEY[=VALUE]" },
	{ "list", 'l', NULL, "list the formats and their options" },
	{ .rows = wanted_choice_rows },
	{ .rows = merge_rows },
	{ .rows = symbols_rows },
	{ "utc", OPT_UTC, NULL, "times in options are in UTC" },
	{ "fail-on-loss", OPT_FAIL_ON_LOSS, NULL, "exit with 4 if events were lost" },
	OPTION_HELP,
	{ .more = format_rows },
	OPTION_END
};

/*
 * Keeps an option of a format. The value is checked later, when both formats are known. Returns
 * false after a message if memory is lacking.
 */
static bool keep_option(struct convert *convert, const char *name, const char *value)
{
	struct fmt_given *more;

	if (!vec_grow(&convert->given, convert->givens, 1)) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	more = convert->given;
	more[convert->givens].name = name;
	more[convert->givens++].value = value ? value : "";
	return true;
}

/*
 * Keeps KEY or KEY=VALUE of -O. The function splits the text at the =, so it works on a copy of the
 * text. Returns false after a message if memory is lacking.
 */
static bool keep_option_text(struct convert *convert, const char *text)
{
	char *name, *value;

	name = vec_grow(&convert->texts, convert->text_count, 1) ? strdup(text) : NULL;
	if (!name) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	convert->texts[convert->text_count++] = name;
	value = strchr(name, '=');
	if (value)
		*value++ = '\0';
	return keep_option(convert, name, value);
}

static void list_formats(void)
{
	for (size_t i = 0; i < formats_count; i++) {
		const struct format *f = formats[i];

		out_printf(&out_stdout, "%-10s %s %s  %s\n", f->name, f->import ? "reads" : "     ",
			   f->open ? "writes" : "      ", f->summary);
		for (const struct option_row *o = f->options; o && o->name; o++)
			out_printf(&out_stdout, "%26s--%s%s%s  %s\n", "", o->name,
				   o->arg ? "=" : "", o->arg ? o->arg : "", o->help);
	}
}

/*
 * Opens the inputs and converts them. Users often mistake the last argument for the output. So if
 * the last input does not exist, the message mentions that -o names the output.
 */
static int convert_inputs(const struct through *plan, char **path, size_t count)
{
	struct fmt_input *input = calloc(count, sizeof(*input));
	size_t opened = 0;
	int status = TOOL_OK;

	if (!input) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	for (; !status && opened < count; opened++) {
		status = input_open(&input[opened], path[opened]);
		if (status && opened && opened + 1 == count && !strcmp(plan->output, "-"))
			say("convert: give the name of the output after -o");
		if (status)
			break;
		if (opened)
			input[opened - 1].next = &input[opened];
	}
	if (!status)
		status = through(plan, input);
	/* Inputs that were opened before an error are closed, too. */
	while (opened)
		input_close(&input[--opened]);
	free(input);
	return status;
}

/* Selects the formats by their names or by the suffix of the output. */
static int convert_paths(struct convert *convert, char **path, size_t count)
{
	struct through plan = {
		.output = convert->output, .force = convert->force,
		.fail_on_loss = convert->fail_on_loss, .given = convert->given,
		.givens = convert->givens, .is_metered = true,
		.wanted = convert->chooses ? &convert->wanted : NULL, .clocks = &convert->clocks,
	};

	plan.to = convert->to ? through_named(convert->to, false) : through_suffix(convert->output);
	if (!plan.to || (convert->from && !(plan.from = through_named(convert->from, true))))
		return TOOL_USAGE;
	return convert_inputs(&plan, path, count);
}

/*
 * Reads the options. Returns TOOL_OK, an exit status, or -1 after --help or --list, when the
 * command is done.
 */
static int parse_options(int argc, char **argv, struct convert *convert)
{
	int option;
	bool good;

	while ((option = tool_option(argc, argv, &convert_command)) != -1) {
		if (wanted_option(&convert->wanted, option, optarg, &good)) {
			if (!good)
				return tool_usage(&convert_command);
			convert->chooses = true;
			continue;
		}
		switch (option) {
		case 'h':
			tool_help(&convert_command);
			return -1;
		case 'l':
			list_formats();
			return -1;
		case 'f':
			convert->from = optarg;
			break;
		case 't':
			convert->to = optarg;
			break;
		case 'o':
			convert->output = optarg;
			break;
		case 'O':
			if (!keep_option_text(convert, optarg))
				return TOOL_FAILURE;
			break;
		case MERGE_CLOCK_ERROR:
			if (!merge_add_error(&convert->clocks, optarg))
				return tool_usage(&convert_command);
			break;
		case OPT_FORCE:
			convert->force = true;
			break;
		case OPT_UTC:
			convert->utc = true;
			break;
		case OPT_FAIL_ON_LOSS:
			convert->fail_on_loss = true;
			break;
		case FMT_OPTION:
		case FMT_SOURCE_OPTION:
		case FMT_SINK_OPTION:
			if (!keep_option(convert, tool_option_row()->name, optarg))
				return TOOL_FAILURE;
			break;
		default:
			if (!symbols_option(option, optarg))
				return tool_usage(&convert_command);
		}
	}
	return TOOL_OK;
}

static int run_convert(int argc, char **argv)
{
	struct convert convert = { .output = "-" };
	int status;

	wanted_init(&convert.wanted);
	status = parse_options(argc, argv, &convert);
	if (!status && !wanted_ready(&convert.wanted, convert.utc))
		status = tool_usage(&convert_command);
	if (!status && argc == optind) {
		say("convert: the name of a trace is missing");
		status = tool_usage(&convert_command);
	} else if (!status && !convert.to && !strcmp(convert.output, "-")) {
		/* Standard output has no suffix that would select a format. */
		say("convert: the format of the output is missing: give --to, or a name with a "
		    "suffix after -o; --list lists the formats");
		status = TOOL_USAGE;
	}
	if (!status)
		status = convert_paths(&convert, argv + optind, (size_t)(argc - optind));
	for (size_t i = 0; i < convert.text_count; i++)
		free(convert.texts[i]);
	free(convert.texts);
	free(convert.given);
	free(convert.clocks.error);
	wanted_fini(&convert.wanted);
	return status < 0 ? TOOL_OK : status;
}

const struct tool_command convert_command = {
	.name = "convert",
	.usage = "[-f FORMAT] [-t FORMAT] [-o OUT] [OPTION]... IN...\n"
		"--list",
	.about =
		"Reads the trace IN in one format and writes it to OUT in another (- is "
		"standard input and output; without -o, OUT is standard output). Several logs "
		"become one trace, in the order of their times.",
	.options = option_rows,
	.notes =
		WANTED_TIME_NOTE
		"IN and OUT may be tcp:HOST:PORT or listen:[HOST:]PORT, and IN a serial line. "
		"posixtrace-convert(1) says what each format omits.\n"
		"Exit status: 0 ok, 1 failure, 2 usage, 3 IN is damaged or not complete and was "
		"converted as far as possible, 4 see --fail-on-loss.",
	.operands = OPTION_FILE,
	.run = run_convert,
};
