/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* convert.c - posixtrace convert: a trace from one format into another. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "formats/flow.h"
#include "formats/output.h"
#include "say.h"

#define FORMAT_OPTION 512 /* and up: long options of the formats */

static const char help[] =
	"Usage: posixtrace convert [--from FORMAT] [--to FORMAT] [OPTION]... IN [-o OUT]\n"
	"Reads the trace IN in one format and writes it to OUT in another (- is standard input and\n"
	"output, and OUT without -o).\n"
	"\n"
	"  -f, --from FORMAT    of IN; else its contents tell\n"
	"  -t, --to FORMAT      of OUT; else the end of its name tells\n"
	"  -o, --output OUT     a file, or a folder for ctf; must not exist\n"
	"      --force          overwrites OUT if it is a file\n"
	"  -O KEY[=VALUE]       an option of one of the two formats, as --KEY[=VALUE]\n"
	"  -l, --list           lists the formats and their options\n"
	"      --fail-on-loss   exit with 4 when events were lost\n"
	"  -h, --help           this text\n"
	"\n"
	"What a format has no place for is left out; posixtrace(1) says what that is.\n"
	"Exit status: 0 ok, 1 failure, 2 usage, 3 IN is damaged or not complete and was converted as\n"
	"far as it is whole, 4 see --fail-on-loss.\n";

struct convert {
	const char *from, *to, *output;
	bool force, fail_on_loss;
	struct fmt_given *given;
	size_t givens;
	char **texts; /* what -O gave, cut at = */
	size_t text_count;
};

enum {
	OPT_FORCE = 256,
	OPT_FAIL_ON_LOSS,
};

static const struct option own_options[] = {
	{ "from", required_argument, NULL, 'f' },
	{ "to", required_argument, NULL, 't' },
	{ "output", required_argument, NULL, 'o' },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "list", no_argument, NULL, 'l' },
	{ "fail-on-loss", no_argument, NULL, OPT_FAIL_ON_LOSS },
	{ "help", no_argument, NULL, 'h' },
};

#define OWN_OPTIONS (sizeof(own_options) / sizeof(own_options[0]))

static const struct fmt_option *option_of(const struct format *format, const char *name)
{
	for (const struct fmt_option *o = format->options; o && o->name; o++)
		if (!strcmp(o->name, name))
			return o;
	return NULL;
}

/* The options of all formats, each name once, behind our own. */
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

static bool give(struct convert *convert, const char *name, const char *value)
{
	struct fmt_given *more = realloc(convert->given, (convert->givens + 1) * sizeof(*more));

	if (!more) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	convert->given = more;
	more[convert->givens].name = name;
	more[convert->givens++].value = value ? value : "";
	return true;
}

/* KEY or KEY=VALUE behind -O. */
static bool give_text(struct convert *convert, const char *text)
{
	char **more = realloc(convert->texts, (convert->text_count + 1) * sizeof(*more));
	char *value;

	if (!more)
		return give(convert, NULL, NULL);
	convert->texts = more;
	more[convert->text_count] = strdup(text);
	if (!more[convert->text_count])
		return give(convert, NULL, NULL);
	text = more[convert->text_count++];
	value = strchr(text, '=');
	if (value)
		*value++ = '\0';
	return give(convert, text, value);
}

static void list(void)
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

static const struct format *named(const char *name, bool source)
{
	const struct format *format = fmt_by_name(name);

	if (!format)
		say("%s: no such format; --list lists them", name);
	else if (source ? !format->import : !format->open)
		say("%s: this format can only be %s", name, source ? "written" : "read");
	else
		return format;
	return NULL;
}

static const struct format *by_suffix(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < formats_count; i++)
		if (formats[i]->open && formats[i]->suffix && !strcmp(formats[i]->suffix, dot + 1))
			return formats[i];
	say("%s: which format? --to names it, and --list lists them",
	    strcmp(path, "-") ? path : "standard output");
	return NULL;
}

static const struct format *by_contents(struct fmt_input *input, int *status)
{
	struct fmt_head head;

	*status = input_peek(input, &head);
	if (*status)
		return NULL;
	for (size_t i = 0; i < formats_count; i++)
		if (formats[i]->detect && formats[i]->detect(&head))
			return formats[i];
	say("%s: no format that can be read; --from names one, and --list lists them", input->name);
	*status = TOOL_FAILURE;
	return NULL;
}

