/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the store of the kernel's records, live/kernel_store.h: all records are read in order of
 * time, also those that did not arrive in this order, and those for which there is no file.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/whole.c"
#include "live/kernel_store.c"
#include "support/memory_file.h"
#include "support/random.h"
#include "support/support.h"

/* These functions replace those of the tool. said is the number of messages. */
static unsigned said;
static int file_error;

int spool_create(int *fd)
{
	*fd = file_error ? -1 : memory_file("store", MFD_CLOEXEC);
	return file_error;
}

void say(const char *format, ...)
{
	(void)format;
	said++;
}

const char *say_strerror(int err)
{
	return strerror(err);
}

#define RECORDS   200000
#define LATE_NS   5000     /* a record may arrive after records that are this much younger */
#define DATA_MOST 300

/* The data of a record of kind KERNEL_EVENT is its number and then the low byte of the number. */
static bool keep(struct kernel_store *store, uint32_t number, int64_t time_ns)
{
	unsigned char data[DATA_MOST];
	const struct kernel_record record = {
		.time_ns = time_ns, .kind = number % 3 ? KERNEL_EVENT : KERNEL_SAMPLE,
		.other = number,
	};
	const struct kernel_event event = { .bytes = 4 + number % (DATA_MOST - 4) };

	memset(data, (int)(number & 0xff), sizeof(data));
	memcpy(data, &number, sizeof(number));
	return kernel_store_keep(store, &record, &event, data);
}

static bool is_right(const struct kernel_item *item)
{
	const uint32_t number = item->record.other;
	const uint32_t bytes = number % 3 ? 4 + number % (DATA_MOST - 4) : 0;

	if (item->event.bytes != bytes || (bytes && memcmp(item->data, &number, 4) != 0))
		return false;
	for (uint32_t i = 4; i < bytes; i++)
		if (item->data[i] != (number & 0xff))
			return false;
	return true;
}

/* Whether a may precede b: by time, then by kind, then by arrival. */
static bool is_in_order(const struct kernel_record *a, const struct kernel_record *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->kind != b->kind ? a->kind < b->kind : a->other < b->other;
}

/* Reads all records and returns their number. */
static size_t read_all(struct kernel_store *store, size_t *most_open)
{
	struct kernel_record last = { .time_ns = INT64_MIN };
	const struct kernel_item *item;
	struct kernel_reader reader;
	size_t count = 0;

	*most_open = 0;
	ck_assert_int_eq(kernel_reader_begin(&reader, store), 0);
	for (; (item = kernel_reader_look(&reader)) != NULL; kernel_reader_skip(&reader)) {
		if (!is_right(item) || !is_in_order(&last, &item->record))
			ck_abort_msg("record %zu is %u", count, (unsigned)item->record.other);
		last = item->record;
		count++;
		if (reader.inputs > *most_open)
			*most_open = reader.inputs;
	}
	ck_assert_int_eq(reader.err, 0);
	kernel_reader_end(&reader);
	return count;
}

START_TEST(all_records_are_read_in_order_of_time)
{
	struct kernel_store store = { .used = 0 };
	uint64_t random = 11;
	size_t most_open;

	for (uint32_t i = 0; i < RECORDS; i++)
		ck_assert(keep(&store, i,
			       (int64_t)(i / 2 * 10 + random_between(&random, 0, LATE_NS))));
	ck_assert(store.has_file);
	ck_assert_uint_gt(store.runs, 10);
	/* The records can be read more than once. */
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(read_all(&store, &most_open), RECORDS);
		/* Few runs are open at a time, the last chunk included. */
		ck_assert_uint_le(most_open, 4);
	}
	kernel_store_fini(&store);
}
END_TEST

/* If the clock is set back, later runs overlap with much earlier ones. */
START_TEST(runs_that_overlap_are_merged)
{
	struct kernel_store store = { .used = 0 };
	size_t most_open;

	for (uint32_t i = 0; i < RECORDS; i++)
		ck_assert(keep(&store, i, i % (RECORDS / 4)));
	ck_assert_uint_eq(read_all(&store, &most_open), RECORDS);
	/* All times within each of the runs: no run can be left for later. */
	kernel_store_fini(&store);
	for (uint32_t i = 0; i < RECORDS; i++)
		ck_assert(keep(&store, i, (int64_t)(i * UINT64_C(7919) % 1009)));
	ck_assert_uint_eq(read_all(&store, &most_open), RECORDS);
	ck_assert_uint_eq(most_open, store.runs + 1);
	kernel_store_fini(&store);
}
END_TEST

START_TEST(an_empty_store_has_no_record)
{
	struct kernel_store store = { .used = 0 };
	size_t most_open;

	ck_assert_uint_eq(read_all(&store, &most_open), 0);
	kernel_store_fini(&store);
}
END_TEST

/* Without a file the first chunk of records is kept, and the caller can count the others. */
START_TEST(records_that_have_no_room_are_refused)
{
	struct kernel_store store = { .used = 0 };
	size_t kept = 0, most_open;

	file_error = EACCES;
	for (uint32_t i = 0; i < RECORDS; i++)
		kept += keep(&store, i, i);
	ck_assert(!store.has_file && store.has_failed);
	ck_assert_uint_eq(said, 1);
	ck_assert_uint_gt(kept, 1000);
	ck_assert_uint_lt(kept, RECORDS);
	ck_assert_uint_eq(read_all(&store, &most_open), kept);
	kernel_store_fini(&store);
}
END_TEST

SUITE_MAIN("kernel_store", all_records_are_read_in_order_of_time, runs_that_overlap_are_merged,
	   an_empty_store_has_no_record, records_that_have_no_room_are_refused)
