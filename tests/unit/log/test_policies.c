/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* log/: for each log-full policy, a reader gets the events that the log keeps, unchanged. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/log/sample.h"

/* LOG-01, LOG-13, LOG-14, LOG-18, SIZE-16 */
START_TEST(append_keeps_every_event_in_order_and_ignores_the_limit)
{
	int fd = sample_file();

	sample_make(fd, POSIX_TRACE_APPEND, 0, 100, 30000, 777);
	ck_assert_uint_eq(sample_read_file(fd, 0, 100), 30000);
	sample_prove(fd);
	close(fd);
}
END_TEST

/* LOG-10, OPEN-09 */
START_TEST(a_log_has_attributes_names_and_clock)
{
	struct posix_trace_loginfo_np info;
	struct ptx_log_facts want;
	struct ptx_stored *stored;
	int fd = sample_file();

	sample_make(fd, POSIX_TRACE_APPEND, 4711, 100, 10, 10);
	stored = sample_open(fd, false);
	sample_facts(&want, POSIX_TRACE_APPEND, 4711, 100);
	ck_assert_mem_eq(ptx_stored_facts(stored), &want, sizeof(want));
	ck_assert_str_eq(ptx_stored_name(stored, 64), "sample 0");
	ck_assert_str_eq(ptx_stored_name(stored, 70), "sample 6");
	ck_assert_ptr_null(ptx_stored_name(stored, 71));
	ck_assert_ptr_null(ptx_stored_name(stored, 0));
	ck_assert_ptr_null(ptx_stored_name(stored, PTX_TYPE_MAX));
	ptx_stored_info(stored, &info);
	ck_assert(info.complete);
	ck_assert_int_eq(info.log_full_policy, POSIX_TRACE_APPEND);
	ck_assert_uint_eq(info.format_major, 1);
	ck_assert_uint_eq(info.format_minor, 2);
	ck_assert_int_eq(info.pid, 500);
	ck_assert_str_eq(info.clock, "tsc");
	ck_assert_uint_eq(info.blocks, 1);
	ck_assert_int_eq(info.first_ns, SAMPLE_TIME(0));
	ck_assert_int_eq(info.last_ns, SAMPLE_TIME(9));
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/* LOG-10, STATUS-16 */
START_TEST(a_log_keeps_status_and_ledger_as_given)
{
	const struct ptx_ledger *ledger;
	struct ptx_stored *stored;
	struct sample sample;
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 8), 0);
	sample_add(&sample, 70);
	sample.status.stream_overrun = POSIX_TRACE_OVERRUN;
	sample.status.flush_error = ENOSPC;
	sample.ledger.total.called += 5;
	sample.ledger.total.lost[PTX_LOST_STREAM_FULL] += 5;
	sample.ledger.type[66].called += 5;
	sample.ledger.type[66].lost[PTX_LOST_STREAM_FULL] += 5;
	ptx_ledger_thread(&sample.ledger, 0, 0, 0)->called += 5;
	ptx_ledger_thread(&sample.ledger, 0, 0, 0)->lost[PTX_LOST_STREAM_FULL] += 5;
	ck_assert_int_eq(sample_end(&sample), 0);
	sample_prove(fd);

	stored = sample_open(fd, false);
	ck_assert_int_eq(ptx_stored_status(stored)->stream_overrun, POSIX_TRACE_OVERRUN);
	ck_assert_int_eq(ptx_stored_status(stored)->flush_error, ENOSPC);
	ck_assert_int_eq(ptx_stored_status(stored)->log_full, POSIX_TRACE_NOT_FULL);
	ledger = ptx_stored_ledger(stored);
	ck_assert_uint_eq(ledger->total.called, 75);
	ck_assert_uint_eq(ledger->total.reported, 70);
	ck_assert_uint_eq(ledger->type[66].lost[PTX_LOST_STREAM_FULL], 5);
	ck_assert_uint_eq(ledger->type[66].reported, 10);
	ck_assert_uint_eq(ledger->threads, SAMPLE_THREADS + 1);
	ck_assert_uint_eq(ledger->thread[0].tid, 501);
	ck_assert_uint_eq(ledger->thread[0].line.reported, 15);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/* LOG-04, LOG-09, SIZE-15: for every limit from the smallest on */
