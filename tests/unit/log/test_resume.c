/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log/log_resume.c: a log whose writer was killed is written on, and is a log as any other. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/log_encode.h"
#include "log/log_resume.h"
#include "unit/log/sample.h"

#define DATA_MAX 12u
#define LIMIT    4096u /* of LOOP */
#define ENOUGH   (1u << 20)

/* On a duplicate of fd, as another process would: the names are told anew. */
static int resume(struct sample *sample, int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), err;
	struct ptx_log_facts facts;
	struct ptx_log_tally tally;
	char name[32];

	memset(sample, 0, sizeof(*sample));
	ptx_ledger_init(&sample->ledger);
	ptx_log_tally_init(&tally);
	err = ptx_log_resume(own, &sample->log, &facts, &tally);
	if (!err) {
		ck_assert_str_eq(facts.attr.name, "sample");
		ck_assert_uint_eq(facts.attr.max_data_size, DATA_MAX);
		ck_assert_uint_eq(facts.pid, 500);
		ck_assert_int_eq(ptx_log_tally_report(&tally, &sample->ledger), 0);
		for (unsigned i = 0; i < SAMPLE_TYPES; i++) {
			snprintf(name, sizeof(name), "sample %u", i);
			ck_assert_int_eq(ptx_log_name(sample->log, 64 + i, name), 0);
		}
		sample->data_max = DATA_MAX;
		sample->events = ptx_log_put_count(sample->log);
	} else {
		close(own); /* still the caller's */
		ptx_ledger_fini(&sample->ledger);
	}
	ptx_log_tally_fini(&tally);
	return err;
}

/* Goes on, ends, and reads: events 0 to number, but for those that a LOOP log has overwritten. */
static void go_on_to(struct sample *sample, int fd, uint64_t number)
{
	struct ptx_stored *stored;
	uint64_t gone;

	while (sample->events < number) {
		sample_add(sample, number - sample->events < 9 ? number - sample->events : 9);
		sample_write(sample);
	}
	ck_assert_int_eq(sample_end(sample), 0);
	sample_prove(fd);
	stored = sample_open(fd, false);
	gone = ptx_stored_ledger(stored)->total.lost[PTX_LOST_LOG_OVERWRITTEN];
	ck_assert_uint_eq(ptx_stored_ledger(stored)->total.called, number);
	ck_assert_uint_eq(ptx_stored_ledger(stored)->total.reported + gone, number);
	ck_assert_uint_eq(sample_read(stored, gone, DATA_MAX) + gone, number);
	for (unsigned i = 0; i < SAMPLE_TYPES; i++)
		ck_assert_ptr_nonnull(ptx_stored_name(stored, 64 + i));
	ptx_stored_close(stored);
}

/* Killed with so many events in the file, and some that were not written. */
static int killed(uint32_t policy, uint64_t number)
{
	struct sample sample;
	int fd = sample_file();
	uint64_t limit = policy == POSIX_TRACE_APPEND ? 0 :
			 policy == POSIX_TRACE_LOOP   ? LIMIT :
							ENOUGH;

	ck_assert_int_eq(sample_begin(&sample, fd, policy, limit, DATA_MAX), 0);
	while (sample.events < number) {
		sample_add(&sample, number - sample.events < 7 ? number - sample.events : 7);
		sample_write(&sample);
	}
	sample_add(&sample, 3);
	sample_die(&sample);
	return fd;
}

static const uint32_t policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
				     POSIX_TRACE_LOOP };

/* EXIT-01 */
START_TEST(a_log_goes_on_behind_the_last_event_that_was_written)
{
	static const uint64_t numbers[] = { 0, 1, 7, 20, 100, 1000, 5000 };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int fd = killed(policies[_i], numbers[i]);
		struct sample sample;

		ck_assert_int_eq(resume(&sample, fd), 0);
		ck_assert_uint_eq(sample.events, numbers[i]);
		ck_assert_uint_eq(sample.ledger.total.reported, numbers[i]);
		go_on_to(&sample, fd, numbers[i] + 500);
		close(fd);
	}
}
END_TEST

START_TEST(who_goes_on_may_be_killed_too)
{
	int fd = killed(policies[_i], 50);
	struct sample sample;

	for (int n = 1; n <= 20; n++) {
		ck_assert_int_eq(resume(&sample, fd), 0);
		ck_assert_uint_eq(sample.events, 50 + 25 * (unsigned)(n - 1));
		sample_add(&sample, 25);
		sample_write(&sample);
		sample_add(&sample, 2);
		sample_die(&sample);
	}
	ck_assert_int_eq(resume(&sample, fd), 0);
	go_on_to(&sample, fd, 600);
	close(fd);
}
END_TEST

/* What can be read of a file as a dead writer left it. */
static uint64_t events_in(int fd)
{
	return sample_read_file(fd, 0, DATA_MAX);
}

