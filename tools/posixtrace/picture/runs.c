/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* runs.c - sorts the items of a picture run by run, and merges the runs. */
#include "picture/runs.h"

#include <errno.h>
#include <stdlib.h>

#include "base/proto.h"
#include "base/vec.h"

/* The greatest number of bytes of an item: four numbers of 64 bits. */
#define ITEM_BYTES (4 * PROTO_VARINT)

/*
 * The position of a reader in a run. keep_run() has written the bytes of the run, so they need no
 * check.
 */
struct runs_cursor {
	const char *at, *end;
	struct item item;
};

/* Orders items for qsort(3). All items of a run differ in the member "order". */
static int by_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/*
 * Orders items by row and time, as by_time() does. Among items with the same row and time, the
 * greatest value is first. If the values are also equal, the youngest item is first, because an
 * outer call is recorded after its inner calls.
 */
static int by_time_and_value(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->row != y->row || x->ns != y->ns)
		return by_time(a, b);
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return (x->order < y->order) - (x->order > y->order);
}

static int compare_items(const struct runs *runs, const struct item *a, const struct item *b)
{
	return runs->by_value ? by_time_and_value(a, b) : by_time(a, b);
}

/*
 * The items of a log with one thread are sorted already. So the function first checks the order,
 * which is cheaper than sorting.
 */
static void sort_run(struct runs *runs)
{
	size_t i = 1;

	while (i < runs->count && compare_items(runs, &runs->held[i - 1], &runs->held[i]) <= 0)
		i++;
	if (i < runs->count)
		qsort(runs->held, runs->count, sizeof(*runs->held),
		      runs->by_value ? by_time_and_value : by_time);
}

/*
 * Sorts the held items and keeps them as bytes. Each item is written as the distance of its row,
 * the distance of its time, its value and its kind. The first item of a row has its time in place
 * of a distance.
 */
static int keep_run(struct runs *runs)
{
	struct item last = { 0 };

	if (!runs->count)
		return 0;
	if (!vec_grow(&runs->begin, runs->runs, 1))
		return ENOMEM;
	runs->begin[runs->runs++] = runs->bytes.used;
	sort_run(runs);
	for (size_t i = 0; i < runs->count; i++) {
		const struct item *item = &runs->held[i];
		uint8_t text[ITEM_BYTES], *end = text;

		end = proto_put_varint(end, (uint64_t)(item->row - last.row));
		end = proto_put_varint(end, item->row == last.row ? item->ns - last.ns : item->ns);
		end = proto_put_varint(end, item->value);
		end = proto_put_varint(end, item->kind);
		bytes_add(&runs->bytes, text, (size_t)(end - text));
		last = *item;
	}
	runs->count = 0;
	return runs->bytes.failed ? ENOMEM : 0;
}

int runs_add(struct runs *runs, const struct item *item)
{
	if (!runs->held && !(runs->held = malloc(RUNS_HELD * sizeof(*runs->held))))
		return ENOMEM;
	if (!vec_reach(&runs->of_row, &runs->rows, item->row))
		return ENOMEM;
	runs->of_row[item->row]++;
	runs->items++;
	runs->held[runs->count] = *item;
	runs->held[runs->count].order = (uint32_t)runs->count;
	return ++runs->count == RUNS_HELD ? keep_run(runs) : 0;
}

int runs_end(struct runs *runs)
{
	int err = keep_run(runs);

	free(runs->held);
	runs->held = NULL;
	return err;
}

/* Reads the cursor's next item. Returns false at the end of its run. */
static bool advance_cursor(struct runs_cursor *cursor)
{
	uint64_t row, ns, kind;

	if (cursor->at == cursor->end)
		return false;
	cursor->at = bytes_get_varint(cursor->at, &row);
	cursor->at = bytes_get_varint(cursor->at, &ns);
	cursor->at = bytes_get_varint(cursor->at, &cursor->item.value);
	cursor->at = bytes_get_varint(cursor->at, &kind);
	cursor->item.ns = row ? ns : cursor->item.ns + ns;
	cursor->item.row = (uint16_t)(cursor->item.row + row);
	cursor->item.kind = (uint16_t)kind;
	return true;
}

/* Moves a cursor down in the heap until no cursor below it precedes it. */
static void sift_cursor(struct runs *runs, size_t at)
{
	struct runs_cursor *heap = runs->cursor, moved = heap[at];

	for (size_t below; (below = 2 * at + 1) < runs->cursors; at = below) {
		if (below + 1 < runs->cursors &&
		    compare_items(runs, &heap[below + 1].item, &heap[below].item) < 0)
			below++;
		if (compare_items(runs, &heap[below].item, &moved.item) >= 0)
			break;
		heap[at] = heap[below];
	}
	heap[at] = moved;
}

/*
 * The function sets the member "order" of an item to the number of its run. Items of a run need no
 * order among themselves, because they are read in the order of the bytes.
 */
int runs_rewind(struct runs *runs)
{
	free(runs->cursor);
	runs->cursors = 0;
	runs->cursor = calloc(runs->runs + 1, sizeof(*runs->cursor));
	if (!runs->cursor)
		return ENOMEM;
	for (size_t i = 0; i < runs->runs; i++) {
		struct runs_cursor *cursor = &runs->cursor[runs->cursors];

		*cursor = (struct runs_cursor){
			.at = runs->bytes.at + runs->begin[i],
			.end = runs->bytes.at + (i + 1 < runs->runs ? runs->begin[i + 1] :
						 runs->bytes.used),
			.item.order = (uint32_t)i,
		};
		runs->cursors += advance_cursor(cursor);
	}
	for (size_t i = runs->cursors; i-- > 0;)
		sift_cursor(runs, i);
	return 0;
}

bool runs_next(struct runs *runs, struct item *item)
{
	if (!runs->cursors)
		return false;
	*item = runs->cursor->item;
	if (!advance_cursor(runs->cursor))
		*runs->cursor = runs->cursor[--runs->cursors];
	if (runs->cursors > 1)
		sift_cursor(runs, 0);
	return true;
}

void runs_fini(struct runs *runs)
{
	free(runs->held);
	free(runs->begin);
	free(runs->of_row);
	free(runs->cursor);
	bytes_free(&runs->bytes);
	*runs = (struct runs){ .by_value = runs->by_value };
}
