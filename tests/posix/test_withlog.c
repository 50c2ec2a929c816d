/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_create_withlog(): attributes and errors; files are in test_withlog_file.c. */
#include <unistd.h>

#include "support/folder.h"
#include "support/log.h"

static const int log_policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

/* WITHLOG-01, CREATE-02, CREATE-05, CREATE-06, POLICY-04, STATUS-05 */
START_TEST(null_attributes_give_a_suspended_flush_stream_and_a_loop_log)
{
	struct posix_trace_status_info status;
	trace_event_set_t filter, none;
	int fd = log_file(), policy;
	trace_attr_t attr;
	trace_id_t trid;

	OK(posix_trace_create_withlog(0, NULL, fd, &trid));
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	ck_assert_int_eq(policy, POSIX_TRACE_FLUSH);
	OK(posix_trace_attr_getlogfullpolicy(&attr, &policy));
	ck_assert_int_eq(policy, POSIX_TRACE_LOOP);
	status = status_of(trid);
	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	ck_assert_int_eq(status.posix_stream_flush_error, 0);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	posix_trace_eventset_empty(&none);
	OK(posix_trace_get_filter(trid, &filter));
	ck_assert_mem_eq(&filter, &none, sizeof(none));
	shut(trid);
	close(fd);
}
END_TEST

/* POLICY-03, POLICY-05, WITHLOG-01, CREATE-09 */
START_TEST(a_stream_policy_that_was_set_stays_with_a_log)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					POSIX_TRACE_FLUSH };
	char name[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	trace_id_t trid;
	int policy;
	size_t size;

	for (int i = 0; i < 3; i++) {
		int fd = log_file();

		trid = LOGGED(fd, .policy = policies[i], .log_policy = log_policies[i],
			      .log_size = 123456, .max_data = 77, .name = "kept");
		OK(posix_trace_get_attr(trid, &attr));
		OK(posix_trace_attr_getstreamfullpolicy(&attr, &policy));
		ck_assert_int_eq(policy, policies[i]);
		OK(posix_trace_attr_getlogfullpolicy(&attr, &policy));
		ck_assert_int_eq(policy, log_policies[i]);
		OK(posix_trace_attr_getlogsize(&attr, &size));
		ck_assert_uint_eq(size, 123456);
		OK(posix_trace_attr_getmaxdatasize(&attr, &size));
		ck_assert_uint_eq(size, 77);
		OK(posix_trace_attr_getname(&attr, name));
		ck_assert_str_eq(name, "kept");
		shut(trid);
		close(fd);
	}
}
END_TEST

static int try_log_size(int fd, int log_policy, size_t log_size)
{
	trace_attr_t attr;
	trace_id_t trid;
	int err;

	log_wish_attr(&attr, &(struct log_wish){ .log_policy = log_policy, .max_data = 1000 });
	OK(posix_trace_attr_setlogsize(&attr, log_size));
	err = KEEPS_ERRNO(posix_trace_create_withlog(0, &attr, fd, &trid));
	if (!err)
		shut(trid);
	return err;
}

/* WITHLOG-11, SIZE-16 */
START_TEST(a_log_too_small_for_one_event_and_one_stop_is_refused_but_for_append)
{
	static const size_t too_small[] = { 0, 1, 100, 1000 }; /* max-data-size is 1000 */
	int fd = log_file();
	trace_attr_t attr;

	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(try_log_size(fd, POSIX_TRACE_LOOP, too_small[i]), EINVAL);
		ck_assert_int_eq(try_log_size(fd, POSIX_TRACE_UNTIL_FULL, too_small[i]), EINVAL);
		ck_assert_int_eq(try_log_size(fd, POSIX_TRACE_APPEND, too_small[i]), 0);
	}
	log_wish_attr(&attr, &(struct log_wish){ .max_data = 1000 });
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(try_log_size(fd, log_policies[i],
					      user_event_size(&attr, 1000) +
						      system_event_size(&attr)),
				 0);
	close(fd);
}
END_TEST

/* WITHLOG-13, CREATE-14, CREATE-15, CREATE-17, CREATE-18, CREATE-25, GEN-05 */
START_TEST(the_errors_of_create_are_also_those_of_create_withlog)
{
	const trace_id_t untouched = (trace_id_t)0x5a5a5a5a;
	int fd = log_file(), before = support_descriptors();
	trace_id_t trid = untouched;
	trace_attr_t attr;

	FAILS(ESRCH, posix_trace_create_withlog(-1, NULL, fd, &trid));
	FAILS(ESRCH, posix_trace_create_withlog(0x7ffffff0, NULL, fd, &trid));
	FAILS(EINVAL, posix_trace_create_withlog(0, NULL, fd, NULL));
	log_wish_attr(&attr, &(struct log_wish){ .size = SIZE_MAX });
	FAILS(ENOMEM, posix_trace_create_withlog(0, &attr, fd, &trid));
	OK(posix_trace_attr_destroy(&attr));
	FAILS(EINVAL, posix_trace_create_withlog(0, &attr, fd, &trid));
	ck_assert_uint_eq(trid, untouched);
	ck_assert_int_eq(support_descriptors(), before);
	close(fd);
}
END_TEST

/* WITHLOG-13, CREATE-12 */
START_TEST(streams_with_log_count_against_the_systems_limit)
{
	trace_id_t trid[TRACE_SYS_MAX + 1];
	int fd[TRACE_SYS_MAX + 1], streams = 0, err = 0;

	while (streams <= TRACE_SYS_MAX) {
		fd[streams] = log_file();
		err = posix_trace_create_withlog(0, NULL, fd[streams], &trid[streams]);
		if (err)
			break;
		streams++;
	}
	if (err) {
		ck_assert_int_eq(err, EAGAIN);
		close(fd[streams]);
	}
	ck_assert_int_ge(streams, _POSIX_TRACE_SYS_MAX);
	ck_assert_int_le(streams, TRACE_SYS_MAX);
	for (int i = 0; i < streams; i++) {
		shut(trid[i]);
		close(fd[i]);
	}
	fd[0] = log_file();
	shut(LOGGED(fd[0]));
	close(fd[0]);
}
END_TEST

SUITE_MAIN_IN_FOLDER("posix_trace_create_withlog",
	   null_attributes_give_a_suspended_flush_stream_and_a_loop_log,
	   a_stream_policy_that_was_set_stays_with_a_log,
	   a_log_too_small_for_one_event_and_one_stop_is_refused_but_for_append,
	   the_errors_of_create_are_also_those_of_create_withlog,
	   streams_with_log_count_against_the_systems_limit)
