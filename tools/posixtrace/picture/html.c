/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* html.c - the command html: writes a log as a page for a browser, complete in one file. */
#include <unistd.h>
#include <string.h>

#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "convert/output.h"
#include "log/losses.h"
#include "picture/items_text.h"
#include "picture/page.h"
#include "picture/picture.h"

extern const struct tool_command html_command;

/*
 * Bins of the lowest level, and the number of points and spans that are kept by default. Both bound
 * the size of the page and the memory of the browser.
 */
#define HTML_BINS  65536
#define HTML_ITEMS 2000000

/* ------------------------------------------------------------------ the data of the page */

/* Writes a JSON string. "<" is escaped, so that no text of the log can end the script element. */
static void string(struct out *out, const char *text, size_t len)
{
	static struct out scratch = { .fd = -1 };

	scratch.used = 0;
	text_json(&scratch, text, len < OUT_BYTES / 8 ? len : OUT_BYTES / 8);
	for (size_t i = 0; i < scratch.used; i++)
		if (scratch.bytes[i] == '<')
			out_str(out, "\\u003c");
		else
			out_char(out, scratch.bytes[i]);
	scratch.used = 0;
}

/*
 * Numbers beyond 2^53 lose digits in the browser. Times are relative to the begin of the axis for
 * this reason; begin_ns itself is a string.
 */
static void member(struct out *out, const char *name, uint64_t value)
{
	out_printf(out, ",\"%s\":%llu", name, (unsigned long long)value);
}

/*
 * The types with their numbers of events. The last entry counts events of types that the log does
 * not list, as a damaged log may have.
 */