START_TEST(until_full_never_exceeds_its_limit_and_keeps_room_for_stop)
{
	const size_t least = ptx_record_size(PTX_SYSTEM_DATA_MAX) + PTX_LOG_STOP_BYTES;

	for (size_t limit = least; limit < least + 100; limit++) {
		struct ptx_log_event stop = { .len_flags = 4, .type = POSIX_TRACE_STOP,
					      .time_ns = SAMPLE_TIME(1000), .data = "\1\0\0" };
		struct ptx_log_event event;
		struct ptx_stored_event last = { 0 };
		struct posix_trace_loginfo_np info;
		struct ptx_stored *stored;
		struct sample sample;
		uint8_t data[64];
		uint64_t n = 0;
		int err, fd = sample_file();

		ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_UNTIL_FULL, limit, 40), 0);
		ck_assert_int_eq(ptx_log_name(sample.log, POSIX_TRACE_STOP, "stop"), 0);
		ck_assert_int_eq(sample_put(&sample, 1000, &err), PTX_LOG_APPEND_FULL);
		sample_event(sample.events, 40, &event, data);
		ck_assert_uint_le(sample.bytes + PTX_LOG_STOP_BYTES, limit);
		ck_assert_uint_gt(sample.bytes + PTX_LOG_STOP_BYTES +
				  ptx_record_size(ptx_record_len(event.len_flags)), limit);
		/*
		 * No later event is accepted, even if it is short, because the order would be lost.
		 */
		event.len_flags = 0;
		ck_assert_int_eq(ptx_log_append(sample.log, &event), PTX_LOG_APPEND_FULL);
		ck_assert(ptx_log_is_full(sample.log));
		ck_assert_int_eq(ptx_log_append_last(sample.log, &stop), PTX_LOG_APPEND_DONE);
		ck_assert_int_eq(ptx_log_append_last(sample.log, &stop),
				 limit - sample.bytes >= 2 * PTX_LOG_STOP_BYTES
					 ? PTX_LOG_APPEND_DONE
					 : PTX_LOG_APPEND_FULL);
		sample_write(&sample);
		sample_end(&sample);

		stored = sample_open(fd, false);
		ptx_stored_info(stored, &info);
		ck_assert_uint_le(info.event_bytes, limit);
		while (ptx_stored_next(stored, &last))
			n++;
		ck_assert_uint_ge(n, 2);
		ck_assert_int_eq(last.record->type, POSIX_TRACE_STOP);
		ck_assert_int_eq(ptx_stored_status(stored)->log_full, POSIX_TRACE_FULL);
		ptx_stored_close(stored);
		close(fd);
	}
}
END_TEST

/* LOG-08, CLEAR-07 */
START_TEST(clear_makes_a_full_log_usable_again)
{
	struct sample sample;
	int err, fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_UNTIL_FULL, 1000, 8), 0);
	ck_assert_int_eq(sample_put(&sample, 1000, &err), PTX_LOG_APPEND_FULL);
	OK(ptx_log_clear(sample.log, &sample.ledger, NULL));
	ck_assert(!ptx_log_is_full(sample.log));
	sample.events = 0;
	sample_add(&sample, 10);
	ck_assert_int_eq(sample_end(&sample), 0);
	ck_assert_uint_eq(sample_read_file(fd, 0, 8), 10);
	sample_prove(fd);
	close(fd);
}
END_TEST

/* CLEAR-07, CLEAR-08, CLEAR-09, CLEAR-05: _i is the policy */
START_TEST(after_clear_a_log_is_as_just_created_and_old_blocks_never_return)
{
	static const uint32_t policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
					     POSIX_TRACE_LOOP };
	struct ptx_stored *stored;
	struct sample sample;
	int fd = sample_file(), copy;
	size_t size;
	uint8_t *bytes;

	ck_assert_int_eq(sample_begin(&sample, fd, policies[_i], 100000, 8), 0);
	sample_add(&sample, 1000);
	sample_write(&sample);
	sample_add(&sample, 100); /* these events were put and not written */
	OK(ptx_log_clear(sample.log, &sample.ledger, NULL));
	ck_assert_uint_eq(sample.ledger.total.lost[PTX_LOST_CLEARED], 1100);
	sample.events = 0;
	sample_add(&sample, 3);
	sample_write(&sample);

	/* The writer is killed now: the thousand events are still in the file. */
	bytes = sample_bytes(fd, &size);
	copy = sample_file_of(bytes, size);
	ck_assert_uint_eq(sample_read_file(copy, 0, 8), 3);
	stored = sample_open(copy, true);
	ck_assert_uint_eq(sample_read(stored, 0, 8), 3);
	ck_assert_str_eq(ptx_stored_name(stored, 64), "sample 0");
	ptx_stored_close(stored);
	close(copy);
	free(bytes);

	ck_assert_int_eq(sample_end(&sample), 0);
	ck_assert_uint_eq(sample_read_file(fd, 0, 8), 3);
	sample_prove(fd);
	close(fd);
}
END_TEST

