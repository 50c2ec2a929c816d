/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cursor/: logs that were cut, logs of dead writers, logs that are being written. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log/read_scan.h"
#include "unit/log/sample.h"

/* The offsets of the ends of a sequence's blocks, and the number of events before each end. */
struct marks {
	size_t names_end;
	size_t count;
	struct {
		size_t end;
		uint64_t events;
	} mark[100];
};

static void find_marks(int fd, struct marks *marks)
{
	struct ptx_log_window window;
	struct ptx_log_header header;
	struct ptx_log_found found;
	const char *why;
	uint64_t at = PTX_LOG_HEADER_BYTES, events = 0;

	memset(marks, 0, sizeof(*marks));
	ck_assert_int_eq(ptx_log_window_open(&window, fd), 0);
	ck_assert_int_eq(pread(fd, &header, sizeof(header), 0), sizeof(header));
	while (ptx_log_find(&window, at, UINT64_MAX, header.log_id, &found, &why) ==
	       PTX_LOG_GOOD) {
		at = found.end;
		if (found.block.type == PTX_LOG_NAMES && !marks->names_end)
			marks->names_end = at;
		if (found.block.type != PTX_LOG_DATA)
			continue;
		events += found.block.records;
		marks->mark[marks->count].end = at;
		marks->mark[marks->count++].events = events;
	}
	ptx_log_window_close(&window);
}

static uint64_t events_within(const struct marks *marks, size_t len)
{
	uint64_t events = 0;

	for (size_t i = 0; i < marks->count && marks->mark[i].end <= len; i++)
		events = marks->mark[i].events;
	return events;
}

/*
 * OPEN-02, OPEN-08, LOG-16: _i 0: the writer was killed before the end; 1: the log was completed
 * and cut afterwards
 */
START_TEST(a_log_cut_at_any_byte_opens_up_to_its_last_whole_block)
{
	struct sample sample;
	struct marks marks;
	int fd = sample_file(), cut;
	uint8_t *bytes;
	size_t size;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 12), 0);
	for (int i = 0; i < 6; i++) {
		sample_add(&sample, 5);
		sample_write(&sample);
	}
	if (_i)
		ck_assert_int_eq(sample_end(&sample), 0);
	else
		sample_die(&sample);
	find_marks(fd, &marks);
	ck_assert_uint_eq(marks.count, 6);
	bytes = sample_bytes(fd, &size);
	/* 4096 bytes are a header and no block: the log of a writer that died early. */
	ck_assert_uint_gt(marks.names_end, PTX_LOG_HEADER_BYTES);
	cut = sample_file_of(bytes, size);
	for (size_t len = size; len-- > 0;) {
		struct ptx_stored *stored;
		bool open;

		if (ftruncate(cut, (off_t)len))
			ck_abort();
		open = !ptx_stored_open(cut, false, &stored);
		if (open != (len >= PTX_LOG_HEADER_BYTES))
			ck_abort_msg("%zu of %zu bytes", len, size);
		if (!open)
			continue;
		if (sample_read(stored, 0, 12) != events_within(&marks, len))
			ck_abort_msg("%zu of %zu bytes", len, size);
		if (ptx_stored_status(stored)->flush_error != EIO)
			ck_abort_msg("%zu of %zu bytes", len, size);
		ptx_stored_rewind(stored);
		if (sample_read(stored, 0, 12) != events_within(&marks, len))
			ck_abort_msg("%zu of %zu bytes, after rewind", len, size);
		if (len > marks.mark[0].end && !ptx_stored_name(stored, 64))
			ck_abort_msg("no name with %zu of %zu bytes", len, size);
		if (!_i && ptx_stored_ledger(stored)->total.reported != events_within(&marks, len))
			ck_abort_msg("ledger of %zu of %zu bytes", len, size);
		ptx_stored_close(stored);
		/*
		 * A log that was not completed is as its writer left it. A completed log that was
		 * cut lacks its end.
		 */
		if (len % 16 == 0 && !!sample_faults(cut, false) != (_i == 1))
			ck_abort_msg("faults in %zu of %zu bytes", len, size);
	}
	close(cut);
	close(fd);
	free(bytes);
}
END_TEST

