/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report.c - the command report: prints a trace of any format that convert reads, as a table or by
 * templates. report_merge.c prints several logs as one. For a single input, the import function of
 * its format passes the events to the sink of report_sink.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/text.h"
#include "convert/flow.h"
#include "convert/output.h"
#include "report/report.h"
#include "report/report_sink.h"
#include "symbols/symbols.h"

extern const struct tool_command report_command;

/*
 * Prints a key in the form that it has in a template file. A name comes from that file and may have
 * control characters, so the name is escaped.
 */
static void list_key(const struct program *program, const struct key *key)
{
	struct out *out = &out_stdout;

	switch (key->kind) {
	case KEY_NUMBER:
		out_printf(out, "%03X", key->number);
		break;
	case KEY_NAME:
		out_char(out, '@');
		text_safe(out, program->text + key->name.offset, key->name.len);
		break;
	default:
		out_str(out, "@*");
		break;
	}
}

/*
 * Lists the templates in the order of loading. A template that a later file replaced or removed is
 * not listed.
 */
static void list_templates(const struct templates *templates)
{
	for (size_t i = 0; i < templates->count; i++) {
		const struct template *template = templates->list[i];

		if (template->removed)
			continue;
		list_key(&templates->program, &template->key);
		out_str(&out_stdout, "  ");
		text_safe(&out_stdout, templates->program.text + template->label.offset,
			  template->label.len);
		out_char(&out_stdout, '\n');
	}
}

/*
 * Detects the format by the first bytes of the input, without consuming them. Returns NULL after a
 * message.
 */
static const struct format *source_of(struct fmt_input *input)
{
	const struct format *format;
	const char *unread;
	struct fmt_head head;

	if (input_peek(input, &head))
		return NULL;
	format = fmt_detect(&head);
	if (format)
		return format;
	unread = fmt_unread(&head);
	if (head.len == 0)
		say("%s: it is empty", input->name);
	else
		say("%s: this is not a trace log%s%s", input->name, unread ? ", but " : "",
		    unread ? unread : "");
	return NULL;
}

/*
 * Runs the flow from the input to the sink. If the sink does not need the rest of the trace, it
 * ends the flow with an error and sets sink->done. This error is not a failure, so sink->status is
 * the result.
 */
static int print_events(struct report_sink *sink, struct fmt_input *input)
{
	const struct fmt_output output = { .out = sink->out, .fd = sink->out->fd,
					   .shown = "report" };
	const struct format *source = source_of(input);
	struct fmt_flow flow;
	int status;

	if (!source)
		return TOOL_FAILURE;
	flow_init(&flow, source, &report_format);
	flow.input = input;
	flow.output = &output;
	run_init(&sink->run, sink->templates, input->name);
	report_sink_use(sink);
	flow_answer(&flow, report_format.open(&flow, &output, &flow.context));
	status = source->import(&flow, input);
	report_format.close(flow.context);
	run_fini(&sink->run);
	flow_say_faults(&flow);
	status = sink->done ? sink->status : tool_worse(status, flow.status);
	flow_fini(&flow);
	return status;
}

/*
 * Prints to the file of the option -o, or to standard output. A new file gets its name only when
 * the report is complete; see convert/output.h.
 */
static int print_to(struct report_sink *sink, struct fmt_input *input, char *const *log,
		    const struct report *report)
{
	static struct output file;

	sink->out = &out_stdout;
	if (!report->output || !strcmp(report->output, "-"))
		return print_events(sink, input);
	if (output_open_text(&file, report->output, report->force, log, 1))
		return TOOL_FAILURE;
	sink->out = &file.out;
	return output_close(&file, print_events(sink, input));
}

/*
 * "sink" and "input" are static because they are large: "sink" contains the machine that runs
 * templates, with its text of 64 KiB. One object of each is enough, because the command prints only
 * one log.
 */
