/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_observe_file_np(): files that were damaged or cut, or that contain no stream. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/box.h"
#include "support/ledger.h"
#include "support/numbers.h"

static uint64_t random_state;

static uint64_t random_below(uint64_t end)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (random_state >> 17) % end;
}

/*
 * Returns a random offset in one of the parts: the beginning, the lists, the region's words, its
 * chunks.
 */
static uint64_t random_place(uint64_t bytes)
{
	static const uint64_t part[] = { 256, 16384, 65536 };
	uint64_t choice = random_below(5);

	if (choice < 3)
		return random_below(part[choice]);
	return (1 << 20) + random_below(choice == 3 ? 1 << 18 : bytes - (1 << 20));
}

static void damage(uint64_t bytes)
{
	int fd = open(box_path, O_RDWR | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	for (uint64_t i = random_below(20) + 1; i > 0; i--) {
		uint64_t at = random_place(bytes);
		unsigned char byte;

		if (pread(fd, &byte, 1, (off_t)at) != 1)
			continue;
		byte = random_below(2) ? (unsigned char)(byte ^ 1u << random_below(8)) :
					 (unsigned char)random_below(256);
		ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
	}
	if (random_below(4) == 0)
		ck_assert_int_eq(ftruncate(fd, (off_t)random_below(bytes)), 0);
	close(fd);
}

/* BACKING_CASES sets the number of cases. */
START_TEST(a_damaged_file_gives_a_whole_log_or_an_error)
{
	const char *more = getenv("BACKING_CASES");
	int cases = more ? atoi(more) : 30;

	for (int i = 0; i < cases; i++) {
		struct recovery recovery;
		trace_id_t trid;

		box_new_path();
		random_state = (uint64_t)(i + 1) * 977;
		trid = BACKED(.policy = i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
			      .size = 1 << 14, .max_data = 64);
		start(trid);
		numbers_write(type_of("n"), 0, 0, 5000);
		shut(trid);
		damage(2 << 20);
		recovery = box_recover();
		if (recovery.fd >= 0) {
			assert_log_whole(recovery.fd);
			close(recovery.fd);
		} else {
			ck_assert_int_ne(recovery.err, -1);
		}
		unlink(box_path);
	}
}
END_TEST

static void leave_box(void)
{
	trace_id_t trid = BACKED(.policy = POSIX_TRACE_LOOP, .size = 1 << 16, .max_data = 64);

	start(trid);
	numbers_write(type_of("n"), 0, 0, 5000);
	shut(trid);
}

/* Counters may have any value: no sum of them wraps, and omitted events are reported. */
START_TEST(counts_that_cannot_be_are_left_out)
{
	for (unsigned i = 0; i < 10; i++) {
		struct recovery recovery;
		int fd;

		box_new_path();
		leave_box();
		random_state = (i + 1) * 977;
		fd = open(box_path, O_WRONLY | O_CLOEXEC);
		ck_assert_int_ge(fd, 0);
		for (int n = 0; n < 300; n++) {
			unsigned char byte = (unsigned char)random_below(256);
			off_t at = (off_t)((1 << 20) + 512 + random_below(190000));

			ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
		}
		close(fd);
		recovery = box_recover();
		ck_assert_int_ge(recovery.fd, 0);
		ck_assert_uint_gt(recovery.faults, 0);
		assert_log_whole(recovery.fd);
		close(recovery.fd);
		unlink(box_path);
	}
}
END_TEST

static uint64_t events_in(int fd)
{
	trace_id_t trid = log_open(fd);
	uint64_t events = ledger_total(trid).reported;

	log_close(trid);
	return events;
}

/*
 * The last part of the file is memory with events. If it is cut, the parts before the cut can be
 * read.
 */
START_TEST(the_rest_of_a_truncated_file_is_there)
{
	uint64_t all, before;
	unsigned parts = 0;
	struct stat st;
	int fd;

	box_new_path();
	leave_box();
	fd = box_recover_whole();
	all = before = events_in(fd);
	close(fd);
	ck_assert_int_eq(stat(box_path, &st), 0);
	for (off_t bytes = st.st_size; bytes > 0; bytes -= 16384) {
		struct recovery recovery;
		uint64_t events;

		ck_assert_int_eq(truncate(box_path, bytes), 0);
		recovery = box_recover();
		if (recovery.fd < 0)
			break;
		assert_log_whole(recovery.fd);
		events = events_in(recovery.fd);
		close(recovery.fd);
		ck_assert_uint_le(events, before);
		if (events < all) {
			ck_assert_uint_gt(recovery.faults, 0);
			parts += events > 0;
		}
		before = events;
	}
	ck_assert_uint_gt(parts, 0);
	unlink(box_path);
}
END_TEST

START_TEST(a_file_that_is_no_backing_file_is_refused)
{
	struct recovery recovery;
	int fd;

	box_new_path();
	fd = open(box_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	recovery = box_recover();
	ck_assert_int_eq(recovery.err, EINVAL);
	ck_assert_uint_eq(recovery.faults, 1);
	ck_assert_int_eq(ftruncate(fd, 4 << 20), 0);
	recovery = box_recover();
	ck_assert_int_eq(recovery.err, EINVAL);
	FAILS(EINVAL, posix_trace_observe_file_np(fd, NULL, NULL, NULL));
	close(fd);
	FAILS(EBADF, posix_trace_observe_file_np(fd, box_recover_stream, NULL, &recovery));
	unlink(box_path);
}
END_TEST

static void ignore_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	(void)arg;
	(void)stream;
}

/* The lock belongs to the open file description of the caller; it stays as it is. */
START_TEST(a_lock_of_the_caller_is_kept)
{
	static const int kinds[] = { LOCK_EX, LOCK_SH };

	for (int i = 0; i < 2; i++) {
		trace_id_t trid;
		int fd, other;

		box_new_path();
		trid = BACKED(.size = 1 << 14);
		shut(trid);
		fd = open(box_path, O_RDWR | O_CLOEXEC);
		other = open(box_path, O_RDWR | O_CLOEXEC);
		ck_assert_int_ge(fd, 0);
		ck_assert_int_ge(other, 0);
		ck_assert_int_eq(flock(fd, kinds[i] | LOCK_NB), 0);
		OK(posix_trace_observe_file_np(fd, ignore_stream, NULL, NULL));
		/* An exclusive lock excludes both kinds, a shared lock only an exclusive one. */
		ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), -1);
		ck_assert_int_eq(flock(other, LOCK_SH | LOCK_NB), kinds[i] == LOCK_EX ? -1 : 0);
		close(other);
		close(fd);
		unlink(box_path);
	}
}
END_TEST

SUITE_MAIN("posix_trace_observe_file_np",
	   a_damaged_file_gives_a_whole_log_or_an_error,
	   counts_that_cannot_be_are_left_out,
	   the_rest_of_a_truncated_file_is_there,
	   a_file_that_is_no_backing_file_is_refused, a_lock_of_the_caller_is_kept)
