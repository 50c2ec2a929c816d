/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rows.c - threads as the rows of a picture. */
#include <stdlib.h>
#include <string.h>

#include "picture/picture.h"

#define PLACES ((size_t)4 * PICTURE_ROWS)

bool rows_init(struct picture *picture)
{
	picture->row = calloc(PICTURE_ROWS + 1, sizeof(*picture->row));
	picture->row_place = calloc(PLACES, sizeof(*picture->row_place));
	return picture->row && picture->row_place;
}

struct picture_row *rows_find(struct picture *picture, pid_t pid, pid_t tid)
{
	uint64_t hash =
		((uint64_t)(uint32_t)pid << 32 | (uint32_t)tid) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(hash >> 40) % PLACES;
	struct picture_row *row;

	for (; picture->row_place[i]; i = (i + 1) % PLACES) {
		row = &picture->row[picture->row_place[i] - 1];
		if (row->pid == pid && row->tid == tid)
			return row;
	}
	if (picture->rows - picture->has_others < PICTURE_ROWS && !picture->has_others) {
		row = &picture->row[picture->rows++];
		*row = (struct picture_row){ .pid = pid, .tid = tid };
		picture->row_place[i] = (uint32_t)picture->rows;
		return row;
	}
	row = &picture->row[PICTURE_ROWS];
	if (!picture->has_others) {
		picture->has_others = true;
		picture->rows++;
		*row = (struct picture_row){ .pid = -1, .tid = -1 };
	}
	return row;
}

/* Those of the others last. */
static int by_thread(const struct picture_row *a, const struct picture_row *b)
{
	uint32_t x = (uint32_t)a->pid, y = (uint32_t)b->pid;

	if (x == y) {
		x = (uint32_t)a->tid;
		y = (uint32_t)b->tid;
	}
	return (x > y) - (x < y);
}

/* Rows stay where they are, so that they are found; few enough for this. */
void rows_sort(struct picture *picture)
{
	for (size_t i = 0; i < picture->rows; i++) {
		picture->row[i].index = 0;
		for (size_t j = 0; j < picture->rows; j++)
			picture->row[i].index += by_thread(&picture->row[j], &picture->row[i]) < 0;
	}
}