static int print_log(struct report *report, const struct templates *templates,
		     char *path)
{
	static struct report_sink sink; /* large */
	static struct fmt_input input;
	int status = input_open(&input, path);

	if (status)
		return status;
	sink.columns = report->columns;
	sink.table.when = report->when;
	sink.table.pick = report->pick.count ? &report->pick : NULL;
	sink.select = &report->select;
	sink.wanted = &report->wanted;
	sink.templates = report->templates ? templates : NULL;
	sink.header = report->header;
	status = print_to(&sink, &input, &path, report);
	input_close(&input);
	return status;
}

/*
 * Loads all template files before it prints the errors of templates, so that one run reports the
 * errors of all files. Returns the exit status: TOOL_FAILURE if a file cannot be read, and
 * TOOL_USAGE if a template is wrong.
 */
static int load_templates(const struct report *report, struct templates *templates)
{
	bool good;

	for (size_t i = 0; i < report->templates; i++) {
		int err = templates_load(templates, report->template[i]);

		if (err) {
			say("%s: %s", report->template[i], strerror(err));
			return TOOL_FAILURE;
		}
	}
	good = templates_link(templates);
	diag_report(&templates->diags);
	if (templates->program.no_memory) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	return good ? TOOL_OK : TOOL_USAGE;
}

/*
 * Prints the report of the log at path. "path" is NULL with --check and --list, which need no log.
 */
static int print_report(struct report *report, char *path)
{
	struct templates templates;
	int status;

	templates_init(&templates);
	status = load_templates(report, &templates);
	if (!status && report->list)
		list_templates(&templates);
	if (!status && path)
		status = print_log(report, &templates, path);
	templates_fini(&templates);
	return status;
}

/*
 * Checks which options may be used together. report_option() cannot do that, because it processes
 * only one option. After a message, a hint on the usage follows.
 */
static int report_on(struct report *report, int argc, char **argv)
{
	bool no_log = report->check || report->list;

	if (!report->templates && no_log)
		say("report: the name of a template file is missing; give it after -t");
	else if (!report->templates && report->columns_given)
		say("report: ids, exec, pid, tid and timestamp need templates (-t)");
	else if (!wanted_ready(&report->wanted, report->when == WHEN_UTC))
		return tool_usage(&report_command);
	else if (argc == optind && !no_log)
		say("report: the name of a log is missing");
	else if (argc - optind > 1 && (report->templates || no_log))
		say("report: templates print one log; give only one");
	else if (argc - optind > 1)
		return report_merge(report, argv + optind, (size_t)(argc - optind));
	else
		return print_report(report, no_log ? NULL : argv[optind]);
	return tool_usage(&report_command);
}

/* Frees everything that the options have allocated, also after a failure. */
static int report_run(int argc, char **argv)
{
	struct report report = { .header = true };
	int option, status = TOOL_OK;

	columns_init(&report.columns);
	wanted_init(&report.wanted);
	while (!status && (option = tool_option(argc, argv, &report_command)) != -1) {
		if (option == REPORT_HELP)
			return tool_help(&report_command);
		if (!report_option(&report, option, optarg))
			status = tool_usage(&report_command);
	}
	if (!status)
		status = report_on(&report, argc, argv);
	merge_fini(&report.merge);
	wanted_fini(&report.wanted);
	select_fini(&report.select);
	free(report.template);
	return status;
}

const struct tool_command report_command = {
	.name = "report",
	.usage = "[OPTION]... LOG...\n"
		 "-t FILE [OPTION]... LOG\n"
		 "-t FILE --check | --list",
	.about = "Prints the events of LOG, of any format that convert reads (- is standard "
		 "input), in columns: time, seconds since the event shown before, process, "
		 "thread, event type, fields. With templates, in the language of AIX's trcrpt, "
		 "it prints each event as its template says; posixtrace-template(5) has the "
		 "language.",
	.options = report_options,
	.notes = WANTED_TIME_NOTE
	"An error in a template is printed as FILE:LINE:COLUMN: error: [CODE] TEXT. "
	"Then no event is printed, and the exit status is 2.\n"
	"Exit status: 0 ok, 1 failure, 2 usage or a wrong template, 3 damaged or never "
	"closed.",
	.operands = OPTION_LOG,
	.run = report_run,
};
