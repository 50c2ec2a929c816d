/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * items_text.c - encodes the items in base 64, three bytes at a time, so that the text needs no
 * copy in memory.
 */
#include "picture/items_text.h"

#include <errno.h>

/*
 * A line of text: 4096 digits. The text has many lines, since editors and tools cannot handle one
 * line of megabytes.
 */
#define LINE_BYTES (4096 / 4 * 3)

struct text {
	struct out *out;
	size_t held;
	unsigned char byte[LINE_BYTES];
};

static void items_text_byte(struct text *text, unsigned char value)
{
	text->byte[text->held++] = value;
	if (text->held < LINE_BYTES)
		return;
	out_base64(text->out, text->byte, text->held);
	out_char(text->out, '\n');
	text->held = 0;
}

/* Writes the last line. */
static void items_text_finish(struct text *text)
{
	out_base64(text->out, text->byte, text->held);
}

/* Writes a number, seven bits in each byte. */
static void items_text_number(struct text *text, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		items_text_byte(text, (unsigned char)(value & 127) | 128);
	items_text_byte(text, (unsigned char)value);
}

/*
 * Writes the points. The points are sorted by row and time, so the distances are small and not
 * negative.
 */
static void items_text_points(struct text *text, struct picture *picture)
{
	struct item item;

	for (size_t row = 0; row < picture->rows; row++) {
		const uint64_t count = runs_of_row(&picture->points, row);
		uint64_t before = 0;

		items_text_number(text, count);
		for (uint64_t i = 0; i < count && runs_next(&picture->points, &item); i++) {
			items_text_number(text, item.ns - before);
			items_text_number(text, item.kind);
			before = item.ns;
		}
	}
}

/*
 * Writes the spans, which are sorted by row and begin. A lane of PICTURE_LANES means that the span
 * has no lane and is counted in bins.
 */
static void items_text_spans(struct text *text, struct picture *picture)
{
	const unsigned char *lane = picture->lane;
	struct item item;

	for (size_t row = 0; row < picture->rows; row++) {
		const uint64_t count = runs_of_row(&picture->spans_kept, row);
		uint64_t before = 0;

		items_text_number(text, count);
		for (uint64_t i = 0; i < count && runs_next(&picture->spans_kept, &item); i++) {
			items_text_number(text, item.ns - before);
			items_text_number(text, item.value);
			items_text_number(text, item.kind);
			items_text_number(text, *lane++);
			before = item.ns;
		}
	}
}

/* Writes the events with a call stack, which are sorted by row and time. */
static void items_text_flames(struct text *text, const struct picture *picture)
{
	const struct flames *flames = &picture->flames;
	size_t i = 0;

	for (size_t row = 0; row < picture->rows; row++) {
		size_t end = i;
		uint64_t before = 0;

		while (end < flames->count && flames->flame[end].row == row)
			end++;
		items_text_number(text, end - i);
		for (; i < end; i++) {
			uint64_t time = picture_place(picture, flames->flame[i].time_ns);

			items_text_number(text, time - before);
			items_text_number(text, flames->flame[i].type);
			items_text_number(text, flames->flame[i].took_ns);
			items_text_number(text, flames->flame[i].stack);
			before = time;
		}
	}
}

/*
 * Most bins of the lower levels are empty. So the function writes only the other bins, with the
 * distances between them.
 */
static void items_text_bins(struct text *text, const struct picture_bin *bin, size_t count)
{
	uint64_t used = 0;
	size_t before = 0;

	for (size_t i = 0; i < count; i++)
		used += bin[i].points || bin[i].spans;
	items_text_number(text, used);
	for (size_t i = 0; i < count; i++) {
		if (!bin[i].points && !bin[i].spans)
			continue;
		items_text_number(text, i + 1 - before);
		before = i + 1;
		items_text_number(text, bin[i].points);
		items_text_number(text, bin[i].spans);
		if (bin[i].points)
			items_text_number(text, bin[i].type);
		if (bin[i].spans)
			items_text_number(text, bin[i].series);
	}
}

/*
 * Writes the values of counters. A value is written as curves_bits(), which needs few bytes for
 * small integers.
 */