/* WITHLOG-07, WITHLOG-08: _i is the policy */
START_TEST(an_old_log_is_invalid_at_once_its_space_stays_and_its_rest_is_cut_at_the_end)
{
	static const uint32_t policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
					     POSIX_TRACE_LOOP };
	struct sample sample;
	struct ptx_stored *stored;
	struct stat before, after;
	/* A LOOP log keeps room for schemas and objects (FORMAT 2.1, lists_bytes). */
	const long more = policies[_i] == POSIX_TRACE_LOOP ? 128 * 1024 : 0;
	int fd = sample_file();

	sample_make(fd, POSIX_TRACE_APPEND, 0, 100, 50000, 50000);
	ck_assert_int_eq(fstat(fd, &before), 0);
	ck_assert_int_eq(lseek(fd, 12, SEEK_SET), 12);
	ck_assert_int_eq(sample_begin(&sample, fd, policies[_i], 100000, 8), 0);
	ck_assert_int_eq(ptx_stored_open(fd, false, &stored), EINVAL); /* LOG-17 too */
	ck_assert_int_eq(fstat(fd, &after), 0);
	ck_assert_int_eq(after.st_size, before.st_size);
	sample_add(&sample, 10);
	ck_assert_int_eq(sample_end(&sample), 0);
	ck_assert_int_eq(fstat(fd, &after), 0);
	ck_assert_int_lt(after.st_size, 200000 + more);
	ck_assert_int_lt(after.st_size, before.st_size);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 12); /* WITHLOG-09 */
	ck_assert_uint_eq(sample_read_file(fd, 0, 8), 10);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 12); /* OPEN-05 */
	sample_prove(fd);
	close(fd);
}
END_TEST

/* LOG-13 */
START_TEST(an_event_as_large_as_data_may_be_has_a_block_of_its_own)
{
	int fd = sample_file();

	sample_make(fd, POSIX_TRACE_APPEND, 0, 300000, 20, 7);
	ck_assert_uint_eq(sample_read_file(fd, 0, 300000), 20);
	sample_prove(fd);
	close(fd);
}
END_TEST

START_TEST(more_threads_than_a_block_can_name_begin_another_block)
{
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	struct sample sample;
	int fd = sample_file();
	uint32_t n = 0;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 8), 0);
	for (uint32_t i = 0; i < 5000; i++) {
		struct ptx_log_event event = { .type = 64, .pid = 1 + i % 2, .tid = i,
					       .thread = i ^ 0x55, .time_ns = i };
		enum ptx_log_append answer = ptx_log_append(sample.log, &event);

		if (answer == PTX_LOG_APPEND_WRITE_FIRST) {
			sample_write(&sample);
			answer = ptx_log_append(sample.log, &event);
		}
		ck_assert_int_eq(answer, PTX_LOG_APPEND_DONE);
	}
	sample_end(&sample);
	stored = sample_open(fd, false);
	for (; ptx_stored_next(stored, &got); n++) {
		ck_assert_uint_eq(got.pid, 1 + n % 2);
		ck_assert_uint_eq(got.tid, n);
		ck_assert_uint_eq(got.thread, n ^ 0x55);
	}
	ck_assert_uint_eq(n, 5000);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/* WITHLOG-02, -03, -04, -06, -10, -11, clarification 5 */
