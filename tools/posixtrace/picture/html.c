/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* html.c - the command html: writes a log as a page for a browser, complete in one file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/nearest.h"
#include "base/out.h"
#include "base/path.h"
#include "base/say.h"
#include "base/tool.h"
#include "choose/at.h"
#include "convert/output.h"
#include "log/losses.h"
#include "log/origin.h"
#include "log/value.h"
#include "picture/items_text.h"
#include "picture/page.h"
#include "picture/picture.h"
#include "show/merge_part.h"
#include "symbols/data.h"
#include "symbols/symbols.h"

extern const struct tool_command html_command;

/*
 * HTML_BINS is the number of bins of the lowest level. By default at most HTML_ITEMS points and
 * HTML_ITEMS spans are kept. HTML_BINS and HTML_ITEMS bound the size of the page and the memory of
 * the browser.
 */
#define HTML_BINS  65536
#define HTML_ITEMS 2000000

/* ------------------------------------------------------------------ the data of the page */

/*
 * Writes a string. "<" is escaped, so that no text of the log can end the script element. A text of
 * more than OUT_BYTES / 8 bytes loses its end.
 */
static void html_string(struct json *json, const char *name, const char *text, size_t len)
{
	static struct out scratch = { .fd = -1 };

	scratch.used = 0;
	json_quoted(&scratch, text, len < OUT_BYTES / 8 ? len : OUT_BYTES / 8);
	json_name(json, name);
	for (size_t i = 0; i < scratch.used; i++)
		if (scratch.bytes[i] == '<')
			out_str(json->out, "\\u003c");
		else
			out_char(json->out, scratch.bytes[i]);
	scratch.used = 0;
}

/* Begins a new line and an array whose elements are lines. */
static void html_lines(struct json *json, const char *name)
{
	json_new_line(json);
	json_array(json, name);
}

static void html_line(struct json *json)
{
	json_new_line(json);
	json_object(json, NULL);
}

/*
 * Writes the types with their numbers of events. The last entry counts events of types that the log
 * does not list, as a damaged log may have.
 */
static void html_types(struct json *json, const struct picture *picture)
{
	html_lines(json, "types");
	for (size_t i = 0; i <= picture->types; i++) {
		const struct log_type *type = picture->type[i].type;

		html_line(json);
		html_string(json, "name", type ? type->name : "(without a name)",
			    type ? type->name_len : 16);
		json_unsigned(json, "count", picture->type[i].count);
		if (picture->type[i].errors)
			json_unsigned(json, "errors", picture->type[i].errors);
		json_end_object(json);
	}
	json_end_array(json);
}

static void html_bar(struct json *json, uint64_t from_ns, uint64_t count)
{
	json_array(json, NULL);
	json_unsigned(json, NULL, from_ns);
	json_unsigned(json, NULL, count);
	json_end_array(json);
}

/*
 * Writes the histogram with four bars for each power of two, because the buckets of struct
 * histogram are finer than a page can show. Empty bars are omitted; a series without values has one
 * empty bar.
 */
static void html_bars(struct json *json, const struct histogram *time)
{
	struct histogram_bucket bucket;
	unsigned cursor = 0;
	uint64_t from = 0, count = 0;

	json_array(json, "bars");
	while (histogram_next(time, &cursor, &bucket)) {
		unsigned power = bucket.low ? 63 - (unsigned)__builtin_clzll(bucket.low) : 0;
		uint64_t low = power < 2 ? bucket.low : bucket.low >> (power - 2) << (power - 2);

		if (low != from && count) {
			html_bar(json, from, count);
			count = 0;
		}
		from = low;
		count += bucket.count;
	}
	html_bar(json, from, count);
	json_end_array(json);
}

/* Writes the series in the order of their indexes, because the items refer to series by index. */
static void html_series(struct json *json, const struct picture *picture)
{
	html_lines(json, "series");
	for (size_t i = 0; i < picture->count; i++) {
		const struct series *series = picture->series[i].series;
		const struct histogram *time = &picture->series[i].time;

		html_line(json);
		html_string(json, "name", series->name, strlen(series->name));
		json_unsigned(json, "count", time->count);
		json_real(json, "total", "%.0f", time->total);
		json_unsigned(json, "min", time->min);
		json_unsigned(json, "p50", histogram_percentile(time, 0.5));
		json_unsigned(json, "p99", histogram_percentile(time, 0.99));
		json_unsigned(json, "max", time->max);
		html_bars(json, time);
		json_end_object(json);
	}
	json_end_array(json);
}

