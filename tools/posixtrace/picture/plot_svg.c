/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plot_svg.c - draws the parts of the picture from top to bottom. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/brief.h"
#include "base/text.h"
#include "picture/plot.h"

#define WIDTH   1000
#define LEFT    190
#define RIGHT   20
#define ACROSS  (WIDTH - LEFT - RIGHT)
#define TOP     64
#define RATE    150
#define ROW     16
#define BARS    110  /* height of a histogram's cell */
#define COLUMNS 2

/* ------------------------------------------------------------------ XML */

/* Writes a text with the escapes of XML. A text of more than OUT_BYTES / 8 bytes loses its end. */
static void plot_svg_xml(struct out *out, const char *text)
{
	static struct out scratch = { .fd = -1 };
	size_t len = strlen(text);

	/* XML does not allow control characters, so text_safe() escapes them. */
	scratch.used = 0;
	text_safe(&scratch, text, len < OUT_BYTES / 8 ? len : OUT_BYTES / 8);
	for (size_t i = 0; i < scratch.used; i++)
		switch (scratch.bytes[i]) {
		case '&':
			out_str(out, "&amp;");
			break;
		case '<':
			out_str(out, "&lt;");
			break;
		case '>':
			out_str(out, "&gt;");
			break;
		case '"':
			out_str(out, "&quot;");
			break;
		default:
			out_char(out, scratch.bytes[i]);
		}
	scratch.used = 0;
}

/*
 * Draws a rectangle. "style" is the name of a class and never a text from a log, so it is not
 * escaped.
 */
static void plot_svg_rect(struct out *out, double x, double y, double width, double height,
			  const char *style)
{
	out_printf(out,
		   "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" class=\"%s\"/>\n", x,
		   y, width, height, style);
}

/* Writes a text. The text may be from a log, so plot_svg_xml() escapes it. */
static void plot_svg_label(struct out *out, double x, double y, const char *style, const char *text)
{
	out_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, style);
	plot_svg_xml(out, text);
	out_str(out, "</text>\n");
}

/* ------------------------------------------------------------------ time */

/*
 * Returns the horizontal place of a time. A time outside of the axis is moved to the nearest end of
 * the axis.
 */
static double x_of(const struct picture *picture, int64_t time_ns)
{
	double part = ((double)time_ns - (double)picture->begin_ns) / (double)picture->length_ns;

	return LEFT + ACROSS * fmin(1, fmax(0, part));
}

/* Returns the least number of the form 1, 2 or 5 times a power of ten that is not below "least". */
static double step_of(double least)
{
	double power = pow(10, floor(log10(least)));

	return least <= power ? power : least <= 2 * power ? 2 * power :
	       least <= 5 * power ? 5 * power : 10 * power;
}

/*
 * Draws at most nine vertical lines, each at a moment of the axis, and writes how long after the
 * beginning of the axis each moment is. The lines are at least a nanosecond apart, because times
 * are whole nanoseconds.
 */
static void plot_svg_axis(struct out *out, const struct picture *picture, double top, double bottom)
{
	double length = (double)picture->length_ns, by = step_of(fmax(1, length / 8));
	char text[BRIEF_BYTES + 1] = "+";

	for (double t = 0; t <= length; t += by) {
		double x = LEFT + ACROSS * t / length;
		bool is_last = x > WIDTH - 60; /* no room for the text to the right of x */

		out_printf(
			out,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"grid\"/>\n",
			x, top, x, bottom);
		brief_ns(text + 1, t);
		plot_svg_label(out, is_last ? x - 3 : x + 3, bottom + 12,
			       is_last ? "scale" : "tick", t > 0 ? text : "0");
	}
}

