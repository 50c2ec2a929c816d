/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_store.c - an external merge sort of the kernel's records.
 *
 * A record has the same form in the chunk and in the file: a struct kernel_record, then for kind
 * KERNEL_EVENT a struct kernel_event and its data, then zeros up to a multiple of 8 bytes. The file
 * has no name, so only this process writes it.
 */
#include "live/kernel_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/spool.h"
#include "base/vec.h"
#include "base/whole.h"
#include "live/kernel.h"

/* The first size of the buffer of an open run. The buffer grows if a record is longer. */
#define INPUT_BYTES (UINT32_C(64) << 10)
/*
 * A record that is longer than ITEM_BYTES is not kept. The kernel makes no record that is so long.
 */
#define ITEM_BYTES  (KERNEL_STORE_CHUNK / 4)

/* The last chunk has this number as a run: it arrived later than all others. */
#define LAST_RUN UINT32_MAX

struct kernel_input {
	struct kernel_item item; /* the next record of the run */
	uint32_t number;         /* of the run */
	uint32_t item_bytes;
	uint64_t at, left;       /* the bytes of the run that are not in the buffer yet */
	unsigned char *buffer;
	size_t begin, end, room; /* room 0: the buffer is store->sorted */
};

/* ------------------------------------------------------------------ the chunk */

static size_t item_bytes(const struct kernel_record *record, const struct kernel_event *event)
{
	size_t bytes = sizeof(*record);

	if (record->kind == KERNEL_EVENT)
		bytes += sizeof(*event) + event->bytes;
	return (bytes + 7) & ~(size_t)7;
}

