/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_open(): valid and invalid logs, and the state of an opened one. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/log.h"

/* OPEN-01, GETNEXT-15, GETNEXT-06, GETNEXT-02, GETNEXT-01 */
START_TEST(an_opened_log_is_read_from_its_oldest_event_to_its_end)
{
	int fd = log_of(100);
	trace_id_t trid = log_open(fd);

	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(log_next_number(trid), i);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(log_next_number(trid), -1);
	log_close(trid);
	close(fd);
}
END_TEST

static int try_open(int fd)
{
	const trace_id_t untouched = (trace_id_t)0x5a5a5a5a;
	trace_id_t trid = untouched;
	int err = KEEPS_ERRNO(posix_trace_open(fd, &trid));

	if (err)
		ck_assert_uint_eq(trid, untouched);
	else
		log_close(trid);
	return err;
}

/* OPEN-02, GEN-05, GEN-09 */
START_TEST(a_file_that_is_no_log_is_refused)
{
	int fd = log_of(10), other, ends[2];
	size_t len;
	unsigned char *bytes = log_bytes(fd, &len);

	FAILS(EINVAL, posix_trace_open(fd, NULL));
	ck_assert_int_eq(try_open(-1), EINVAL);
	other = log_file_again(fd, O_WRONLY);
	ck_assert_int_eq(try_open(other), EINVAL);
	close(other);
	ck_assert_int_eq(try_open(other), EINVAL);
	other = log_file();
	ck_assert_int_eq(try_open(other), EINVAL);
	close(other);
	other = log_file_of("This is not a log, whatever it says of itself.", 46);
	ck_assert_int_eq(try_open(other), EINVAL);
	close(other);
	other = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(try_open(other), EINVAL);
	close(other);
	other = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(try_open(other), EINVAL);
	close(other);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	close(ends[1]);
	ck_assert_int_eq(try_open(ends[0]), EINVAL);
	close(ends[0]);
	for (size_t i = 0; i < 256; i++) { /* each byte of the beginning is damaged in turn */
		bytes[i] ^= 0x10;
		other = log_file_of(bytes, len);
		ck_assert_int_eq(try_open(other), EINVAL);
		close(other);
		bytes[i] ^= 0x10;
	}
	other = log_file_of(bytes, len);
	ck_assert_int_eq(try_open(other), 0);
	close(other);
	free(bytes);
	close(fd);
}
END_TEST

/* OPEN-05, OPEN-06, CREATE-11 */
START_TEST(a_log_can_be_open_many_times_each_with_its_own_position)
{
	enum { TIMES = TRACE_SYS_MAX + 8 };
	int fd = log_of(TIMES);
	trace_id_t trid[TIMES], active;

	ck_assert_int_eq(lseek(fd, 5, SEEK_SET), 5);
	for (int i = 0; i < TIMES; i++) {
		trid[i] = log_open(fd);
		for (int k = 0; k < i; k++)
			ck_assert_int_eq(log_next_number(trid[i]), k);
	}
	active = STARTED(0); /* opened logs do not count as streams */
	for (int i = 0; i < TIMES; i++)
		ck_assert_int_eq(log_next_number(trid[i]), i);
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 5);
	shut(active);
	for (int i = 0; i < TIMES; i++)
		log_close(trid[i]);
	close(fd);
}
END_TEST

/* OPEN-05, CLOSE-01 */
START_TEST(the_descriptor_stays_the_callers)
{
	int fd = log_of(10), before = support_descriptors(), again;
	trace_id_t trid = log_open(fd);

	log_close(trid);
	ck_assert_int_eq(support_descriptors(), before);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	again = log_file_again(fd, O_RDONLY);
	trid = log_open(again);
	close(again);
	ck_assert_int_eq(log_next_number(trid), 0);
	log_close(trid);
	close(fd);
}
END_TEST

/* OPEN-07, CREATE-21 */
START_TEST(a_childs_copy_of_the_identifier_is_invalid)
{
	int fd = log_of(10);
	trace_id_t trid = log_open(fd);
	pid_t child = fork();

	if (!child) {
		struct posix_trace_event_info info;
		struct posix_trace_status_info state;
		int unavailable, wrong = 0;
		trace_attr_t attr;
		size_t len;

		wrong += posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable) !=
			 EINVAL;
		wrong += posix_trace_rewind(trid) != EINVAL;
		wrong += posix_trace_get_status(trid, &state) != EINVAL;
		wrong += posix_trace_get_attr(trid, &attr) != EINVAL;
		wrong += posix_trace_close(trid) != EINVAL;
		wrong += posix_trace_open(fd, &trid) != 0;
		_exit(wrong);
	}
	wait_well(child);
	ck_assert_int_eq(log_next_number(trid), 0);
	log_close(trid);
	close(fd);
}
END_TEST