/*
 * Writes the rows in the order in which they are shown. rows_sort() has computed the places. The
 * search for each place is fast enough, because there are at most PICTURE_ROWS rows.
 */
static void html_rows(struct json *json, const struct picture *picture)
{
	html_lines(json, "rows");
	for (size_t shown = 0; shown < picture->rows; shown++)
		for (size_t i = 0; i <= PICTURE_ROWS; i++) {
			const struct picture_row *row = &picture->row[i];

			if (row->index != shown || (!row->points && !row->spans))
				continue;
			html_line(json);
			if (picture->logs > 1)
				json_unsigned(json, "log", row->log);
			json_signed(json, "pid", row->pid);
			json_signed(json, "tid", row->tid);
			json_unsigned(json, "lanes", row->lanes);
			html_string(json, "name", row->name, strlen(row->name));
			json_unsigned(json, "points", row->points);
			json_unsigned(json, "spans", row->spans);
			json_end_object(json);
		}
	json_end_array(json);
}

/*
 * Returns the place of a time on the axis in nanoseconds. A time outside of the axis gets the
 * nearest end.
 */
static uint64_t html_place(const struct picture *picture, int64_t time_ns)
{
	uint64_t ns = picture_place(picture, time_ns);

	return ns < picture->length_ns ? ns : picture->length_ns;
}

/* Writes the bands as places on the axis. In the time of a band, all or some events are missing. */
static void html_bands(struct json *json, const struct picture *picture)
{
	static const char *const kind[] = { [GAP_LOST] = "lost", [GAP_STOPPED] = "stopped",
					    [GAP_FULL] = "full", [GAP_DAMAGED] = "damaged" };

	html_lines(json, "bands");
	for (size_t i = 0; i < picture->bands; i++) {
		const struct gap *band = &picture->band[i].gap;

		html_line(json);
		if (picture->logs > 1)
			json_unsigned(json, "log", picture->band[i].log);
		json_unsigned(json, "begin", html_place(picture, band->begin_ns));
		json_unsigned(json, "end", html_place(picture, band->end_ns));
		json_string_member(json, "kind", kind[band->kind]);
		json_string_member(json, "name", bands_name(band->kind));
		json_end_object(json);
	}
	json_end_array(json);
}

/*
 * Writes the names of the functions, and each call stack as indexes of these names, the innermost
 * function first.
 */
static void html_flames(struct json *json, const struct flames *flames)
{
	json_new_line(json);
	json_object(json, "flames");
	json_unsigned(json, "left_out", flames->left_out);
	html_lines(json, "names");
	for (size_t i = 0; i < flames->functions.count; i++)
		html_string(json, NULL, flames->functions.name[i],
			    strlen(flames->functions.name[i]));
	json_end_array(json);
	html_lines(json, "stacks");
	for (size_t i = 0; i < flames->stack_count; i++) {
		const struct flame_stack *stack = &flames->stack[i];

		json_array(json, NULL);
		for (size_t k = 0; k < stack->count; k++)
			json_unsigned(json, NULL, flames->frame[stack->first + k]);
		json_end_array(json);
	}
	json_end_array(json);
	json_end_object(json);
}

/*
 * Writes the counters without their values. A time is a number of nanoseconds. "count" is the
 * number of values in the log. The page may have fewer.
 */
static void html_curves(struct json *json, const struct picture *picture)
{
	const struct curves *curves = &picture->curves;

	html_lines(json, "curves");
	for (size_t i = 0; i < curves->count; i++) {
		const struct curve *curve = &curves->curve[i];
		const struct counter *counter = &curve->counter;
		const struct posix_trace_field_np *field =
			&curve->of->schema->field[counter->field];

		html_line(json);
		if (picture->logs > 1)
			json_unsigned(json, "log", curve->log);
		json_signed(json, "pid", curve->pid);
		json_unsigned(json, "type", curve->type);
		html_string(json, "field", field->name, strlen(field->name));
		json_bool(json, "is_time", field->type == POSIX_TRACE_TYPE_NS_NP);
		json_unsigned(json, "count", counter->count);
		json_unsigned(json, "unknown", counter->unknown);
		if (counter->count) {
			value_json(json, "min", &counter->min);
			value_json(json, "max", &counter->max);
			value_json(json, "last", &counter->last);
			json_double(json, "mean", counters_mean(counter));
		}
		json_end_object(json);
	}
	json_end_array(json);
	json_bool(json, "has_values", curves->bin_ns == 0);
	json_unsigned(json, "values_left_out", curves->left_out);
}