START_TEST(create_accepts_only_files_that_suit_the_policy)
{
	static const uint32_t policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
					     POSIX_TRACE_LOOP };
	const size_t least = ptx_record_size(PTX_SYSTEM_DATA_MAX) + PTX_LOG_STOP_BYTES;
	char path[] = "/tmp/ptx-log-XXXXXX";
	int ends[2], fd, file = mkstemp(path);
	struct sample s;

	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	for (int i = 0; i < 3; i++) {
		uint32_t p = policies[i];

		ck_assert_int_eq(sample_begin(&s, -1, p, 100000, 8), EBADF);
		ck_assert_int_eq(sample_begin(&s, ends[0], p, 100000, 8), EBADF);
		ck_assert_int_eq(sample_begin(&s, ends[1], p, 100000, 8), i ? EINVAL : 0);
		if (!i)
			sample_die(&s);
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		ck_assert_int_eq(sample_begin(&s, fd, p, 100000, 8), i ? EINVAL : 0);
		if (!i)
			sample_die(&s);
		close(fd);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		ck_assert_int_eq(sample_begin(&s, fd, p, 100000, 8), EBADF);
		close(fd);
		fd = open(path, O_PATH | O_CLOEXEC);
		ck_assert_int_eq(sample_begin(&s, fd, p, 100000, 8), EBADF);
		close(fd);

		/*
		 * Write-only descriptors, and O_APPEND on an empty file, are accepted with every
		 * policy.
		 */
		ck_assert_int_eq(ftruncate(file, 0), 0);
		fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
		ck_assert_int_eq(sample_begin(&s, fd, p, 100000, 8), 0);
		sample_add(&s, 100);
		sample_write(&s);
		sample_add(&s, 100);
		ck_assert_int_eq(sample_end(&s), 0);
		ck_assert_uint_eq(sample_read_file(file, 0, 8), 200);
		sample_prove(file);
		ck_assert_int_eq(sample_begin(&s, fd, p, 100000, 8), EINVAL); /* not empty now */
		close(fd);

		ck_assert_int_eq(sample_begin(&s, file, p, least - 1, 8), i ? EINVAL : 0);
		if (!i)
			sample_die(&s);
		ck_assert_int_eq(sample_begin(&s, file, p, least, 8), 0);
		sample_die(&s);
		ck_assert_int_eq(sample_begin(&s, file, p, 2000, 2000), i ? EINVAL : 0);
		if (!i)
			sample_die(&s);
	}
	ck_assert_int_eq(sample_begin(&s, file, 0, 100000, 8), EINVAL);
	close(ends[0]);
	close(ends[1]);
	close(file);
	unlink(path);
}
END_TEST

/* WITHLOG-09 */
START_TEST(the_program_may_close_its_descriptor_or_set_flags_on_it)
{
	char path[] = "/tmp/ptx-log-XXXXXX";
	int fd = mkstemp(path), again = open(path, O_RDONLY | O_CLOEXEC);
	struct sample sample;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_LOOP, 10000, 8), 0);
	ck_assert_int_eq(fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK), 0);
	sample_add(&sample, 1000);
	sample_write(&sample);
	close(fd);
	sample_add(&sample, 1000);
	ck_assert_int_eq(sample_end(&sample), 0);
	sample_prove(again);
	close(again);
	unlink(path);
}
END_TEST

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("log policies", &tc);

	tcase_add_test(tc, append_keeps_every_event_in_order_and_ignores_the_limit);
	tcase_add_test(tc, a_log_has_attributes_names_and_clock);
	tcase_add_test(tc, a_log_keeps_status_and_ledger_as_given);
	tcase_add_test(tc, until_full_never_exceeds_its_limit_and_keeps_room_for_stop);
	tcase_add_test(tc, clear_makes_a_full_log_usable_again);
	tcase_add_loop_test(
		tc, after_clear_a_log_is_as_just_created_and_old_blocks_never_return, 0, 3);
	tcase_add_loop_test(
		tc, an_old_log_is_invalid_at_once_its_space_stays_and_its_rest_is_cut_at_the_end,
		0, 3);
	tcase_add_test(tc, an_event_as_large_as_data_may_be_has_a_block_of_its_own);
	tcase_add_test(tc, more_threads_than_a_block_can_name_begin_another_block);
	tcase_add_test(tc, create_accepts_only_files_that_suit_the_policy);
	tcase_add_test(tc, the_program_may_close_its_descriptor_or_set_flags_on_it);
	return suite;
}

SUITE_MAIN_OF(build)