static void items_text_curves(struct text *text, struct curves *curves)
{
	struct item item;

	for (size_t i = 0; i < curves->count; i++) {
		const uint64_t count = runs_of_row(&curves->kept, i);
		uint64_t before = 0;

		items_text_number(text, count);
		for (uint64_t n = 0; n < count && runs_next(&curves->kept, &item); n++) {
			items_text_number(text, item.ns - before);
			items_text_number(text, item.value);
			before = item.ns;
		}
	}
}

/* Writes the states of threads. */
static void items_text_states(struct text *text, struct picture *picture)
{
	struct item item;

	for (size_t row = 0; row < picture->rows; row++) {
		const uint64_t count = runs_of_row(&picture->states.kept, row);
		uint64_t end = 0;

		items_text_number(text, count);
		for (uint64_t i = 0; i < count && runs_next(&picture->states.kept, &item); i++) {
			items_text_number(text, item.ns - end);
			items_text_number(text, item.value);
			items_text_number(text, item.kind);
			end = item.ns + item.value;
		}
	}
}

/* Writes the events whose fields the page has. */
static void items_text_details(struct text *text, struct picture *picture)
{
	struct item item;

	for (size_t row = 0; row < picture->rows; row++) {
		const uint64_t count = runs_of_row(&picture->details.kept, row);
		uint64_t before = 0;

		items_text_number(text, count);
		for (uint64_t i = 0; i < count && runs_next(&picture->details.kept, &item); i++) {
			struct detail detail = details_unpack(item.value);

			items_text_number(text, item.ns - before);
			items_text_number(text, item.kind);
			items_text_number(text, detail.text << 1 | detail.has_error);
			items_text_number(text, detail.has_time ? detail.took_ns + 1 : 0);
			before = item.ns;
		}
	}
}

/* Writes the row of a thread of the current log, and the beginning and length of a span of time. */
static void items_text_time(struct text *text, struct picture *picture, pid_t pid, uint32_t tid,
			    int64_t begin_ns, int64_t end_ns)
{
	const uint64_t begin = picture_place(picture, picture_time(picture, begin_ns));

	items_text_number(text, rows_find(picture, pid, (pid_t)tid)->index);
	items_text_number(text, begin);
	items_text_number(text, picture_place(picture, picture_time(picture, end_ns)) - begin);
}

/*
 * Writes the waits of the current log for locks that have a known holder: the number of holders,
 * the wait, the address of the lock, and the time of each hold.
 */
static void items_text_links(struct text *text, struct picture *picture)
{
	const struct links *links = &picture->current->links;

	for (size_t i = 0; i < links->waits.count; i++) {
		const struct hold *wait = &links->waits.hold[i], *hold[LINKS_EACH];
		const unsigned count = links_holders(links, wait, hold);

		if (!count)
			continue;
		items_text_number(text, count);
		items_text_time(text, picture, wait->pid, wait->thread, wait->begin_ns,
				wait->end_ns);
		items_text_number(text, wait->lock);
		for (unsigned k = 0; k < count; k++)
			items_text_time(text, picture, hold[k]->pid, hold[k]->thread,
					hold[k]->begin_ns, hold[k]->end_ns);
	}
}

/*
 * page_items.js reads the numbers in the order of this function. A change of the order must be made
 * in both files.
 */
int items_text(struct out *out, struct picture *picture)
{
	struct text text = { .out = out };

	if (runs_rewind(&picture->points) || runs_rewind(&picture->spans_kept) ||
	    runs_rewind(&picture->curves.kept) || runs_rewind(&picture->states.kept) ||
	    runs_rewind(&picture->details.kept))
		return ENOMEM;
	items_text_points(&text, picture);
	items_text_spans(&text, picture);
	if (picture->flames.count)
		items_text_flames(&text, picture);
	for (size_t level = 0; level < picture->levels; level++)
		for (size_t row = 0; row < picture->rows; row++)
			items_text_bins(&text, pyramid_row(picture, level, row),
					pyramid_bins(picture, level));
	items_text_curves(&text, &picture->curves);
	for (picture->current = picture->log;
	     picture->current < picture->log + picture->logs; picture->current++)
		items_text_links(&text, picture);
	items_text_number(&text, 0); /* no wait follows */
	if (picture->states.rows)
		items_text_states(&text, picture);
	if (picture->details.kept.items)
		items_text_details(&text, picture);
	items_text_finish(&text);
	return 0;
}