/*
 * FORMAT R3: the blocks do not show the losses, but the total of the closing area does. They belong
 * to no known type and thread, so that all lines add up to the total.
 */
START_TEST(losses_of_a_log_without_its_ledger_have_no_type)
{
	const struct ptx_ledger *ledger;
	struct ptx_ledger_line lines = { 0 };
	struct ptx_stored *stored;
	struct sample sample;
	struct marks marks;
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 12), 0);
	sample_add(&sample, 30);
	sample_write(&sample);
	sample.ledger.total.called += 7;
	sample.ledger.total.lost[PTX_LOST_STREAM_FULL] += 7;
	sample.ledger.type[64].called += 7;
	sample.ledger.type[64].lost[PTX_LOST_STREAM_FULL] += 7;
	ck_assert_int_eq(sample_end(&sample), 0);
	find_marks(fd, &marks);
	ck_assert_int_eq(ftruncate(fd, (off_t)marks.mark[marks.count - 1].end), 0);
	stored = sample_open(fd, false);
	ledger = ptx_stored_ledger(stored);
	ck_assert_uint_eq(ledger->total.lost[PTX_LOST_STREAM_FULL], 7);
	ck_assert_uint_eq(ledger->type[0].lost[PTX_LOST_STREAM_FULL], 7);
	for (unsigned i = 0; i < PTX_TYPE_MAX; i++)
		lines.called += ledger->type[i].called;
	ck_assert_uint_eq(lines.called, ledger->total.called);
	for (size_t i = 0; i < ledger->threads; i++)
		lines.lost[PTX_LOST_STREAM_FULL] +=
			ledger->thread[i].line.lost[PTX_LOST_STREAM_FULL];
	ck_assert_uint_eq(lines.lost[PTX_LOST_STREAM_FULL], 7);
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/* Bytes follow behind the end, as in a log that was captured together with other data. */
START_TEST(bytes_behind_the_end_are_a_fault_but_no_hindrance)
{
	struct posix_trace_loginfo_np info;
	struct ptx_stored *stored;
	int fd = sample_file();

	sample_make(fd, POSIX_TRACE_APPEND, 0, 12, 100, 10);
	ck_assert_int_eq(pwrite(fd, "something", 9, lseek(fd, 0, SEEK_END)), 9);
	stored = sample_open(fd, false);
	ck_assert_uint_eq(sample_read(stored, 0, 12), 100);
	ptx_stored_info(stored, &info);
	ck_assert(info.complete);
	ck_assert_uint_eq(ptx_stored_ledger(stored)->total.called, 100);
	ptx_stored_close(stored);
	ck_assert_uint_eq(sample_faults(fd, false), 1);
	close(fd);
}
END_TEST

static void writer(int fd, int say, uint32_t policy)
{
	struct sample sample;

	if (sample_begin(&sample, fd, policy, 100000, 8))
		_exit(1);
	sample_add(&sample, 50);
	sample_write(&sample);
	sample_add(&sample, 50); /* the file does not have these events */
	if (write(say, "x", 1) != 1)
		_exit(1);
	pause();
	_exit(1);
}

/* LOG-16, LOG-17, EXIT-01: _i is the policy */
START_TEST(a_log_opens_when_its_writer_is_dead_and_not_before)
{
	static const uint32_t policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
					     POSIX_TRACE_LOOP };
	struct ptx_stored *stored;
	int fd = sample_file(), ends[2], copy;
	uint8_t *bytes;
	size_t size;
	siginfo_t dead;
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (!pid)
		writer(fd, ends[1], policies[_i]);
	ck_assert_int_eq(read(ends[0], &c, 1), 1);

	FAILS(EINVAL, ptx_stored_open(fd, false, &stored));
	stored = sample_open(fd, true);
	ck_assert_uint_eq(sample_read(stored, 0, 8), 50);
	ck_assert_int_eq(ptx_stored_status(stored)->flush_error, 0);
	ptx_stored_close(stored);

	/* A copy has no writer. */
	bytes = sample_bytes(fd, &size);
	copy = sample_file_of(bytes, size);
	ck_assert_uint_eq(sample_read_file(copy, 0, 8), 50);
	close(copy);
	free(bytes);

	kill(pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &dead, WEXITED | WNOWAIT), 0);
	stored = sample_open(fd, false); /* the parent has not waited for the writer yet */
	ck_assert_int_eq(ptx_stored_status(stored)->flush_error, EIO);
	ck_assert_uint_eq(sample_read(stored, 0, 8), 50);
	ptx_stored_close(stored);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_eq(sample_read_file(fd, 0, 8), 50);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}
