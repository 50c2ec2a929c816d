/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rows.c - the threads of a log as the rows of a picture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "picture/picture.h"

/*
 * The element behind PICTURE_ROWS rows is the row of all other threads. The array never moves, so
 * pointers to rows remain valid.
 */
bool rows_init(struct picture *picture)
{
	picture->row = calloc(PICTURE_ROWS + 1, sizeof(*picture->row));
	return picture->row != NULL;
}

/*
 * For table_find(): returns whether a row and the wanted row have the same log, process and thread.
 */
static bool is_at(const void *array, uint32_t index, const void *key)
{
	const struct picture_row *row = (const struct picture_row *)array + index, *wanted = key;

	return row->pid == wanted->pid && row->tid == wanted->tid && row->log == wanted->log;
}

/*
 * Returns the row of a thread, and makes it if it does not exist. If there are PICTURE_ROWS rows,
 * the thread gets the row of the other threads. From then on, no further thread gets its own row.
 * So a thread has the same row in both readings. The result is also the row of the other threads if
 * memory is lacking for the table. The function then sets picture->err, which ends the reading.
 */
static struct picture_row *find_or_make(struct picture *picture, pid_t pid, pid_t tid)
{
	struct picture_row wanted = {
		.log = picture_current(picture), .pid = pid, .tid = tid,
	}, *row;
	uint64_t hash = hash_number(hash_number(HASH_BEGIN, wanted.log),
				    (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid);
	uint32_t index = table_find(&picture->of_row, hash, is_at, picture->row, &wanted);

	if (index != TABLE_NONE)
		return &picture->row[index];
	if (picture->rows < PICTURE_ROWS && !picture->has_others) {
		if (table_add(&picture->of_row, hash, (uint32_t)picture->rows)) {
			picture->row[picture->rows] = wanted;
			return &picture->row[picture->rows++];
		}
		picture->err = ENOMEM;
	}
	row = &picture->row[PICTURE_ROWS];
	if (!picture->has_others) {
		picture->has_others = true;
		picture->rows++;
		*row = (struct picture_row){ .pid = -1, .tid = -1 };
	}
	return row;
}

/*
 * Most events are of the same thread as the event before. For such an event, the function does not
 * search the table.
 */
struct picture_row *rows_find(struct picture *picture, pid_t pid, pid_t tid)
{
	struct picture_row *row = picture->recent;

	if (!row || row->pid != pid || row->tid != tid ||
	    &picture->log[row->log] != picture->current)
		row = picture->recent = find_or_make(picture, pid, tid);
	return row;
}

/* Orders rows by log, process and thread. */
static int by_thread(const struct picture_row *a, const struct picture_row *b)
{
	uint32_t x = a->log, y = b->log;

	if (x == y) {
		x = (uint32_t)a->pid;
		y = (uint32_t)b->pid;
	}
	if (x == y) {
		x = (uint32_t)a->tid;
		y = (uint32_t)b->tid;
	}
	return (x > y) - (x < y);
}

/*
 * Computes the place of each row. The rows are not moved, because the table has their indexes. A
 * row is compared with all other rows, which is fast enough for so few rows.
 */
void rows_sort(struct picture *picture)
{
	/* "rows" includes the row of the other threads, whose element is behind all threads. */
	size_t threads = picture->rows - picture->has_others;

	for (size_t i = 0; i < threads; i++) {
		picture->row[i].index = 0;
		for (size_t j = 0; j < threads; j++)
			picture->row[i].index += by_thread(&picture->row[j], &picture->row[i]) < 0;
	}
	picture->row[PICTURE_ROWS].index = threads;
}