/* OPEN-09, ATTR-16, SIZE-18, STATUS-18, STATUS-16 */
START_TEST(attributes_types_and_status_are_there_before_the_first_event)
{
	int fd = log_file();
	trace_attr_t live, stored;
	struct posix_trace_status_info status;
	struct timespec live_time, stored_time;
	char live_text[TRACE_NAME_MAX + 1], stored_text[TRACE_NAME_MAX + 1];
	size_t live_size, stored_size;
	int live_value, stored_value;
	trace_event_id_t id;
	trace_id_t trid = LOGGED_STARTED(fd, .log_policy = POSIX_TRACE_UNTIL_FULL,
					 .max_data = 123, .log_size = 45678, .name = "kept");

	OK(posix_trace_get_attr(trid, &live));
	type_of("n");
	shut(trid);
	trid = log_open(fd);
	OK(posix_trace_get_attr(trid, &stored));
#define SAME(getter, live_one, stored_one)                          \
	do {                                                        \
		OK(posix_trace_attr_##getter(&live, live_one));     \
		OK(posix_trace_attr_##getter(&stored, stored_one)); \
	} while (0)
	SAME(getname, live_text, stored_text);
	ck_assert_str_eq(live_text, stored_text);
	ck_assert_str_eq(stored_text, "kept");
	SAME(getgenversion, live_text, stored_text);
	ck_assert_str_eq(live_text, stored_text);
	SAME(getclockres, &live_time, &stored_time);
	ck_assert_int_eq(nanoseconds(&live_time), nanoseconds(&stored_time));
	SAME(getcreatetime, &live_time, &stored_time);
	ck_assert_int_eq(nanoseconds(&live_time), nanoseconds(&stored_time));
	SAME(getinherited, &live_value, &stored_value);
	ck_assert_int_eq(live_value, stored_value);
	SAME(getlogfullpolicy, &live_value, &stored_value);
	ck_assert_int_eq(live_value, stored_value);
	SAME(getstreamfullpolicy, &live_value, &stored_value);
	ck_assert_int_eq(live_value, stored_value);
	SAME(getlogsize, &live_size, &stored_size);
	ck_assert_uint_eq(live_size, stored_size);
	SAME(getmaxdatasize, &live_size, &stored_size);
	ck_assert_uint_eq(live_size, stored_size);
	SAME(getstreamsize, &live_size, &stored_size);
	ck_assert_uint_eq(live_size, stored_size);
	SAME(getmaxsystemeventsize, &live_size, &stored_size);
	ck_assert_uint_eq(live_size, stored_size);
	ck_assert_uint_eq(user_event_size(&stored, SIZE_MAX), user_event_size(&stored, 123));
	ck_assert_uint_eq(user_event_size(&stored, 50), user_event_size(&live, 50));
	status = status_of(trid);
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(status.posix_stream_flush_error, 0);
	OK(posix_trace_eventtypelist_getnext_id(trid, &id, &live_value));
	ck_assert_int_eq(live_value, 0);
	log_close(trid);
	close(fd);
}
END_TEST

/* GEN-04: where descriptors are missing, nothing is wrong with the file. */
START_TEST(a_process_without_a_descriptor_gets_emfile)
{
	struct rlimit all, none;
	trace_id_t trid;
	int fd = log_of(1), other = log_file();

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &all), 0);
	for (rlim_t limit = 0; limit < 3; limit += 2) {
		none = (struct rlimit){ limit, all.rlim_max };
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
		FAILS(EMFILE, posix_trace_open(fd, &trid));
		FAILS(EMFILE, posix_trace_create_withlog(0, NULL, other, &trid));
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
	}
	log_close(log_open(fd));
	close(fd);
	close(other);
}
END_TEST

SUITE_MAIN("posix_trace_open", an_opened_log_is_read_from_its_oldest_event_to_its_end,
	   a_file_that_is_no_log_is_refused,
	   a_log_can_be_open_many_times_each_with_its_own_position,
	   the_descriptor_stays_the_callers, a_childs_copy_of_the_identifier_is_invalid,
	   attributes_types_and_status_are_there_before_the_first_event,
	   a_process_without_a_descriptor_gets_emfile)
