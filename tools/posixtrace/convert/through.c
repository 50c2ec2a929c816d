/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * through.c - one conversion. It selects the source, checks the options, opens the output,
 * converts, and completes or drops the output. If the sink needs a plan, the input is read twice.
 */
#include "convert/through.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/nearest.h"
#include "base/say.h"
#include "base/spool.h"
#include "convert/choice.h"
#include "convert/output.h"
#include "convert/scan.h"

/*
 * Returns the format's option with this name. Returns NULL if the format has no such option, or
 * only one for the other direction. "other" is the value of options that are only for the other
 * direction.
 */
static const struct option_row *option_of(const struct format *format, const char *name, int other)
{
	for (const struct option_row *o = format->options; o && o->name; o++)
		if (!strcmp(o->name, name) && o->value != other)
			return o;
	return NULL;
}

/* Offers the names of a format's options for one direction. */
static void offer_options(struct nearest *nearest, const struct format *format, int other)
{
	for (const struct option_row *o = format->options; o && o->name; o++)
		if (o->value != other)
			nearest_offer(nearest, o->name);
}

/*
 * Prints that an option has no effect in this conversion. The option is only for the other
 * direction of its format, or is not an option of these two formats.
 */
static void say_no_option(const struct fmt_flow *flow, const char *name)
{
	struct nearest nearest;

	if (option_of(flow->to, name, 0)) {
		say("--%s: only for an input of %s, but this one is %s", name, flow->to->name,
		    flow->from->name);
		return;
	}
	if (option_of(flow->from, name, 0)) {
		say("--%s: only for an output of %s, but this one is %s", name, flow->from->name,
		    flow->to->name);
		return;
	}
	nearest_begin(&nearest, name);
	offer_options(&nearest, flow->from, FMT_SINK_OPTION);
	offer_options(&nearest, flow->to, FMT_SOURCE_OPTION);
	say("--%s: no option of %s or %s%s", name, flow->from->name, flow->to->name,
	    nearest_hint(&nearest));
}

/* Prints the reason for a missing format: this build lacks the format, or the name is wrong. */
static void say_no_format(const char *name, bool source)
{
	const char *why = fmt_left_out(name);
	struct nearest nearest;

	if (why) {
		say("%s: this posixtrace was built without this format: %s", name, why);
		return;
	}
	nearest_begin(&nearest, name);
	for (size_t i = 0; i < formats_count; i++)
		if (source ? formats[i]->import != NULL : formats[i]->open != NULL)
			nearest_offer(&nearest, formats[i]->name);
	say("%s: no such format%s", name,
	    nearest.name ? nearest_hint(&nearest) : "; --list lists them");
}

const struct format *through_named(const char *name, bool source)
{
	const struct format *format = fmt_by_name(name);

	if (!format)
		say_no_format(name, source);
	else if (source ? !format->import : !format->open)
		say("%s: this format can only be %s", name, source ? "written" : "read");
	else
		return format;
	return NULL;
}

const struct format *through_suffix(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < formats_count; i++)
		if (formats[i]->open && formats[i]->suffix && !strcmp(formats[i]->suffix, dot + 1))
			return formats[i];
	say("%s: the format of the output is missing: give --to; --list lists the formats",
	    strcmp(path, "-") ? path : "standard output");
	return NULL;
}

/*
 * Finds the format of one input by its first bytes. If no format fits, prints an error, sets
 * *status and returns NULL.
 */
static const struct format *by_contents(struct fmt_input *input, int *status)
{
	const struct format *format;
	const char *unread;
	struct fmt_head head;

	*status = input_peek(input, &head);
	if (*status)
		return NULL;
	format = fmt_detect(&head);
	if (format)
		return format;
	unread = fmt_unread(&head);
	if (unread)
		say("%s: this is not a trace log, but %s", input->name, unread);
	else
		say(head.len ? "%s: the format is not recognized; name it with --from (--list "
			       "lists all)" : "%s: it is empty", input->name);
	*status = TOOL_FAILURE;
	return NULL;
}

/*
 * Returns the format of all inputs, or NULL with *status set. Only logs can be merged, because
 * inputs of other formats have no common clock.
 */
static const struct format *source_of(const struct through *through, struct fmt_input *input,
				      int *status)
{
	const struct format *from = NULL;

	for (struct fmt_input *i = input; i; i = i->next) {
		from = through->from ? through->from : by_contents(i, status);
		if (!from || !input->next)
			break;
		if (!strcmp(from->name, "log"))
			continue;
		say("%s: the format is %s, but several inputs must all be logs; "
		    "'posixtrace convert %s -o LOG.ptl' makes a log of it", i->name, from->name,
		    i->name);
		*status = TOOL_USAGE;
		return NULL;
	}
	return from;
}

/*
 * Checks the options before the output is opened. Each option must belong to one of the two
 * formats, and must have a value if the format requires it. getopt cannot check that, because its
 * table has the options of all formats, and because -O accepts any text.
 */
static bool options_fit(const struct through *through, const struct fmt_flow *flow)
{
	for (size_t i = 0; i < through->givens; i++) {
		const char *name = through->given[i].name;
		const struct option_row *option = option_of(flow->from, name, FMT_SINK_OPTION);

		if (!option)
			option = option_of(flow->to, name, FMT_SOURCE_OPTION);
		if (!option) {
			say_no_option(flow, name);
			return false;
		}
		if (!option->arg && *through->given[i].value) {
			say("--%s: this option accepts no value", name);
			return false;
		}
		if (option->arg && !*through->given[i].value) {
			say("--%s: needs a value", name);
			return false;
		}
	}
	return true;
}

