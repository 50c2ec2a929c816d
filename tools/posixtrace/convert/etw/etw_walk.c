/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_walk.c - iterates over the events of all processors in one order of time.
 *
 * If the buffers of a processor are sorted by sequence number, their records are usually in order
 * of time. Therefore each processor has a cursor, and the cursor with the earliest stamp is next.
 * In a file whose records are not in order of time, an index of all records is sorted instead.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "convert/etw/etw_describe.h"
#include "convert/etw/etw_part.h"

#define KEPT_MAX (UINT64_C(512) << 20) /* bytes of decompressed buffers that an index keeps */

struct cursor {
	size_t buffer, end;     /* indexes in file->buffer: the current buffer, and the end */
	struct etw_content content;
	struct etw_record record;
	bool taken;             /* the record was returned to the caller */
};

struct line {                   /* an entry of the index */
	int64_t stamp, sequence;
	/* offset in the file; if "bytes" is NULL, the record is read again from there */
	uint64_t at;
	const unsigned char *bytes;
	uint32_t order;         /* the order in the file, for otherwise equal entries */
	uint16_t size, processor;
};

struct etw_walk {
	const struct etw_file *file;
	struct cursor *cursor;
	size_t cursors;

	struct line *line;
	size_t lines, next;
	unsigned char **kept;
	size_t keeps;
	uint64_t kept_bytes;
	unsigned char record[65536];
};

/*
 * Skipped records and records about the log are not events. etw_scan.c counts events by the same
 * rule.
 */
static bool is_event(const struct etw_record *r)
{
	return r->kind != ETW_SKIPPED && !etw_is_about_log(r);
}

void etw_close(struct etw_file *file)
{
	free(file->buffer);
	free(file->log.record);
	etw_describe_free(file->describe);
	file->describe = NULL;
	file->buffer = NULL;
	file->log.record = NULL;
}

/*
 * Moves the cursor to its next event. Returns 1, 0 at the end, or -1 after an error. Buffers that
 * are empty or damaged are skipped.
 */
static int advance_cursor(const struct etw_file *file, struct cursor *c)
{
	for (;;) {
		if (c->content.bytes && etw_content_next(file, &file->buffer[c->buffer],
							 &c->content, &c->record, NULL)) {
			if (is_event(&c->record))
				return 1;
			continue;
		}
		if (c->content.bytes) {
			etw_content_free(&c->content);
			c->buffer++;
		}
		if (c->buffer == c->end)
			return 0;
		if (etw_content_load(file, &file->buffer[c->buffer], &c->content, NULL))
			return -1;
		if (!c->content.bytes)
			c->buffer++;
	}
}

/* Makes a cursor for each processor. The list of buffers is sorted by processor. */
static int begin_cursors(struct etw_walk *w)
{
	const struct etw_file *file = w->file;
	size_t processors = 0;

	for (size_t i = 0; i < file->buffers; i++)
		processors += !i || file->buffer[i].processor != file->buffer[i - 1].processor;
	w->cursor = calloc(processors ? processors : 1, sizeof(*w->cursor));
	if (!w->cursor)
		return ENOMEM;
	for (size_t i = 0; i < file->buffers; i++) {
		if (!i || file->buffer[i].processor != file->buffer[i - 1].processor)
			w->cursor[w->cursors++].buffer = i;
		w->cursor[w->cursors - 1].end = i + 1;
	}
	for (size_t i = 0; i < w->cursors; i++)
		w->cursor[i].taken = true; /* no record has been read yet */
	return 0;
}

/*
 * Records with equal stamps are ordered by the sequence numbers of their buffers, and then by their
 * offsets in the file.
 */
static bool is_before(const struct etw_record *a, const struct etw_record *b)
{
	if (a->stamp != b->stamp)
		return a->stamp < b->stamp;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence;
	return a->at < b->at;
}

/*
 * Stores the earliest event of all cursors. Returns the results of etw_walk_next(). The number of
 * processors is limited, so a linear search is enough.
 */
static int next_of_cursors(struct etw_walk *w, struct etw_record *record)
{
	struct cursor *first = NULL;

	for (size_t i = 0; i < w->cursors; i++) {
		struct cursor *c = &w->cursor[i];

		if (c->taken) {
			int more = advance_cursor(w->file, c);

			if (more < 0)
				return -1;
			if (!more) { /* the last cursor replaces c */
				*c = w->cursor[--w->cursors];
				i--;
				continue;
			}
			c->taken = false;
		}
		if (!first || is_before(&c->record, &first->record))
			first = c;
	}
	if (!first)
		return 0;
	first->taken = true;
	*record = first->record;
	return 1;
}