/* LOG-16: wherever in its last write the writer was killed */
START_TEST(a_torn_last_block_is_overwritten)
{
	int fd = killed(POSIX_TRACE_APPEND, 30);
	uint8_t *bytes;
	size_t size;

	bytes = sample_bytes(fd, &size);
	for (size_t len = PTX_LOG_HEADER_BYTES; len <= size; len += 5) {
		int cut = sample_file_of(bytes, len);
		uint64_t whole = events_in(cut);
		struct sample sample;

		ck_assert_int_eq(resume(&sample, cut), 0);
		ck_assert_uint_eq(sample.events, whole);
		go_on_to(&sample, cut, 60);
		close(cut);
	}
	free(bytes);
	close(fd);
}
END_TEST

/* As long as it was to be, but not all of it was written. */
START_TEST(a_last_block_with_a_hole_is_overwritten)
{
	int fd = killed(POSIX_TRACE_APPEND, 28);
	uint8_t *bytes;
	size_t size;

	bytes = sample_bytes(fd, &size);
	for (size_t back = 1; back < 300; back += 3) {
		int hole = sample_file_of(bytes, size);
		struct sample sample;
		uint8_t other = bytes[size - back] ^ 0x55;

		ck_assert_int_eq(pwrite(hole, &other, 1, (off_t)(size - back)), 1);
		ck_assert_int_eq(resume(&sample, hole), 0);
		/* a block is seven events */
		ck_assert_uint_lt(sample.events, 28);
		ck_assert_uint_eq(sample.events % 7, 0);
		go_on_to(&sample, hole, 40);
		close(hole);
	}
	free(bytes);
	close(fd);
}
END_TEST

/* Killed while it completed the log; and who goes on, in one of its first writes. */
START_TEST(what_is_left_of_an_end_is_no_fault_of_who_goes_on)
{
	int fd = killed(POSIX_TRACE_APPEND, 400);
	uint8_t *before, *after;
	size_t was, is;
	struct sample sample;

	before = sample_bytes(fd, &was);
	ck_assert_int_eq(resume(&sample, fd), 0);
	ck_assert_int_eq(sample_end(&sample), 0);
	after = sample_bytes(fd, &is);
	memcpy(after, before, PTX_LOG_HEADER_BYTES); /* it is still being written */
	ck_assert_uint_gt(is, was);
	/* Whole, it would have been completed. */
	for (size_t len = was; len < is; len += 8) {
		int cut = sample_file_of(after, len);

		ck_assert_int_eq(resume(&sample, cut), 0);
		ck_assert_uint_eq(sample.events, 400);
		sample_add(&sample, 2);
		sample_write(&sample);
		sample_die(&sample);
		ck_assert_uint_eq(sample_faults(cut, true), 0);
		ck_assert_uint_eq(events_in(cut), 402);
		ck_assert_int_eq(resume(&sample, cut), 0);
		go_on_to(&sample, cut, 500);
		close(cut);
	}
	free(before);
	free(after);
	close(fd);
}
END_TEST

/* LOG-16 in slots: the state before the write or behind it. */
START_TEST(a_torn_slot_leaves_the_state_before_it)
{
	struct sample sample, heir;
	unsigned seen[2] = { 0, 0 };
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 600, DATA_MAX), 0);
	for (unsigned step = 0; step < 60; step++) {
		size_t was, is, first = 0, last;
		uint8_t *before, *after;

		before = sample_bytes(fd, &was);
		sample_add(&sample, 1); /* one event, one slot */
		sample_write(&sample);
		after = sample_bytes(fd, &is);
		while (first < was && before[first] == after[first])
			first++;
		for (last = is; last > first && last <= was && before[last - 1] == after[last - 1];)
			last--;
		for (size_t n = 0; n <= 10; n++) {
			size_t cut = first + (last - first) * n / 10;
			int torn = sample_file_of(before, was);

			ck_assert_int_eq(pwrite(torn, after + first, cut - first, (off_t)first),
					 (ssize_t)(cut - first));
			ck_assert_int_eq(resume(&heir, torn), 0);
			ck_assert(heir.events == sample.events || heir.events + 1 == sample.events);
			seen[heir.events == sample.events]++;
			go_on_to(&heir, torn, sample.events + 40);
			close(torn);
		}
		free(before);
		free(after);
	}
	ck_assert_uint_gt(seen[0], 100);
	ck_assert_uint_ge(seen[1], 60);
	sample_die(&sample);
	close(fd);
}
END_TEST