/* A band is at least a pixel wide, so that a short gap is visible. */
static void plot_svg_bands(struct out *out, const struct picture *picture, double top,
			   double bottom)
{
	static const char *const style[] = { [GAP_LOST] = "lost", [GAP_STOPPED] = "stopped",
					     [GAP_FULL] = "full", [GAP_DAMAGED] = "damaged" };

	for (size_t i = 0; i < picture->bands; i++) {
		const struct gap *band = &picture->band[i].gap;
		double from = x_of(picture, band->begin_ns), to = x_of(picture, band->end_ns);
		char text[BRIEF_BYTES];

		out_printf(out,
			   "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" "
			   "class=\"band %s\"><title>",
			   from, top, fmax(1, to - from), bottom - top, style[band->kind]);
		out_printf(out, "%s for %s</title></rect>\n", bands_name(band->kind),
			   brief_ns(text, (double)band->end_ns - (double)band->begin_ns));
	}
}

/* ------------------------------------------------------------------ rate over time */

/* Returns the number of events in a bin of all rows, including the row of the other threads. */
static uint64_t events_of(const struct picture *picture, size_t bin)
{
	uint64_t sum = 0;

	for (size_t row = 0; row < picture->rows; row++)
		sum += pyramid_row(picture, 0, row)[bin].points;
	return sum;
}

/* Draws the rate of events. Returns the top of the next part. */
static double plot_svg_rate(struct out *out, const struct picture *picture, double top)
{
	double seconds = picture->width_ns[0] / 1e9, most = 0, by, bottom = top + RATE;
	char text[32];

	plot_svg_label(out, LEFT, top - 8, "head", "Events per second");
	for (size_t i = 0; i < picture->bins; i++)
		most = fmax(most, (double)events_of(picture, i) / seconds);
	plot_svg_axis(out, picture, top, bottom);
	by = step_of(fmax(most, 1e-9) / 4);
	for (double at = 0; at <= most; at += by) {
		double y = bottom - RATE * at / fmax(most, 1e-9);

		if (at >= 1e6)
			snprintf(text, sizeof(text), "%gM", at / 1e6);
		else
			snprintf(text, sizeof(text), "%g", at);
		plot_svg_label(out, LEFT - 6, y + 4, "scale", text);
		out_printf(out,
			   "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/>\n",
			   LEFT, y, WIDTH - RIGHT, y);
	}
	out_printf(out, "<path class=\"area\" d=\"M%d %.1f", LEFT, bottom);
	for (size_t i = 0; i < picture->bins; i++) {
		double y = bottom -
			   RATE * ((double)events_of(picture, i) / seconds) / fmax(most, 1e-9);
		double each = (double)ACROSS / (double)picture->bins;

		out_printf(out, "V%.2fH%.2f", y, LEFT + each * (double)(i + 1));
	}
	out_printf(out, "V%.1fZ\"/>\n", bottom);
	plot_svg_bands(out, picture, top, bottom);
	return bottom + 50;
}

/* ------------------------------------------------------------------ threads */

/* Returns the row shown at this place. */
static const struct picture_row *row_at(const struct picture *picture, size_t shown)
{
	for (size_t i = 0; i <= PICTURE_ROWS; i++)
		if (picture->row[i].index == shown &&
		    (picture->row[i].points || picture->row[i].spans))
			return &picture->row[i];
	return NULL;
}

/*
 * Draws a row for each thread. A place with more events is darker. Returns the top of the next
 * part.
 */
static double plot_svg_threads(struct out *out, const struct picture *picture, double top)
{
	size_t rows = picture->rows < PLOT_ROWS ? picture->rows : PLOT_ROWS;
	double each = (double)ACROSS / (double)picture->bins, bottom = top + (double)rows * ROW,
	       most = 1;
	char text[POSIX_TRACE_OBJECT_NAME_MAX_NP + 32];

	plot_svg_label(out, LEFT, top - 8, "head", "Activity of threads (process / thread)");
	plot_svg_axis(out, picture, top, bottom);
	for (size_t row = 0; row < rows; row++)
		for (size_t i = 0; i < picture->bins; i++)
			most = fmax(most, (double)pyramid_row(picture, 0, row)[i].points);
	for (size_t shown = 0; shown < rows; shown++) {
		const struct picture_row *row = row_at(picture, shown);
		const struct picture_bin *bin = pyramid_row(picture, 0, shown);
		double y = top + (double)shown * ROW;

		if (!row)
			continue;
		rows_label(row, text, sizeof(text));
		plot_svg_label(out, LEFT - 6, y + 12, "scale", text);
		for (size_t i = 0; i < picture->bins; i++)
			if (bin[i].points)
				out_printf(out,
					   "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
					   "height=\"%d\" class=\"busy\" fill-opacity=\"%.2f\"/>\n",
					   LEFT + each * (double)i, y + 2, each, ROW - 4,
					   0.25 + 0.75 * log1p(bin[i].points) / log1p(most));
	}
	plot_svg_bands(out, picture, top, bottom);
	if (picture->rows > rows) {
		snprintf(text, sizeof(text), "and %zu more thread%s", picture->rows - rows,
			 text_plural(picture->rows - rows));
		plot_svg_label(out, LEFT, bottom + 28, "tick", text);
	}
	return bottom + 56;
}

