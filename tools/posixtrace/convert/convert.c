/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * convert.c - the command convert: converts a trace from one format into another.
 *
 * It has the options of the command line; through.h has the conversion itself.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "choose/wanted.h"
#include "convert/through.h"
#include "show/merge.h"

extern const struct tool_command convert_command;

#define FORMAT_OPTION 4096 /* and up: long options of the formats */

static const char help[] =
	"Usage: posixtrace convert [--from FORMAT] [--to FORMAT] [OPTION]... IN... [-o OUT]\n"
	"Reads the trace IN in one format and writes it to OUT in another (- is standard input\n"
	"and output, and OUT without -o). Several logs become one trace, in the order of their\n"
	"times.\n"
	"\n"
	"  -f, --from FORMAT    of IN; default: by its contents\n"
	"  -t, --to FORMAT      of OUT; default: by the end of its name\n"
	"  -o, --output OUT     a file, or a folder for ctf; must not exist\n"
	"      --force          overwrites OUT if it is a file\n"
	"  -O KEY[=VALUE]       an option of one of the two formats, as --KEY[=VALUE]\n"
	"  -l, --list           lists the formats and their options\n"
	WANTED_CHOICE_HELP
	MERGE_HELP
	"      --utc            times given are in UTC\n"
	"      --fail-on-loss   exit with 4 when events were lost\n"
	"  -h, --help           this text\n"
	"\n"
	WANTED_TIME_HELP
	"IN and OUT may be tcp:HOST:PORT or listen:[HOST:]PORT, and IN a serial line.\n"
	"posixtrace-convert(1) says what each format omits.\n"
	"Exit status: 0 ok, 1 failure, 2 usage, 3 IN is damaged or not complete and was converted\n"
	"as far as it is whole, 4 see --fail-on-loss.\n";

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

static const struct option own_options[] = {
	WANTED_CHOICE_OPTIONS,
	MERGE_OPTION,
	{ "utc", no_argument, NULL, OPT_UTC },
	{ "from", required_argument, NULL, 'f' },
	{ "to", required_argument, NULL, 't' },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "list", no_argument, NULL, 'l' },
	{ "fail-on-loss", no_argument, NULL, OPT_FAIL_ON_LOSS },
	{ "help", no_argument, NULL, 'h' },
};

#define OWN_OPTIONS (sizeof(own_options) / sizeof(own_options[0]))

/*
 * The table for getopt_long(): the command's own options, then those of all formats. Several
 * formats may have an option of one name, which appears once. The value of a format's option gives
 * its index. Returns NULL without memory.
 */
static struct option *all_options(void)
{
	struct option *options;
	size_t count = OWN_OPTIONS;

	for (size_t i = 0; i < formats_count; i++)
		for (const struct fmt_option *o = formats[i]->options; o && o->name; o++)
			count++;
	options = calloc(count + 1, sizeof(*options));
	if (!options)
		return NULL;
	memcpy(options, own_options, sizeof(own_options));
	count = OWN_OPTIONS;
	for (size_t i = 0; i < formats_count; i++) {
		for (const struct fmt_option *o = formats[i]->options; o && o->name; o++) {
			size_t j = 0;

			while (j < count && strcmp(options[j].name, o->name))
				j++;
			if (j < count)
				continue;
			options[count].name = o->name;
			options[count].has_arg = o->has_value ? required_argument : no_argument;
			options[count].val = FORMAT_OPTION + (int)count;
			count++;
		}
	}
	return options;
}

/* Keeps an option of a format. Its value is checked later, when both formats are known. */
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

/* Keeps KEY or KEY=VALUE of -O. The text is copied, as it is split in place. */
static bool keep_option_text(struct convert *convert, const char *text)
{
	char **more;
	char *name, *value;

	if (!vec_grow(&convert->texts, convert->text_count, 1))
		return keep_option(convert, NULL, NULL);
	more = convert->texts;
	name = strdup(text);
	if (!name)
		return keep_option(convert, NULL, NULL);
	more[convert->text_count++] = name;
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
		for (const struct fmt_option *o = f->options; o && o->name; o++)
			out_printf(&out_stdout, "%26s--%s%s%s\n", "", o->name,
				   o->has_value ? "=" : "  ", o->help);
	}
}

/*
 * Opens the inputs and converts them. The last argument is often meant as the output, so a message
 * about a missing last input names -o.
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
	/* Those that were opened before an error are closed too. */
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

/* Reads the options. Returns TOOL_OK, an exit status, or -1 if --help or --list has done all. */
static int parse_options(int argc, char **argv, struct convert *convert,
			 const struct option *options)
{
	int option;

	bool good;

	while ((option = tool_option(argc, argv, ":e:x:f:t:o:O:lh", options)) != -1) {
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
		default:
			/*
			 * Unknown options and those without their value have values below
			 * FORMAT_OPTION.
			 */
			if (option < FORMAT_OPTION)
				return tool_usage(&convert_command);
			if (!keep_option(convert, options[option - FORMAT_OPTION].name, optarg))
				return TOOL_FAILURE;
		}
	}
	return TOOL_OK;
}

static int run_convert(int argc, char **argv)
{
	struct convert convert = { .output = "-" };
	struct option *options = all_options();
	int status;

	if (!options) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	wanted_init(&convert.wanted);
	status = parse_options(argc, argv, &convert, options);
	if (!status && !wanted_ready(&convert.wanted, convert.utc))
		status = tool_usage(&convert_command);
	if (!status && argc == optind) {
		say("convert: the name of a trace is missing");
		status = tool_usage(&convert_command);
	} else if (!status && !convert.to && !strcmp(convert.output, "-")) {
		/* Standard output has no suffix. */
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
	free(options);
	return status < 0 ? TOOL_OK : status;
}

const struct tool_command convert_command = {
	.name = "convert",
	.help = help,
	.run = run_convert,
};