END_TEST

/* A reader follows a log that grows. */
START_TEST(a_salvaged_log_that_grows_is_read_on)
{
	struct ptx_stored_event got;
	struct ptx_stored *stored;
	struct sample sample;
	int fd = sample_file();

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 8), 0);
	stored = sample_open(fd, true);
	for (uint64_t i = 0; i < 5000; i++) {
		ck_assert(!ptx_stored_next(stored, &got));
		sample_add(&sample, 1);
		sample_write(&sample);
		ck_assert(ptx_stored_next(stored, &got));
		ck_assert_int_eq((int64_t)got.record->time, SAMPLE_TIME(i));
		ck_assert(!got.gap);
	}
	ck_assert_int_eq(sample_end(&sample), 0);
	ck_assert(!ptx_stored_next(stored, &got));
	ptx_stored_close(stored);
	close(fd);
}
END_TEST

/* A file that was written over an older log may still have blocks of the older log. */
START_TEST(blocks_of_another_log_are_not_read)
{
	struct ptx_stored_event event;
	struct ptx_stored *stored;
	int fd = sample_file(), other;
	struct ptx_log_header *header;
	uint8_t *bytes;
	size_t size;

	sample_make(fd, POSIX_TRACE_APPEND, 0, 12, 100, 10);
	bytes = sample_bytes(fd, &size);
	header = (struct ptx_log_header *)(void *)bytes;
	header->log_id++;
	ptx_log_seal_header(header);
	other = sample_file_of(bytes, size);
	stored = sample_open(other, true);
	ck_assert(!ptx_stored_next(stored, &event));
	ptx_stored_close(stored);
	close(other);
	free(bytes);
	close(fd);
}
END_TEST

/* OPEN-01, OPEN-02, OPEN-03 */
START_TEST(no_log_and_a_log_of_another_machine_are_refused)
{
	static const struct {
		size_t offset;
		uint8_t value;
	} foreign[] = {
		{ 0, 'X' }, { 8, 2 }, { 16, 1 }, { 24, 1 }, { 32, 4 }, { 33, 4 }, { 34, 0 },
		{ 36, 0 }, { 38, 0 }, { 40, 3 },
	};
	struct ptx_stored *stored;
	int fd = sample_file(), ends[2], other, directory = open("/tmp", O_RDONLY | O_CLOEXEC);
	struct ptx_log_header *header;
	uint8_t *bytes;
	size_t size;
	char path[40];

	FAILS(EINVAL, ptx_stored_open(-1, false, &stored));
	FAILS(EINVAL, ptx_stored_open(fd, false, &stored)); /* empty */
	FAILS(EINVAL, ptx_stored_open(directory, false, &stored));
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	FAILS(EINVAL, ptx_stored_open(ends[0], false, &stored));
	sample_make(fd, POSIX_TRACE_APPEND, 0, 12, 100, 10);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	other = open(path, O_WRONLY | O_CLOEXEC);
	FAILS(EINVAL, ptx_stored_open(other, false, &stored));
	close(other);

	bytes = sample_bytes(fd, &size);
	header = (struct ptx_log_header *)(void *)bytes;
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		uint8_t was = bytes[foreign[i].offset];

		bytes[foreign[i].offset] = foreign[i].value;
		for (int sealed = 0; sealed < 2; sealed++) {
			if (sealed)
				ptx_log_seal_header(header);
			other = sample_file_of(bytes, size);
			FAILS(EINVAL, ptx_stored_open(other, false, &stored));
			/*
			 * If the checksum is wrong, the reader treats the log as a damaged log of
			 * this machine, if possible.
			 */
			if (sealed || foreign[i].offset < 10) {
				FAILS(EINVAL, ptx_stored_open(other, true, &stored));
			} else {
				stored = sample_open(other, true);
				ck_assert_uint_eq(sample_read(stored, 0, 12), 100);
				ptx_stored_close(stored);
			}
			close(other);
		}
		bytes[foreign[i].offset] = was;
	}
	/* The reader accepts a newer minor version and a compatible flag. */
	header->version_minor = 7;
	header->flags_compatible = 0x80;
	ptx_log_seal_header(header);
	other = sample_file_of(bytes, size);
	ck_assert_uint_eq(sample_read_file(other, 0, 12), 100);
	close(other);
	free(bytes);
	close(ends[0]);
	close(ends[1]);
	close(directory);
	close(fd);
}
END_TEST