/* ------------------------------------------------------------------ durations */

/*
 * Returns the index of the bar for a duration. The histogram has four bars for each power of two.
 */
static int bar_of(uint64_t ns)
{
	return (int)floor(4 * log2((double)(ns ? ns : 1)));
}

/*
 * Element i of count[] counts the durations from 2^(i/4) up to 2^((i+1)/4) nanoseconds. A duration
 * has 64 bits, so i is bounded. The values of the first and last bucket are limited to the range
 * from the least to the greatest duration. There is room for at least twelve bars, because a
 * smaller number of bars would become wide blocks.
 */
static void plot_svg_histogram(struct out *out, const struct picture_series *series, double left,
			       double top, double width)
{
	const struct histogram *time = &series->time;
	struct histogram_bucket bucket;
	uint64_t count[4 * 64 + 4] = { 0 }, most = 1;
	int low = bar_of(time->min), high = bar_of(time->max), bars = high - low + 1;
	double each = width / (bars < 12 ? 12 : bars), bottom = top + BARS - 44;
	char p50[BRIEF_BYTES], p99[BRIEF_BYTES], max[BRIEF_BYTES], text[160];
	unsigned cursor = 0;

	while (histogram_next(time, &cursor, &bucket)) {
		int bar = bar_of(bucket.low);

		count[bar < low ? low : bar > high ? high : bar] += bucket.count;
	}
	for (int i = low; i <= high; i++)
		most = count[i] > most ? count[i] : most;
	plot_svg_label(out, left, top, "name", series->series->name);
	snprintf(text, sizeof(text), "%llu, p50 %s, p99 %s, max %s",
		 (unsigned long long)time->count,
		 brief_ns(p50, (double)histogram_percentile(time, 0.5)),
		 brief_ns(p99, (double)histogram_percentile(time, 0.99)),
		 brief_ns(max, (double)time->max));
	plot_svg_label(out, left, top + 13, "tick", text);
	for (int i = low; i <= high; i++) {
		double tall = 46.0 * (double)count[i] / (double)most;

		if (count[i])
			plot_svg_rect(out, left + each * (i - low), bottom - fmax(1, tall),
				      fmax(0.6, each - 0.8), fmax(1, tall), "bar");
	}
	out_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"base\"/>\n",
		   left, bottom, left + width, bottom);
	for (int i = low; i <= high; i += bars > 40 ? 16 : bars > 12 ? 8 : 4) {
		out_printf(
			out,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"base\"/>\n",
			left + each * (i - low), bottom, left + each * (i - low), bottom + 3);
		if (each * (i - low) < width - 40)
			plot_svg_label(out, left + each * (i - low), bottom + 13, "tick",
				       brief_ns(text, exp2(i / 4.0)));
	}
}

/* Orders series for qsort(3): the greatest total time is first. */
static int by_total(const void *a, const void *b)
{
	const struct picture_series *x = *(const struct picture_series *const *)a;
	const struct picture_series *y = *(const struct picture_series *const *)b;

	return (x->time.total < y->time.total) - (x->time.total > y->time.total);
}