/*
 * Adds a record to the index. If "kept" is true, the record's bytes remain in memory; otherwise
 * next_of_index() reads them again. Returns 0 or ENOMEM.
 */
static int add_line(struct etw_walk *w, const struct etw_record *r, bool kept)
{
	struct line *line;

	if (!vec_grow(&w->line, w->lines, 1))
		return ENOMEM;
	line = &w->line[w->lines];
	*line = (struct line){
		.stamp = r->stamp,
		.sequence = r->sequence,
		.at = r->at,
		.bytes = kept ? r->bytes : NULL,
		.order = (uint32_t)w->lines,
		.size = (uint16_t)r->size,
		.processor = (uint16_t)r->processor,
	};
	w->lines++;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->stamp != y->stamp)
		return x->stamp < y->stamp ? -1 : 1;
	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/*
 * Adds the records of one buffer. A decompressed buffer remains in memory, because its records
 * cannot be read again one by one from the file.
 */
static int index_buffer(struct etw_walk *w, const struct etw_buffer *b)
{
	struct etw_content content;
	struct etw_record record;
	int err = etw_content_load(w->file, b, &content, NULL);

	while (!err && etw_content_next(w->file, b, &content, &record, NULL))
		if (is_event(&record))
			err = add_line(w, &record, b->compressed);
	if (b->compressed && content.bytes && !err) {
		w->kept_bytes += content.filled;
		if (w->kept_bytes > KEPT_MAX || !vec_grow(&w->kept, w->keeps, 1)) {
			err = ENOMEM;
		} else {
			w->kept[w->keeps++] = content.bytes;
			content.bytes = NULL;
		}
	}
	etw_content_free(&content);
	return err;
}

/*
 * Sorts all records by time. Records with equal stamps are sorted by the sequence numbers of their
 * buffers, and then by their offsets in the file.
 */
static int begin_index(struct etw_walk *w)
{
	for (size_t i = 0; i < w->file->buffers; i++) {
		int err = index_buffer(w, &w->file->buffer[i]);

		if (err)
			return err;
	}
	qsort(w->line, w->lines, sizeof(*w->line), by_time);
	return 0;
}

/*
 * Stores the next record of the index. Returns the results of etw_walk_next(). If the bytes of the
 * record were not kept, the function reads them again. It always checks the record again, because
 * the file may have changed.
 */
static int next_of_index(struct etw_walk *w, struct etw_record *record)
{
	const struct line *line;
	const unsigned char *bytes;
	const char *why;

	if (w->next == w->lines)
		return 0;
	line = &w->line[w->next++];
	bytes = line->bytes;
	if (!bytes) {
		if (etw_read(w->file, line->at, w->record, line->size))
			return -1;
		bytes = w->record;
	}
	if (etw_record(bytes, line->size, record, &why))
		return -1; /* the bytes were a record before, so the file has changed */
	record->at = line->at;
	record->stamp = line->stamp;
	record->sequence = line->sequence;
	record->processor = line->processor;
	return 1;
}

/* etw_scan() has found whether the walk needs the index, or the cursors are enough. */
int etw_walk_begin(const struct etw_file *file, struct etw_walk **walk)
{
	struct etw_walk *w = calloc(1, sizeof(*w));
	int err;

	*walk = NULL;
	if (!w)
		return ENOMEM;
	w->file = file;
	err = file->disordered ? begin_index(w) : begin_cursors(w);
	if (err)
		etw_walk_end(w);
	else
		*walk = w;
	return err;
}

/*
 * The index is used only if it is needed, because it has an entry for each record. The cursors need
 * only one buffer in memory for each processor.
 */
int etw_walk_next(struct etw_walk *w, struct etw_record *record)
{
	return w->file->disordered ? next_of_index(w, record) : next_of_cursors(w, record);
}

/* Accepts NULL and a walk that etw_walk_begin() could not complete. */
void etw_walk_end(struct etw_walk *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->cursors; i++)
		etw_content_free(&w->cursor[i].content);
	for (size_t i = 0; i < w->keeps; i++)
		free(w->kept[i]);
	free(w->kept);
	free(w->cursor);
	free(w->line);
	free(w);
}