/*
 * Writes the numbers of waits and holds in the logs, and the names of locks. Before each name it
 * writes the index of the log. The text of a name is "PID ADDRESS NAME". Waits that are shorter
 * than least_wait, and holds that are shorter than least_hold, are not used for links.
 */
static void html_links(struct json *json, const struct picture *picture)
{
	uint64_t waits = 0, holds = 0, least_wait = 0, least_hold = 0;

	for (size_t i = 0; i < picture->logs; i++) {
		const struct links *links = &picture->log[i].links;

		waits += links->waits_found;
		holds += links->holds_found;
		if (links->least_wait_ns > least_wait)
			least_wait = links->least_wait_ns;
		if (links->least_hold_ns > least_hold)
			least_hold = links->least_hold_ns;
	}
	if (!waits)
		return;
	json_new_line(json);
	json_object(json, "links");
	json_unsigned(json, "waits", waits);
	json_unsigned(json, "holds", holds);
	json_unsigned(json, "least_wait", least_wait);
	json_unsigned(json, "least_hold", least_hold);
	json_array(json, "locks");
	for (size_t i = 0; i < picture->logs; i++) {
		const struct nameset *names = &picture->log[i].links.names;

		for (size_t k = 0; k < names->count; k++) {
			json_unsigned(json, NULL, i);
			html_string(json, NULL, names->name[k], strlen(names->name[k]));
		}
	}
	json_end_array(json);
	json_end_object(json);
}

/*
 * Writes the kinds of states of threads. The array "total" has the time of each kind for all
 * threads together. Changes within bin_ns nanoseconds were put together. If bin_ns is 0, no changes
 * were put together.
 */
static void html_states(struct json *json, const struct picture *picture)
{
	const struct states *states = &picture->states;

	if (!states->rows)
		return;
	json_new_line(json);
	json_object(json, "states");
	json_unsigned(json, "bin_ns", states->bin_ns);
	json_array(json, "names");
	for (int kind = 0; kind < STATES_KINDS; kind++)
		html_string(json, NULL, states_name((enum states_kind)kind),
			    strlen(states_name((enum states_kind)kind)));
	json_end_array(json);
	json_array(json, "total");
	for (int kind = 0; kind < STATES_KINDS; kind++)
		json_unsigned(json, NULL, states->total_ns[kind]);
	json_end_array(json);
	json_end_object(json);
}

/*
 * Writes the texts with the fields of events. Each line of a text has a field. is_all is true if
 * the page has the fields of every event.
 */
static void html_details(struct json *json, const struct picture *picture)
{
	const struct details *details = &picture->details;

	if (!details->kept.items)
		return;
	json_new_line(json);
	json_object(json, "details");
	json_bool(json, "is_all", details->kept.items == picture->events);
	json_unsigned(json, "count", details->kept.items);
	json_array(json, "texts");
	for (size_t i = 0; i < details->texts.count; i++) {
		json_new_line(json);
		html_string(json, NULL, details->texts.name[i], strlen(details->texts.name[i]));
	}
	json_end_array(json);
	json_end_object(json);
}

/*
 * Writes the logs of a page that has several logs. For each log it writes by how much the log's
 * times are moved, and the error of a comparison with times of the other logs. On a page of one
 * log, html_meta() writes the facts of the log.
 */