/*
 * Draws the histograms of the spans with the greatest total times. Returns the top of the next
 * part.
 */
static double plot_svg_durations(struct out *out, const struct picture *picture, double top)
{
	const struct picture_series **order = calloc(picture->count + 1, sizeof(*order));
	size_t n = 0, drawn;
	double width = (double)(WIDTH - 40 - RIGHT) / COLUMNS - 30;
	char text[64];

	for (size_t i = 0; order && i < picture->count; i++)
		if (picture->series[i].time.count)
			order[n++] = &picture->series[i];
	if (n) {
		qsort(order, n, sizeof(*order), by_total);
		plot_svg_label(out, 40, top - 8, "head", "How long spans and calls took");
	}
	drawn = n < PLOT_SERIES ? n : PLOT_SERIES;
	for (size_t i = 0; i < drawn; i++)
		plot_svg_histogram(out, order[i], 40 + (double)(i % COLUMNS) * (width + 30),
				   top + 16 + (double)(i / COLUMNS) * BARS, width);
	if (n > drawn) {
		snprintf(text, sizeof(text), "and %zu more", n - drawn);
		plot_svg_label(out, 40, top + 16 + (double)((drawn + 1) / COLUMNS) * BARS, "tick",
			       text);
	}
	free(order);
	return n ? top + 30 + (double)((drawn + COLUMNS - 1) / COLUMNS) * BARS : top;
}

/* ------------------------------------------------------------------ all */

/* The style sheet is a part of the picture's file, so that the picture needs no other file. */
static const char style[] =
	"<style>\n"
	"text { font: 11px system-ui, 'DejaVu Sans', sans-serif; fill: #1d2430; }\n"
	".title { font-size: 16px; font-weight: 600; } .head { font-size: 13px; font-weight: 600; "
		"}\n"
	".name { font-weight: 600; } .tick, .scale { fill: #5c6675; font-size: 10px; } .scale { "
		"text-anchor: end; }\n"
	".grid { stroke: #e3e7ec; } .base { stroke: #98a2b0; } .area { fill: #1f6feb; "
		"fill-opacity: .75; }\n"
	".bar { fill: #1f6feb; } .busy { fill: #0f8a5f; shape-rendering: crispEdges; }\n"
	".band { fill-opacity: .3; } .lost { fill: #c5221f; } .stopped { fill: #7b8494; } .full { "
		"fill: #c26a00; }\n"
	".damaged { fill: #8d24c4; }\n"
	"</style>\n";

/* Draws all parts from top to bottom. Returns the height. */
static double plot_svg_parts(struct out *out, const struct picture *picture)
{
	char text[160], length[BRIEF_BYTES];
	uint64_t lost = picture->lost;

	plot_svg_label(out, 40, 28, "title", picture->log->log.path);
	snprintf(text, sizeof(text), "%llu event%s, %llu span%s, %s; %llu lost",
		 (unsigned long long)picture->events, text_plural(picture->events),
		 (unsigned long long)picture->spans, text_plural(picture->spans),
		 brief_ns(length, (double)picture->length_ns), (unsigned long long)lost);
	plot_svg_label(out, 40, 44, lost ? "name" : "tick", text);
	return plot_svg_durations(
		out, picture,
		plot_svg_threads(out, picture, plot_svg_rate(out, picture, TOP + 16)));
}

/*
 * The height is known only after drawing. So the function draws the picture twice, the first time
 * without output.
 */
void plot_svg(struct out *out, const struct picture *picture)
{
	static struct out nobody = { .fd = -1 };
	double height = plot_svg_parts(&nobody, picture);

	out_printf(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" "
		   "width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" role=\"img\">\n<title>",
		   WIDTH, height, WIDTH, height);
	plot_svg_xml(out, picture->log->log.path);
	out_str(out, "</title>\n");
	out_str(out, style);
	out_printf(out, "<rect width=\"%d\" height=\"%.0f\" fill=\"#ffffff\"/>\n", WIDTH, height);
	plot_svg_parts(out, picture);
	out_str(out, "</svg>\n");
}