START_TEST(what_is_no_log_or_was_completed_is_left_alone)
{
	uint8_t *bytes, *now;
	struct sample sample;
	size_t size, is;
	int fd = sample_file();

	ck_assert_int_eq(resume(&sample, fd), EINVAL); /* empty */
	sample_make(fd, policies[_i], policies[_i] == POSIX_TRACE_APPEND ? 0 : LIMIT, DATA_MAX, 40, 7);
	bytes = sample_bytes(fd, &size);
	ck_assert_int_eq(resume(&sample, fd), EINVAL);
	now = sample_bytes(fd, &is);
	ck_assert_uint_eq(is, size);
	ck_assert_mem_eq(now, bytes, size);
	free(now);
	close(fd);

	fd = killed(policies[_i], 30);
	ck_assert_int_eq(pwrite(fd, "no", 2, 0), 2);
	ck_assert_int_eq(resume(&sample, fd), EINVAL);
	ck_assert_int_eq(ftruncate(fd, PTX_LOG_HEADER_BYTES - 1), 0);
	ck_assert_int_eq(resume(&sample, fd), EINVAL);
	close(fd);
	free(bytes);
}
END_TEST

/* Of a type that a later version or somebody else made: any reader skips it (FORMAT 3.1). */
START_TEST(a_block_of_no_type_that_is_known_is_skipped)
{
	struct {
		struct ptx_log_block header;
		uint8_t payload[24];
	} foreign = { .header = { .type = 0x8001, .number = 7 } };
	int fd = killed(POSIX_TRACE_APPEND, 30);
	struct ptx_log_block first;
	struct sample sample;

	ck_assert_int_eq(pread(fd, &first, sizeof(first), PTX_LOG_HEADER_BYTES), sizeof(first));
	foreign.header.log_id = first.log_id;
	ptx_log_seal_block(&foreign.header, sizeof(foreign.payload));
	for (int i = 0; i < 3; i++) {
		ck_assert_int_gt(lseek(fd, 0, SEEK_END), 0);
		ck_assert_int_eq(write(fd, &foreign, sizeof(foreign)), sizeof(foreign));
		ck_assert_int_eq(resume(&sample, fd), 0);
		ck_assert_uint_eq(sample.events, 30 + 10 * i);
		sample_add(&sample, 10);
		sample_write(&sample);
		sample_die(&sample);
	}
	ck_assert_int_eq(resume(&sample, fd), 0);
	go_on_to(&sample, fd, 100);
	close(fd);
}
END_TEST

/* Where the last block with events begins. */
static size_t last_data(const uint8_t *bytes, size_t size)
{
	size_t last = 0;

	for (size_t at = PTX_LOG_HEADER_BYTES; at < size;) {
		const struct ptx_log_block *block = (const void *)(bytes + at);

		if (block->type == PTX_LOG_DATA)
			last = at;
		at += block->header_bytes + block->payload_bytes;
	}
	return last;
}

/* Which no killed writer leaves behind: what can still be read there is not cut off. */
START_TEST(a_log_with_events_behind_damage_is_left_alone)
{
	int fd = killed(POSIX_TRACE_APPEND, 40);
	uint8_t *bytes;
	size_t size, last;

	bytes = sample_bytes(fd, &size);
	last = last_data(bytes, size);
	ck_assert_uint_gt(last, PTX_LOG_HEADER_BYTES);
	for (size_t at = PTX_LOG_HEADER_BYTES; at < size; at += 7) {
		int damaged = sample_file_of(bytes, size), err;
		uint8_t other = bytes[at] ^ 0x55, *now;
		struct sample sample;
		size_t is;

		ck_assert_int_eq(pwrite(damaged, &other, 1, (off_t)at), 1);
		err = resume(&sample, damaged);
		if (at < last) {
			ck_assert_int_eq(err, EINVAL);
			now = sample_bytes(damaged, &is);
			ck_assert_uint_eq(is, size);
			ck_assert_mem_eq(now, bytes, at);
			ck_assert_mem_eq(now + at + 1, bytes + at + 1, size - at - 1);
			free(now);
		} else {
			ck_assert_int_eq(err, 0);
			go_on_to(&sample, damaged, 60);
		}
		close(damaged);
	}
	free(bytes);
	close(fd);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log: going on", &tc);

	tcase_add_loop_test(tc, a_log_goes_on_behind_the_last_event_that_was_written, 0, 3);
	tcase_add_loop_test(tc, who_goes_on_may_be_killed_too, 0, 3);
	tcase_add_test(tc, a_torn_last_block_is_overwritten);
	tcase_add_test(tc, a_last_block_with_a_hole_is_overwritten);
	tcase_add_test(tc, what_is_left_of_an_end_is_no_fault_of_who_goes_on);
	tcase_add_test(tc, a_block_of_no_type_that_is_known_is_skipped);
	tcase_add_test(tc, a_log_with_events_behind_damage_is_left_alone);
	tcase_add_test(tc, a_torn_slot_leaves_the_state_before_it);
	tcase_add_loop_test(tc, what_is_no_log_or_was_completed_is_left_alone, 0, 3);
	return suite;
}

SUITE_MAIN_OF(build)