static void html_logs(struct json *json, const struct picture *picture)
{
	html_lines(json, "logs");
	for (size_t i = 0; i < picture->logs; i++) {
		const struct picture_log *log = &picture->log[i];
		const struct posix_trace_loginfo_np *info = &log->log.info;

		html_line(json);
		html_string(json, "name", log->name, strlen(log->name));
		html_string(json, "path", log->log.path, strlen(log->log.path));
		html_string(json, "host", info->host, strnlen(info->host, sizeof(info->host)));
		json_unsigned(json, "events", log->events);
		json_unsigned(json, "spans", log->spans);
		json_unsigned(json, "lost", losses_count(&log->ledger));
		json_exact(json, "shift_ns", log->shift_ns);
		json_signed(json, "error_ns", log->error_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

/*
 * Writes all data except points, spans and bins as one JSON object. Numbers beyond 2^53 lose digits
 * in the browser. For this reason times are relative to the beginning of the axis, and begin_ns
 * itself is a string.
 */
static void html_meta(struct out *out, const struct picture *picture)
{
	const struct posix_trace_loginfo_np *info = &picture->log->log.info;
	const char *path = picture->log->log.path;
	struct json json = json_begin(out);

	json_object(&json, NULL);
	html_string(&json, "log", path, strlen(path));
	html_string(&json, "host", info->host, strnlen(info->host, sizeof(info->host)));
	json_unsigned(&json, "events", picture->events);
	json_unsigned(&json, "spans", picture->spans);
	json_unsigned(&json, "lost", picture->lost);
	json_exact(&json, "begin_ns", picture->begin_ns);
	json_unsigned(&json, "length_ns", picture->length_ns);
	json_bool(&json, "has_points", picture->events <= picture->limit);
	json_bool(&json, "has_spans", !picture->least_ns);
	json_array(&json, "levels");
	for (size_t level = 0; level < picture->levels; level++)
		json_unsigned(&json, NULL, pyramid_bins(picture, level));
	json_end_array(&json);
	if (picture->logs > 1)
		html_logs(&json, picture);
	html_types(&json, picture);
	html_series(&json, picture);
	html_rows(&json, picture);
	html_bands(&json, picture);
	if (picture->curves.count)
		html_curves(&json, picture);
	html_links(&json, picture);
	html_states(&json, picture);
	html_details(&json, picture);
	if (picture->flames.count)
		html_flames(&json, &picture->flames);
	json_end_object(&json);
}

/* ------------------------------------------------------------------ the page */

/*
 * The parts of the script are one program, so their order matters: a constant must precede its use.
 */
static void html_script(struct out *out)
{
	out_bytes(out, page_items_js, page_items_js_bytes);
	out_bytes(out, page_paint_js, page_paint_js_bytes);
	out_bytes(out, page_rows_js, page_rows_js_bytes);
	out_bytes(out, page_curves_js, page_curves_js_bytes);
	out_bytes(out, page_links_js, page_links_js_bytes);
	out_bytes(out, page_states_js, page_states_js_bytes);
	out_bytes(out, page_chosen_js, page_chosen_js_bytes);
	out_bytes(out, page_view_js, page_view_js_bytes);
	out_bytes(out, page_panels_js, page_panels_js_bytes);
	out_bytes(out, page_search_js, page_search_js_bytes);
	out_bytes(out, page_flame_js, page_flame_js_bytes);
	out_bytes(out, page_hands_js, page_hands_js_bytes);
}

/*
 * Replaces the marks @NAME@ of the page by style, data and script. The page is part of the tool, so
 * its marks need no check.
 */
static void html_page(struct out *out, struct picture *picture)
{
	const char *at = (const char *)page_html, *end = at + page_html_bytes;

	for (const char *mark; (mark = memchr(at, '@', (size_t)(end - at)));
	     at = strchr(mark + 1, '@') + 1) {
		out_bytes(out, at, (size_t)(mark - at));
		if (!strncmp(mark, "@STYLE@", 7))
			out_bytes(out, page_css, page_css_bytes);
		else if (!strncmp(mark, "@META@", 6))
			html_meta(out, picture);
		else if (!strncmp(mark, "@ITEMS@", 7) && items_text(out, picture))
			out->err = ENOMEM;
		else if (!strncmp(mark, "@SCRIPT@", 8))
			html_script(out);
	}
	out_bytes(out, at, (size_t)(end - at));
}

/* The options of this command, except the options that select events. */
struct options {
	const char *output;
	uint64_t items, details;
	bool force, utc, by_start;
	struct merge clocks;   /* the clock errors of --clock-error */
	struct at at;
};

/* ------------------------------------------------------------------ several logs */

/*
 * The name of a log is the last part of its path. If another log has the same last part, the name
 * is the whole path.
 */
static void name_logs(struct picture *picture)
{
	for (size_t i = 0; i < picture->logs; i++) {
		const char *path = picture->log[i].log.path;

		picture->log[i].name = path_last(path);
		for (size_t k = 0; k < picture->logs; k++) {
			if (k != i && !strcmp(path_last(picture->log[k].log.path), path_last(path)))
				picture->log[i].name = path;
		}
	}
}

/* Moves the times of each log so that it begins at the same time as the first log with events. */
static void align_starts(struct picture *picture)
{
	const struct picture_log *first = NULL;

	for (size_t i = 0; i < picture->logs; i++) {
		struct picture_log *log = &picture->log[i];

		if (!log->log.info.blocks)
			continue;
		if (!first)
			first = log;
		/* The times of a damaged log may be so far apart that the log cannot be moved. */
		if (__builtin_sub_overflow(first->log.info.first_ns, log->log.info.first_ns,
					   &log->shift_ns))
			log->shift_ns = 0;
	}
}

/*
 * Finds and prints for each log the error of a comparison of its times with times of the other
 * logs. Returns false if memory is lacking. The sources get copies of the logs, which merge_bound()
 * only reads.
 */
static bool compare_clocks(struct picture *picture, struct merge *clocks)
{
	clocks->source = calloc(picture->logs, sizeof(*clocks->source));
	if (!clocks->source)
		return false;
	clocks->sources = picture->logs;
	for (size_t i = 0; i < picture->logs; i++) {
		clocks->source[i].log = picture->log[i].log;
		clocks->source[i].error_ns = merge_error_of(clocks, &picture->log[i].log);
	}
	merge_say_bounds(clocks);
	for (size_t i = 0; i < picture->logs; i++)
		for (size_t k = 0; k < picture->logs; k++) {
			int64_t ns = k == i ? -1 : merge_bound(clocks, &clocks->source[i],
							       &clocks->source[k]);

			if (ns > picture->log[i].error_ns)
				picture->log[i].error_ns = ns;
		}
	return true;
}

/*
 * Opens the logs and moves their times onto one axis. Returns TOOL_OK, or another status after it
 * printed the error.
 */
static int open_logs(struct picture *picture, char *const *log, size_t logs,
		     struct options *options)
{
	int status = TOOL_OK;

	/* No log may be given twice. */
	for (size_t i = 0; i < logs; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(log[i], log[k])) {
				say("%s: given twice", log[i]);
				return TOOL_USAGE;
			}
	for (size_t i = 0; status == TOOL_OK && i < logs; i++)
		status = picture_open(picture, log[i]);
	if (status != TOOL_OK)
		return status;
	for (size_t i = 0; i < picture->logs; i++)
		picture->log[i].error_ns = -1;
	name_logs(picture);
	if (options->by_start) {
		align_starts(picture);
	} else if (!compare_clocks(picture, &options->clocks)) {
		say("%s", strerror(ENOMEM));
		return TOOL_FAILURE;
	}
	return TOOL_OK;
}

/*
 * Opens the output before it reads the logs, so that an error of the output is reported immediately
 * and not after a long reading. 'input' are the files that must not be overwritten. Returns the
 * exit status.
 */
static int draw_html(struct picture *picture, char *const *log, size_t logs, char *const *input,
		     size_t inputs, struct options *options)
{
	static struct output file;
	bool standard = !strcmp(options->output, "-");
	int status;

	if (!standard && output_open_text(&file, options->output, options->force, input, inputs))
		return TOOL_FAILURE;
	picture->wanted.logs = logs;
	status = open_logs(picture, log, logs, options);
	picture->details.limit = (size_t)options->details;
	if (status == TOOL_OK)
		status = picture_take(picture, HTML_BINS, (size_t)options->items);
	if (status != TOOL_FAILURE && status != TOOL_USAGE)
		html_page(standard ? &out_stdout : &file.out, picture);
	free(options->clocks.source);
	free(options->clocks.error);
	return standard ? status : output_close(&file, status);
}

enum {
	OPT_FORCE = 256,
	OPT_ALIGN,
	OPT_DETAILS,
	OPT_ITEMS,
	OPT_PAIR,
	OPT_UTC,
};

static const struct option_row option_rows[] = {
	{ "output", 'o', "FILE",
		"the page; - is standard output; a file that exists is refused", OPTION_FILE },
	{ "force", OPT_FORCE, NULL, "overwrite a file that exists" },
	{ "items", OPT_ITEMS, "N",
		"keep at most N events and N spans; the default is 2000000; of more events, only "
		"the counts are kept, and of more spans, the longest" },
	{ "details", OPT_DETAILS, "N",
		"keep the fields of at most N events; the default is 131072; if the log has more, "
		"html prefers errors and ends of long spans" },
	{ "align", OPT_ALIGN, "clock|start",
		"show several logs on one clock (the default), or each from its own start",
		OPTION_CHOICE, "clock start" },
	{ .rows = merge_rows },
	{ .rows = at_rows },
	{ "pair", OPT_PAIR, "BEGIN,END[,FIELD]...",
		"event types that begin and end a span, as for posixtrace latency", OPTION_PAIR },
	{ .rows = wanted_choice_rows },
	{ .rows = symbols_rows },
	{ "utc", OPT_UTC, NULL, "times in options are in UTC" },
	OPTION_HELP,
	OPTION_END
};

/*
 * Reads an option that is a number of items. The number is limited to 32 bits, so that the sizes of
 * the arrays cannot overflow. Returns false after a message.
 */
static bool parse_items(const char *name, const char *text, uint64_t *items)
{
	return tool_number_within(name, text, 0, UINT32_MAX, items);
}

/* Parses an option of the command. Returns false after a message. */
static bool parse_option(struct picture *picture, struct options *options, int option)
{
	bool good;

	if (wanted_option(&picture->wanted, option, optarg, &good) ||
	    at_option(&options->at, option, optarg, &good))
		return good;
	switch (option) {
	case 'o':
		options->output = optarg;
		return true;
	case OPT_FORCE:
		options->force = true;
		return true;
	case OPT_ITEMS:
		return parse_items("--items", optarg, &options->items);
	case OPT_DETAILS:
		return parse_items("--details", optarg, &options->details);
	case OPT_ALIGN:
		options->by_start = !strcmp(optarg, "start");
		if (options->by_start || !strcmp(optarg, "clock"))
			return true;
		say("--align %s: must be clock or start%s", optarg,
		    nearest_among(optarg, strlen(optarg), "clock or start"));
		return false;
	case MERGE_CLOCK_ERROR:
		return merge_add_error(&options->clocks, optarg);
	case OPT_PAIR:
		return wanted_pair(&picture->wanted, optarg);
	case OPT_UTC:
		options->utc = true;
		return true;
	}
	/* If the option is unknown, tool_option() has printed the error. */
	return symbols_option(option, optarg);
}

/* All options are parsed before the log is opened. */
static int write_file(struct picture *picture, int argc, char **argv)
{
	static struct options options;
	int option, status;

	options.items = HTML_ITEMS;
	options.details = DETAILS_LIMIT;
	while ((option = tool_option(argc, argv, &html_command)) != -1) {
		if (option == 'h')
			return tool_help(&html_command);
		if (!parse_option(picture, &options, option))
			return tool_usage(&html_command);
	}
	if (options.by_start && options.clocks.errors) {
		say("html: --align start compares no clocks, so --clock-error is not possible");
		return tool_usage(&html_command);
	}
	if (!wanted_ready(&picture->wanted, options.utc))
		return tool_usage(&html_command);
	if ((optind >= argc && !options.at.url) || !options.output) {
		say("html: give one or more logs, and the output after -o");
		return tool_usage(&html_command);
	}
	options.at.wanted = &picture->wanted;
	options.at.pairs = true;
	options.at.shows_functions = true;
	value_symbol = data_symbol;
	/*
	 * The logs of one recording have the same threads, so they are one timeline. The user may
	 * still want each log from its own start, or give a log an error of its clock.
	 */
	options.at.joins = !options.at.url && !options.by_start && !options.clocks.errors &&
			   origin_is_one(argv + optind, (size_t)(argc - optind), NULL);
	status = at_logs(&options.at, &html_command, argv + optind, (size_t)(argc - optind), 1,
			 PICTURE_LOGS);
	if (!status)
		status = draw_html(picture, options.at.path, options.at.paths, argv + optind,
				   (size_t)(argc - optind), &options);
	status = tool_worse(status, options.at.status);
	/* The page is complete, so the names of the logs are no longer used. */
	at_fini(&options.at);
	return status;
}

/* The picture is static because it is large, and because the process makes only one. */
static int html_run(int argc, char **argv)
{
	static struct picture picture;
	int status;

	wanted_init(&picture.wanted);
	status = write_file(&picture, argc, argv);
	picture_fini(&picture);
	return status;
}

const struct tool_command html_command = {
	.name = "html",
	.usage = "[OPTION]... -o FILE LOG...\n"
		 "[OPTION]... -o FILE --at URL [LOG]...",
	.about =
		"Writes each LOG (- is standard input) into a page for a browser, complete in one "
		"file: threads as rows, spans and events on a time axis to zoom and move, "
		"search, selection with statistics, durations of spans, and marks where events "
		"are missing. The page loads nothing from elsewhere.",
	.options = option_rows,
	.notes =
		WANTED_TIME_NOTE
		"Exit status: 0 ok, 1 failure, 2 usage, 3 damaged or never closed; the page "
		"then has what could be read.",
	.operands = OPTION_LOG,
	.run = html_run,
};