static void types(struct out *out, const struct picture *picture)
{
	out_str(out, ",\n\"types\":[");
	for (size_t i = 0; i <= picture->types; i++) {
		const struct log_type *type = picture->type[i].type;

		out_str(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		string(out, type ? type->name : "(without a name)", type ? type->name_len : 16);
		member(out, "count", picture->type[i].count);
		out_char(out, '}');
	}
	out_char(out, ']');
}

/*
 * Writes the histogram with four bars for each power of two: the buckets of struct histogram are
 * finer than a page can show. Empty bars are left out.
 */
static void bars(struct out *out, const struct histogram *time)
{
	struct histogram_bucket bucket;
	unsigned cursor = 0;
	uint64_t from = 0, count = 0;
	bool any = false;

	out_str(out, ",\"bars\":[");
	while (histogram_next(time, &cursor, &bucket)) {
		unsigned power = bucket.low ? 63 - (unsigned)__builtin_clzll(bucket.low) : 0;
		uint64_t bar = power < 2 ? bucket.low : bucket.low >> (power - 2) << (power - 2);

		if (bar != from && count) {
			out_printf(out, "%s[%llu,%llu]", any ? "," : "", (unsigned long long)from,
				   (unsigned long long)count);
			any = true;
			count = 0;
		}
		from = bar;
		count += bucket.count;
	}
	out_printf(out, "%s[%llu,%llu]]", any ? "," : "", (unsigned long long)from,
		   (unsigned long long)count);
}

/* In the order of their indexes, which the items use. */
static void series(struct out *out, const struct picture *picture)
{
	out_str(out, ",\n\"series\":[");
	for (size_t i = 0; i < picture->count; i++) {
		const struct series *series = picture->series[i].series;
		const struct histogram *time = &picture->series[i].time;

		out_str(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		string(out, series->name, strlen(series->name));
		member(out, "count", time->count);
		out_printf(out, ",\"total\":%.0f", time->total);
		member(out, "min", time->min);
		member(out, "p50", histogram_percentile(time, 0.5));
		member(out, "p99", histogram_percentile(time, 0.99));
		member(out, "max", time->max);
		bars(out, time);
		out_char(out, '}');
	}
	out_char(out, ']');
}

/*
 * The rows in the order in which they are shown. rows_sort() computed the places; at most
 * PICTURE_ROWS rows make the search by place fast enough.
 */
static void rows(struct out *out, const struct picture *picture)
{
	out_str(out, ",\n\"rows\":[");
	for (size_t shown = 0; shown < picture->rows; shown++)
		for (size_t i = 0; i <= PICTURE_ROWS; i++) {
			const struct picture_row *row = &picture->row[i];

			if (row->index != shown || (!row->points && !row->spans))
				continue;
			out_printf(out, "%s\n{\"pid\":%d,\"tid\":%d,\"lanes\":%u", shown ? "," : "",
				   (int)row->pid, (int)row->tid, row->lanes);
			out_str(out, ",\"name\":");
			string(out, row->name, strlen(row->name));
			member(out, "points", row->points);
			member(out, "spans", row->spans);
			out_char(out, '}');
		}
	out_char(out, ']');
}

/* Returns the place of a time on the axis in nanoseconds. */
static uint64_t place(const struct picture *picture, int64_t time_ns)
{
	uint64_t ns = time_ns < picture->begin_ns ? 0 :
		      (uint64_t)time_ns - (uint64_t)picture->begin_ns;

	return ns < picture->length_ns ? ns : picture->length_ns;
}

/* The times of which events are missing, as places on the axis. */
static void bands(struct out *out, const struct picture *picture)
{
	static const char *const kind[] = { [GAP_LOST] = "lost", [GAP_STOPPED] = "stopped",
					    [GAP_FULL] = "full", [GAP_DAMAGED] = "damaged" };

	out_str(out, ",\n\"bands\":[");
	for (size_t i = 0; i < picture->bands; i++)
		out_printf(out, "%s\n{\"begin\":%llu,\"end\":%llu,\"kind\":\"%s\",\"name\":\"%s\"}",
			   i ? "," : "",
			   (unsigned long long)place(picture, picture->band[i].begin_ns),
			   (unsigned long long)place(picture, picture->band[i].end_ns),
			   kind[picture->band[i].kind], bands_name(picture->band[i].kind));
	out_char(out, ']');
}

/* All data but points, spans and bins, as one JSON object. */
static void meta(struct out *out, const struct picture *picture)
{
	const struct posix_trace_loginfo_np *info = &picture->log.info;

	out_str(out, "{\"log\":");
	string(out, picture->log.path, strlen(picture->log.path));
	out_str(out, ",\"host\":");
	string(out, info->host, strnlen(info->host, sizeof(info->host)));
	member(out, "events", picture->events);
	member(out, "spans", picture->spans);
	member(out, "lost", losses_count(&picture->ledger));
	out_printf(out, ",\"begin_ns\":\"%lld\"", (long long)picture->begin_ns);
	member(out, "length_ns", picture->length_ns);
	out_printf(out, ",\"has_points\":%s,\"has_spans\":%s",
		   picture->events <= picture->limit ? "true" : "false",
		   picture->least_ns ? "false" : "true");
	out_str(out, ",\"levels\":[");
	for (size_t level = 0; level < picture->levels; level++)
		out_printf(out, "%s%zu", level ? "," : "", pyramid_bins(picture, level));
	out_char(out, ']');
	types(out, picture);
	series(out, picture);
	rows(out, picture);
	bands(out, picture);
	out_char(out, '}');
}

/* ------------------------------------------------------------------ the page */

/*
 * The parts of the script are one program, so their order matters: constants come before their use.
 */
static void script(struct out *out)
{
	out_bytes(out, page_items_js, page_items_js_bytes);
	out_bytes(out, page_paint_js, page_paint_js_bytes);
	out_bytes(out, page_rows_js, page_rows_js_bytes);
	out_bytes(out, page_view_js, page_view_js_bytes);
	out_bytes(out, page_panels_js, page_panels_js_bytes);
	out_bytes(out, page_hands_js, page_hands_js_bytes);
}

/*
 * Replaces the marks @NAME@ of the page by style, data and script. The page is part of the tool, so
 * its marks need no check.
 */
static void page(struct out *out, const struct picture *picture)
{
	const char *at = (const char *)page_html, *end = at + page_html_bytes;

	for (const char *mark; (mark = memchr(at, '@', (size_t)(end - at)));
	     at = strchr(mark + 1, '@') + 1) {
		out_bytes(out, at, (size_t)(mark - at));
		if (!strncmp(mark, "@STYLE@", 7))
			out_bytes(out, page_css, page_css_bytes);
		else if (!strncmp(mark, "@META@", 6))
			meta(out, picture);
		else if (!strncmp(mark, "@ITEMS@", 7))
			items_text(out, picture);
		else
			script(out);
	}
	out_bytes(out, at, (size_t)(end - at));
}

/* The options that are not those of the reading. */
struct options {
	const char *output;
	uint64_t items;
	bool force, utc;
};

/* Opens the output first: a refused name should not cost a long reading. */
static int draw_html(struct picture *picture, char *const *log, const struct options *options)
{
	static struct output file;
	bool standard = !strcmp(options->output, "-");
	int status;

	if (!standard && output_open_text(&file, options->output, options->force, log, 1))
		return TOOL_FAILURE;
	status = picture_take(picture, *log, HTML_BINS, (size_t)options->items);
	if (status != TOOL_FAILURE && status != TOOL_USAGE) {
		page(standard ? &out_stdout : &file.out, picture);
		logfile_close(&picture->log);
	}
	return standard ? status : output_close(&file, status);
}

enum {
	OPT_FORCE = 256,
	OPT_ITEMS,
	OPT_PAIR,
	OPT_UTC,
};

static const struct option_row option_rows[] = {
	{ "output", 'o', "FILE",
		"the page; - is standard output; a file that exists is refused", OPTION_FILE },
	{ "force", OPT_FORCE, NULL, "overwrite it" },
	{ "items", OPT_ITEMS, "N",
		"keep N events and N spans, 2000000; of more, the counts and the longest spans" },
	{ "pair", OPT_PAIR, "BEGIN,END[,FIELD]...",
		"event types that are a span, as for posixtrace latency" },
	{ .rows = wanted_choice_rows },
	{ "utc", OPT_UTC, NULL, "times given are in UTC" },
	OPTION_HELP,
	OPTION_END
};

/*
 * False after a message. --items is limited to 32 bits, so that the sizes of the arrays cannot
 * overflow.
 */
static bool parse_option(struct picture *picture, struct options *options, int option)
{
	bool good;

	if (wanted_option(&picture->wanted, option, optarg, &good))
		return good;
	switch (option) {
	case 'o':
		options->output = optarg;
		return true;
	case OPT_FORCE:
		options->force = true;
		return true;
	case OPT_ITEMS:
		if (!tool_number("--items", optarg, &options->items))
			return false;
		if (options->items <= UINT32_MAX)
			return true;
		say("--items %s: too many", optarg);
		return false;
	case OPT_PAIR:
		return wanted_pair(&picture->wanted, optarg) &&
		       pairing_add(&picture->pairing, optarg);
	case OPT_UTC:
		options->utc = true;
		return true;
	}
	return false; /* tool_option() has printed the error */
}

/* All options are parsed before the log is opened. */
static int html(struct picture *picture, int argc, char **argv)
{
	struct options options = { .items = HTML_ITEMS };
	int option;

	while ((option = tool_option(argc, argv, &html_command)) != -1) {
		if (option == 'h')
			return tool_help(&html_command);
		if (!parse_option(picture, &options, option))
			return tool_usage(&html_command);
	}
	if (!wanted_ready(&picture->wanted, options.utc))
		return tool_usage(&html_command);
	if (optind + 1 != argc || !options.output) {
		say("html: give one log, and the output after -o");
		return tool_usage(&html_command);
	}
	return draw_html(picture, &argv[optind], &options);
}

/* The picture is static for its size, and because the process makes only one. */
static int html_run(int argc, char **argv)
{
	static struct picture picture;
	int status;

	wanted_init(&picture.wanted);
	pairing_init(&picture.pairing, NULL, NULL);
	status = html(&picture, argc, argv);
	picture_fini(&picture);
	return status;
}

const struct tool_command html_command = {
	.name = "html",
	.usage = "[OPTION]... -o FILE LOG",
	.about =
		"Writes LOG (- is standard input) as a page for a browser, complete in one "
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