static int by_place(const void *a, const void *b)
{
	const struct kernel_place *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Copies the chunk in order of time to store->sorted. Returns false if memory is lacking. */
static bool sort_chunk(struct kernel_store *store)
{
	size_t used = 0;

	if (!store->sorted && !(store->sorted = malloc(KERNEL_STORE_CHUNK)))
		return false;
	qsort(store->place, store->places, sizeof(*store->place), by_place);
	for (size_t i = 0; i < store->places; i++) {
		const unsigned char *from = store->chunk + store->place[i].at;
		struct kernel_record record;
		struct kernel_event event = { .bytes = 0 };
		size_t bytes;

		memcpy(&record, from, sizeof(record));
		if (record.kind == KERNEL_EVENT)
			memcpy(&event, from + sizeof(record), sizeof(event));
		bytes = item_bytes(&record, &event);
		memcpy(store->sorted + used, from, bytes);
		used += bytes;
	}
	return true;
}

/* Appends the chunk to the file as a run. Returns 0 or an error number. */
static int write_run(struct kernel_store *store)
{
	int err = 0;

	if (!store->has_file) {
		err = spool_create(&store->fd);
		store->has_file = !err;
	}
	if (err)
		return err;
	if (store->bytes + store->used > KERNEL_STORE_MAX)
		return EFBIG;
	if (!sort_chunk(store) || !vec_grow(&store->run, store->runs, 1))
		return ENOMEM;
	err = whole_pwrite(store->fd, store->sorted, store->used, store->bytes);
	if (err)
		return err;
	store->run[store->runs] = (struct kernel_run){
		.first_ns = store->place[0].time_ns, .at = store->bytes, .bytes = store->used,
		.number = (uint32_t)store->runs,
	};
	store->runs++;
	store->bytes += store->used;
	store->used = store->places = 0;
	return 0;
}

/* Makes room for a record in the chunk. Returns false if there is none. */
static bool make_room(struct kernel_store *store, size_t bytes)
{
	int err;

	if (bytes > ITEM_BYTES ||
	    (!store->chunk && !(store->chunk = malloc(KERNEL_STORE_CHUNK))))
		return false;
	if (store->used + bytes <= KERNEL_STORE_CHUNK)
		return true;
	/* After a failure the chunk is full, and the records that follow have no room. */
	if (store->has_failed)
		return false;
	err = write_run(store);
	if (!err)
		return true;
	store->has_failed = true;
	say("the kernel's records need a file in TMPDIR: %s; further records are lost; set TMPDIR "
	    "to a folder with free space", say_strerror(err));
	return false;
}

bool kernel_store_keep(struct kernel_store *store, const struct kernel_record *record,
		       const struct kernel_event *event, const void *data)
{
	const size_t bytes = item_bytes(record, event);
	unsigned char *to;
	size_t used = sizeof(*record);

	if (!make_room(store, bytes) || !vec_grow(&store->place, store->places, 1))
		return false;
	to = store->chunk + store->used;
	memcpy(to, record, sizeof(*record));
	if (record->kind == KERNEL_EVENT) {
		memcpy(to + used, event, sizeof(*event));
		used += sizeof(*event);
		if (event->bytes)
			memcpy(to + used, data, event->bytes);
		used += event->bytes;
	}
	memset(to + used, 0, bytes - used);
	store->place[store->places++] = (struct kernel_place){
		.time_ns = record->time_ns, .at = (uint32_t)store->used, .kind = record->kind,
	};
	store->used += bytes;
	store->kept++;
	return true;
}

void kernel_store_fini(struct kernel_store *store)
{
	if (store->has_file)
		close(store->fd);
	free(store->chunk);
	free(store->place);
	free(store->sorted);
	free(store->run);
	*store = (struct kernel_store){ .used = 0 };
}

/* ------------------------------------------------------------------ the merge */

/* Returns whether the next record of the run 'a' is before the next record of the run 'b'. */
static bool is_before(const struct kernel_input *a, const struct kernel_input *b)
{
	const struct kernel_record *x = &a->item.record, *y = &b->item.record;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns;
	if (x->kind != y->kind)
		return x->kind < y->kind;
	return a->number < b->number;
}

static void swap_inputs(struct kernel_reader *reader, size_t a, size_t b)
{
	const struct kernel_input input = reader->input[a];

	reader->input[a] = reader->input[b];
	reader->input[b] = input;
}

static void sift_up(struct kernel_reader *reader, size_t i)
{
	for (; i && is_before(&reader->input[i], &reader->input[(i - 1) / 2]); i = (i - 1) / 2)
		swap_inputs(reader, i, (i - 1) / 2);
}

static void sift_down(struct kernel_reader *reader)
{
	size_t i = 0;

	for (;;) {
		size_t least = i;

		for (size_t next = 2 * i + 1; next <= 2 * i + 2 && next < reader->inputs; next++)
			if (is_before(&reader->input[next], &reader->input[least]))
				least = next;
		if (least == i)
			return;
		swap_inputs(reader, i, least);
		i = least;
	}
}

/*
 * Makes sure that the buffer has this many bytes from input->begin on. Returns 0 or an error
 * number; EIO if the run ends before.
 */
static int fill_input(const struct kernel_store *store, struct kernel_input *input, size_t bytes)
{
	size_t kept = input->end - input->begin, more;
	int err;

	if (kept >= bytes)
		return 0;
	if (!input->room || bytes > ITEM_BYTES || bytes - kept > input->left)
		return EIO;
	memmove(input->buffer, input->buffer + input->begin, kept);
	input->begin = 0;
	input->end = kept;
	if (!vec_reserve(&input->buffer, &input->room, kept, bytes - kept))
		return ENOMEM;
	more = input->room - kept < input->left ? input->room - kept : (size_t)input->left;
	err = whole_pread(store->fd, input->buffer + kept, more, input->at);
	if (err)
		return err;
	input->end += more;
	input->at += more;
	input->left -= more;
	return 0;
}

/* Reads the next record of a run. The run must have one. Returns 0 or an error number. */
static int load_item(const struct kernel_store *store, struct kernel_input *input)
{
	struct kernel_item *item = &input->item;
	size_t head = sizeof(item->record);
	int err = fill_input(store, input, head);

	if (err)
		return err;
	memcpy(&item->record, input->buffer + input->begin, sizeof(item->record));
	item->event = (struct kernel_event){ .bytes = 0 };
	if (item->record.kind == KERNEL_EVENT) {
		head += sizeof(item->event);
		err = fill_input(store, input, head);
		if (err)
			return err;
		memcpy(&item->event, input->buffer + input->begin + sizeof(item->record),
		       sizeof(item->event));
	}
	input->item_bytes = (uint32_t)item_bytes(&item->record, &item->event);
	err = fill_input(store, input, input->item_bytes);
	item->data = input->buffer + input->begin + head;
	return err;
}

/*
 * Adds a run to the heap. Takes over the buffer of the input, if it has one of its own. Returns 0
 * or an error number.
 */
static int add_input(struct kernel_reader *reader, struct kernel_input *input)
{
	int err = load_item(reader->store, input);

	if (!err && !vec_grow(&reader->input, reader->inputs, 1))
		err = ENOMEM;
	if (err) {
		if (input->room)
			free(input->buffer);
		return err;
	}
	reader->input[reader->inputs] = *input;
	sift_up(reader, reader->inputs++);
	return 0;
}

/* Opens the runs that may have the next record. All other runs begin after this record. */
static void open_runs(struct kernel_reader *reader)
{
	const struct kernel_store *store = reader->store;

	while (!reader->err && reader->next < store->runs) {
		const struct kernel_run *run = &store->run[reader->next];
		struct kernel_input input = {
			.number = run->number, .at = run->at, .left = run->bytes,
			.room = INPUT_BYTES,
		};

		if (reader->inputs && reader->input[0].item.record.time_ns < run->first_ns)
			return;
		input.buffer = malloc(input.room);
		reader->err = input.buffer ? add_input(reader, &input) : ENOMEM;
		reader->next++;
	}
}

static int by_first(const void *a, const void *b)
{
	const struct kernel_run *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

int kernel_reader_begin(struct kernel_reader *reader, struct kernel_store *store)
{
	struct kernel_input last = { .number = LAST_RUN, .end = store->used };

	*reader = (struct kernel_reader){ .store = store };
	if (store->runs)
		qsort(store->run, store->runs, sizeof(*store->run), by_first);
	if (store->used) {
		if (!sort_chunk(store))
			return reader->err = ENOMEM;
		last.buffer = store->sorted;
		reader->err = add_input(reader, &last);
	}
	open_runs(reader);
	return reader->err;
}

const struct kernel_item *kernel_reader_look(const struct kernel_reader *reader)
{
	return reader->err || !reader->inputs ? NULL : &reader->input[0].item;
}

void kernel_reader_skip(struct kernel_reader *reader)
{
	struct kernel_input *input = &reader->input[0];

	reader->taken++;
	input->begin += input->item_bytes;
	if (input->begin < input->end || input->left) {
		reader->err = load_item(reader->store, input);
	} else {
		if (input->room)
			free(input->buffer);
		swap_inputs(reader, 0, --reader->inputs);
	}
	if (reader->inputs)
		sift_down(reader);
	open_runs(reader);
}

void kernel_reader_end(struct kernel_reader *reader)
{
	for (size_t i = 0; i < reader->inputs; i++)
		if (reader->input[i].room)
			free(reader->input[i].buffer);
	free(reader->input);
	*reader = (struct kernel_reader){ .taken = reader->taken };
}