/* Every option belongs to one of the two formats, and has a value or none as that says. */
static bool options_fit(const struct convert *convert, const struct fmt_flow *flow)
{
	for (size_t i = 0; i < convert->givens; i++) {
		const char *name = convert->given[i].name;
		const struct fmt_option *option = option_of(flow->from, name);

		if (!option)
			option = option_of(flow->to, name);
		if (!option) {
			say("--%s: no option of %s or %s", name, flow->from->name, flow->to->name);
			return false;
		}
		if (!option->has_value && *convert->given[i].value) {
			say("--%s: has no value", name);
			return false;
		}
		if (option->has_value && !*convert->given[i].value) {
			say("--%s: needs a value", name);
			return false;
		}
	}
	return true;
}

static int flow_through(struct fmt_flow *flow, struct output *output)
{
	int status, err;

	flow->output = &output->shown;
	err = flow->to->open(flow, &output->shown, &flow->context);
	if (!flow_answer(flow, err))
		return flow->status;
	status = flow->from->import(flow, flow->input);
	flow->to->close(flow->context);
	flow_say_faults(flow);
	return tool_worse(status, flow->status);
}

static int convert_to(const struct convert *convert, struct fmt_flow *flow)
{
	static struct output output;
	int status = output_open(&output, convert->output, flow->to->output, convert->force);
	int kept;

	if (status)
		return status;
	status = flow_through(flow, &output);
	if (status != TOOL_OK && status != TOOL_DAMAGED) {
		output_drop(&output);
		return status;
	}
	kept = output_keep(&output);
	if (!kept && convert->fail_on_loss && flow->lost)
		kept = TOOL_LOST;
	return tool_worse(status, kept);
}

static int convert_input(const struct convert *convert, struct fmt_input *input)
{
	const struct format *to = convert->to ? named(convert->to, false)
					      : by_suffix(convert->output);
	const struct format *from = NULL;
	struct fmt_flow flow;
	int status = TOOL_USAGE;

	if (!to)
		return TOOL_USAGE;
	if (convert->from)
		from = named(convert->from, true);
	else
		from = by_contents(input, &status);
	if (!from)
		return status;
	flow_init(&flow, from, to);
	flow.input = input;
	flow.given = convert->given;
	flow.givens = convert->givens;
	status = options_fit(convert, &flow) ? convert_to(convert, &flow) : TOOL_USAGE;
	flow_fini(&flow);
	return status;
}

static int convert_path(const struct convert *convert, const char *path)
{
	static struct fmt_input input;
	int status = input_open(&input, path);

	if (status)
		return status;
	status = convert_input(convert, &input);
	input_close(&input);
	return status;
}

static int parse(int argc, char **argv, struct convert *convert, const struct option *options)
{
	int option;

	while ((option = tool_option(argc, argv, ":f:t:o:O:lh", options)) != -1) {
		switch (option) {
		case 'h':
			tool_help(&convert_command);
			return -1;
		case 'l':
			list();
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
			if (!give_text(convert, optarg))
				return TOOL_FAILURE;
			break;
		case OPT_FORCE:
			convert->force = true;
			break;
		case OPT_FAIL_ON_LOSS:
			convert->fail_on_loss = true;
			break;
		default:
			if (option < FORMAT_OPTION)
				return tool_usage(&convert_command);
			if (!give(convert, options[option - FORMAT_OPTION].name, optarg))
				return TOOL_FAILURE;
		}
	}
	return TOOL_OK;
}

static int run(int argc, char **argv)
{
	struct convert convert = { .output = "-" };
	struct option *options = all_options();
	int status;

	if (!options) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	status = parse(argc, argv, &convert, options);
	if (!status && argc - optind != 1) {
		say(argc == optind ? "convert: which trace?" : "convert: one trace at a time");
		status = tool_usage(&convert_command);
	}
	if (!status)
		status = convert_path(&convert, argv[optind]);
	for (size_t i = 0; i < convert.text_count; i++)
		free(convert.texts[i]);
	free(convert.texts);
	free(convert.given);
	free(options);
	return status < 0 ? TOOL_OK : status;
}

const struct tool_command convert_command = {
	.name = "convert",
	.summary = "a trace from one format into another",
	.help = help,
	.run = run,
};