/* FORMAT 1.1, 3.2, 3.3: additions that a later minor version may bring. */
START_TEST(unknown_blocks_and_longer_headers_are_read_over)
{
	struct ptx_log_block *block;
	struct sample sample;
	int fd = sample_file(), grown;
	uint8_t *bytes, *more;
	size_t size;

	ck_assert_int_eq(sample_begin(&sample, fd, POSIX_TRACE_APPEND, 0, 12), 0);
	sample_add(&sample, 30);
	sample_write(&sample);
	bytes = sample_bytes(fd, &size);
	more = calloc(1, size + 96 + 16);
	/*
	 * A block of type 77 with a header of 96 bytes and 16 bytes of payload, then the log's own
	 * block.
	 */
	memcpy(more, bytes, PTX_LOG_HEADER_BYTES);
	block = (struct ptx_log_block *)(void *)(more + PTX_LOG_HEADER_BYTES);
	block->type = 77;
	block->log_id = sample.log->header->log_id;
	ptx_log_seal_block(block, 16);
	block->header_bytes = 96;
	block->header_crc = ptx_log_crc_without(block, 96,
						offsetof(struct ptx_log_block, header_crc));
	memcpy(more + PTX_LOG_HEADER_BYTES + 112, bytes + PTX_LOG_HEADER_BYTES,
	       size - PTX_LOG_HEADER_BYTES);
	grown = sample_file_of(more, size + 112);
	ck_assert_uint_eq(sample_read_file(grown, 0, 12), 30);
	free(more);
	free(bytes);
	close(grown);
	sample_die(&sample);
	close(fd);
}
END_TEST

/* OPEN-05 */
START_TEST(a_log_opens_many_times_with_positions_of_their_own)
{
	struct ptx_stored *stored[3];
	struct ptx_stored_event got;
	int fd = sample_file();

	sample_make(fd, POSIX_TRACE_LOOP, 100000, 12, 100, 10);
	for (int i = 0; i < 3; i++)
		stored[i] = sample_open(fd, false);
	for (int n = 0; n < 100; n++)
		for (int i = 0; i < 3; i++) {
			ck_assert(ptx_stored_next(stored[i], &got));
			ck_assert_int_eq((int64_t)got.record->time, SAMPLE_TIME(n));
		}
	for (int i = 0; i < 3; i++)
		ptx_stored_close(stored[i]);
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0); /* CLOSE-01 */
	close(fd);
}
END_TEST

SUITE_NEEDS("stat");

static Suite *build(void)
{
	TCase *tc;
	Suite *suite = support_suite("cursor recover", &tc);

	tcase_add_loop_test(tc, a_log_cut_at_any_byte_opens_up_to_its_last_whole_block, 0, 2);
	tcase_add_test(tc, losses_of_a_log_without_its_ledger_have_no_type);
	tcase_add_test(tc, bytes_behind_the_end_are_a_fault_but_no_hindrance);
	tcase_add_loop_test(tc, a_log_opens_when_its_writer_is_dead_and_not_before, 0, 3);
	tcase_add_test(tc, a_salvaged_log_that_grows_is_read_on);
	tcase_add_test(tc, blocks_of_another_log_are_not_read);
	tcase_add_test(tc, no_log_and_a_log_of_another_machine_are_refused);
	tcase_add_test(tc, unknown_blocks_and_longer_headers_are_read_over);
	tcase_add_test(tc, a_log_opens_many_times_with_positions_of_their_own);
	return suite;
}

SUITE_MAIN_OF(build)