/*
 * Runs the source into the sink. Returns the worse of two statuses: the status that the source
 * returns, and the status of the flow, which includes faults and a failure of the sink.
 */
static int run_flow(struct fmt_flow *flow, struct output *output)
{
	struct choice choice;
	int status, err = 0;

	flow->output = &output->shown;
	if (flow->wanted) {
		err = choice_init(&choice, flow, flow->wanted);
		flow->choice = &choice;
	}
	if (!err)
		err = flow->to->open(flow, &output->shown, &flow->context);
	status = flow_answer(flow, err) ? flow->from->import(flow, flow->input) : flow->status;
	meter_end(&flow->meter);
	/* open() of the sink may have made the context even if it failed. */
	if (flow->context && flow->to->close)
		flow->to->close(flow->context);
	if (flow->choice)
		choice_fini(&choice);
	flow->choice = NULL;
	flow_say_faults(flow);
	return tool_worse(status, flow->status);
}

/*
 * Reads the input for the plan if the sink needs one. An input that can be read only once, such as
 * a serial line, gets no plan, and its events have no spans. Returns 0 or an error number. If
 * *again becomes false, a part of the input is lost, and the message was printed.
 */
static int plan_flow(struct fmt_flow *flow, struct plan *plan, bool *again)
{
	int err;

	*again = true;
	if (!flow->to->scans)
		return 0;
	err = scan(flow, plan, again);
	if (!err)
		flow->plan = plan;
	if (err == ENOTTY && flow->to->scans == FMT_SCANS_SPANS)
		say("%s: a terminal cannot be read twice, so the output has no spans; convert to "
		    "log first, and then the log",
		    flow->input->name);
	if (!*again && err == EFBIG)
		spool_say_why(flow->input->name, err);
	else if (!*again)
		say("%s: it is read twice, and cannot be copied to a file in TMPDIR or /tmp: %s",
		    flow->input->name, strerror(err));
	return *again && err == ENOTTY ? 0 : err;
}

/*
 * Returns whether the output is also an input, which the conversion with --force would destroy. A
 * pattern such as *.ptl easily includes the output.
 */
static bool is_read(const char *path, const struct fmt_input *input)
{
	struct stat output, read;

	if (!strcmp(path, "-") || stat(path, &output) || !S_ISREG(output.st_mode))
		return false;
	for (; input; input = input->next)
		if (!fstat(input->fd, &read) && read.st_dev == output.st_dev &&
		    read.st_ino == output.st_ino) {
			say("%s: this file is also an input; give another output", path);
			return true;
		}
	return false;
}

/*
 * An output without events may be valid. But if no event of the input was wanted, the options are
 * probably wrong, so the function prints this.
 */
static void say_if_none_was_wanted(const struct fmt_flow *flow)
{
	if (flow->wanted && flow->read && flow->events <= flow->stacks)
		say("%s%s: no event is selected", flow->input->name,
		    flow->sources > 1 ? " and the others" : "");
}

static int into_output(const struct through *through, struct fmt_flow *flow)
{
	/*
	 * The output is static, because its buffer is too large for the stack. A process runs one
	 * conversion at a time.
	 */
	static struct output output;
	struct plan plan = { .fd = -1 };
	int status, kept, err;
	bool again;

	if (is_read(through->output, flow->input))
		return TOOL_FAILURE;
	status = output_open(&output, through->output, flow->to->output, through->force);
	if (status)
		return status;
	err = plan_flow(flow, &plan, &again);
	status = again ? run_flow(flow, &output) : TOOL_FAILURE;
	plan_fini(&plan);
	flow->plan = NULL;
	/*
	 * Wrong options and refused inputs end the first reading, too. For these, the second
	 * reading prints the messages.
	 */
	if (err && again && (status == TOOL_OK || status == TOOL_DAMAGED)) {
		say("%s: the first of two readings, which finds the spans, failed: %s: it needs "
		    "memory, and a file in TMPDIR or /tmp", flow->input->name, strerror(err));
		status = TOOL_FAILURE;
	}
	/* The output of a damaged input is kept, and the exit status reports the damage. */
	if (status != TOOL_OK && status != TOOL_DAMAGED) {
		output_drop(&output);
		return status;
	}
	say_if_none_was_wanted(flow);
	kept = output_keep(&output);
	/* The losses matter only if the output was completed. */
	if (!kept && through->fail_on_loss && flow->lost)
		kept = TOOL_LOST;
	return tool_worse(status, kept);
}

int through(const struct through *through, struct fmt_input *input)
{
	struct fmt_flow flow;
	int status = TOOL_USAGE;
	const struct format *from = source_of(through, input, &status);

	if (!from)
		return status;
	flow_init(&flow, from, through->to);
	flow.input = input;
	/*
	 * The number of inputs must be known before the sink is opened, because sinks depend on
	 * whether the events come from several logs.
	 */
	for (const struct fmt_input *i = input->next; i; i = i->next)
		flow.sources++;
	flow.clocks = through->clocks;
	flow.wanted = through->wanted;
	flow.given = through->given;
	flow.is_metered = through->is_metered;
	flow.givens = through->givens;
	status = options_fit(through, &flow) ? into_output(through, &flow) : TOOL_USAGE;
	flow_fini(&flow);
	return status;
}
