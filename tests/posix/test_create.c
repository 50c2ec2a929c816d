/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_create() of the calling process. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/stream.h"

/* A value that is no identifier of a stream. It shows whether *trid is unchanged. */
#define UNTOUCHED ((trace_id_t)0x5a5a5a5a5a5a5a5a)

/* posix_trace_create() must fail with this error and leave no stream behind. */
static void refuses(int error, pid_t pid, const trace_attr_t *attr)
{
	trace_id_t trid = UNTOUCHED;

	FAILS(error, posix_trace_create(pid, attr, &trid));
	ck_assert_uint_eq(trid, UNTOUCHED);
}

/* CREATE-01, CREATE-02, CREATE-03 */
START_TEST(null_attributes_and_pid_0_trace_the_caller)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = 0;

	OK(posix_trace_create(0, NULL, &trid));
	ck_assert_uint_ne(trid, 0);
	start(trid);
	posix_trace_event(u, NULL, 0);
	ck_assert_events(trid, "START u");
	shut(trid);
}
END_TEST

/* CREATE-02, CREATE-09: the defaults of a null attr are those of posix_trace_attr_init() */
START_TEST(null_attributes_are_the_default_attributes)
{
	trace_attr_t plain, got;
	size_t plain_size, got_size;
	int plain_value, got_value;
	trace_id_t trid;

	OK(posix_trace_attr_init(&plain));
	OK(posix_trace_create(0, NULL, &trid));
	OK(posix_trace_get_attr(trid, &got));
	OK(posix_trace_attr_getmaxdatasize(&plain, &plain_size));
	OK(posix_trace_attr_getmaxdatasize(&got, &got_size));
	ck_assert_uint_eq(got_size, plain_size);
	OK(posix_trace_attr_getstreamsize(&plain, &plain_size));
	OK(posix_trace_attr_getstreamsize(&got, &got_size));
	ck_assert_uint_ge(got_size, plain_size);
	OK(posix_trace_attr_getinherited(&plain, &plain_value));
	OK(posix_trace_attr_getinherited(&got, &got_value));
	ck_assert_int_eq(got_value, plain_value);
	OK(posix_trace_attr_getstreamfullpolicy(&got, &got_value));
	ck_assert_int_eq(got_value, POSIX_TRACE_LOOP); /* POLICY-04, without log */
	shut(trid);
}
END_TEST

/* CREATE-03 */
START_TEST(the_callers_own_pid_is_the_same_as_0)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid;

	OK(posix_trace_create(getpid(), NULL, &trid));
	start(trid);
	posix_trace_event(u, NULL, 0);
	ck_assert_events(trid, "START u");
	shut(trid);
}
END_TEST

/* CREATE-05, STATUS-05, STATUS-15 */
START_TEST(a_new_stream_is_suspended_not_full_and_without_faults)
{
	trace_id_t trid = STREAM();
	struct posix_trace_status_info status = status_of(trid);

	ck_assert_int_eq(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_int_eq(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	ck_assert_int_eq(status.posix_stream_flush_error, 0);
	ck_assert_int_eq(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	ck_assert_int_eq(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	shut(trid);
}
END_TEST

/* CREATE-06, CREATE-08 */
START_TEST(a_new_stream_filters_nothing_and_holds_nothing)
{
	trace_event_id_t u = type_of("u");
	trace_event_set_t filter;
	trace_id_t trid = STREAM();
	int member = -1;

	assert_empty(trid);
	OK(posix_trace_get_filter(trid, &filter));
	for (trace_event_id_t id = POSIX_TRACE_ERROR; id <= POSIX_TRACE_FLUSH_STOP; id++) {
		OK(posix_trace_eventset_ismember(id, &filter, &member));
		ck_assert_int_eq(member, 0);
	}
	OK(posix_trace_eventset_ismember(u, &filter, &member));
	ck_assert_int_eq(member, 0);
	posix_trace_event(u, NULL, 0); /* no event before the start either */
	assert_empty(trid);
	shut(trid);
}
END_TEST

/* CREATE-07, ATTR-12 */
START_TEST(the_creation_time_is_the_real_time_of_the_call)
{
	struct timespec before, created, after;
	trace_attr_t attr;
	trace_id_t trid;

	clock_gettime(CLOCK_REALTIME, &before);
	trid = STREAM();
	clock_gettime(CLOCK_REALTIME, &after);
	OK(posix_trace_get_attr(trid, &attr));
	OK(posix_trace_attr_getcreatetime(&attr, &created));
	ck_assert_int_ge(nanoseconds(&created), nanoseconds(&before));
	ck_assert_int_le(nanoseconds(&created), nanoseconds(&after));
	shut(trid);
}
END_TEST

/* CREATE-09, SIZE-04, POLICY-04 */
START_TEST(the_attributes_read_back_are_those_requested)
{
	char name[TRACE_NAME_MAX + 1], version[TRACE_NAME_MAX + 1], plain[TRACE_NAME_MAX + 1];
	struct timespec resolution, plain_resolution;
	trace_attr_t attr, got;
	trace_id_t trid;
	size_t size;
	int value;

	wish_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_UNTIL_FULL, .size = 123457,
					 .max_data = 333, .name = "a name",
					 .inheritance = POSIX_TRACE_INHERITED });
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
	OK(posix_trace_create(0, &attr, &trid));
	memset(&got, 0xee, sizeof(got));
	OK(posix_trace_get_attr(trid, &got));
	OK(posix_trace_attr_getstreamfullpolicy(&got, &value));
	ck_assert_int_eq(value, POSIX_TRACE_UNTIL_FULL);
	OK(posix_trace_attr_getlogfullpolicy(&got, &value));
	ck_assert_int_eq(value, POSIX_TRACE_UNTIL_FULL);
	OK(posix_trace_attr_getinherited(&got, &value));
	ck_assert_int_eq(value, POSIX_TRACE_INHERITED);
	OK(posix_trace_attr_getmaxdatasize(&got, &size));
	ck_assert_uint_eq(size, 333);
	OK(posix_trace_attr_getstreamsize(&got, &size));
	ck_assert_uint_ge(size, 123457);
	OK(posix_trace_attr_getname(&got, name));
	ck_assert_str_eq(name, "a name");
	OK(posix_trace_attr_getgenversion(&got, version));
	OK(posix_trace_attr_getgenversion(&attr, plain));
	ck_assert_str_eq(version, plain);
	OK(posix_trace_attr_getclockres(&got, &resolution));
	OK(posix_trace_attr_getclockres(&attr, &plain_resolution));
	ck_assert_int_eq(nanoseconds(&resolution), nanoseconds(&plain_resolution));
	shut(trid);
}
END_TEST

/* ATTR-07, ATTR-08 */
START_TEST(a_stream_keeps_its_attributes_whatever_becomes_of_the_object)
{
	char name[TRACE_NAME_MAX + 1];
	trace_id_t first, second;
	trace_attr_t attr, got;

	wish_attr(&attr, &(struct wish){ .name = "first" });
	OK(posix_trace_create(0, &attr, &first));
	OK(posix_trace_attr_setname(&attr, "second"));
	OK(posix_trace_create(0, &attr, &second));
	OK(posix_trace_attr_destroy(&attr));
	OK(posix_trace_get_attr(first, &got));
	OK(posix_trace_attr_getname(&got, name));
	ck_assert_str_eq(name, "first");
	OK(posix_trace_get_attr(second, &got));
	OK(posix_trace_attr_getname(&got, name));
	ck_assert_str_eq(name, "second");
	shut(first);
	shut(second);
}
END_TEST

/* CREATE-10, EVID-06 */
START_TEST(a_new_stream_knows_all_predefined_types_and_all_names_opened_before)
{
	trace_event_id_t a = type_of("opened first"), b = type_of("opened second"), id;
	trace_id_t trid = STREAM();
	unsigned int found[TRACE_USER_EVENT_MAX + 64] = { 0 };
	int end;

	for (;;) {
		OK(posix_trace_eventtypelist_getnext_id(trid, &id, &end));
		if (end)
			break;
		ck_assert_uint_lt(id, TRACE_USER_EVENT_MAX + 64);
		found[id]++;
	}
	for (id = POSIX_TRACE_ERROR; id <= POSIX_TRACE_FLUSH_STOP; id++)
		ck_assert_uint_eq(found[id], 1);
	ck_assert_uint_eq(found[POSIX_TRACE_UNNAMED_USEREVENT], 1);
	ck_assert_uint_eq(found[a], 1);
	ck_assert_uint_eq(found[b], 1);
	shut(trid);
}
END_TEST

/* CREATE-11 */
START_TEST(eight_streams_trace_the_same_process_at_once)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid[_POSIX_TRACE_SYS_MAX];

	for (int i = 0; i < _POSIX_TRACE_SYS_MAX; i++) {
		trid[i] = STARTED();
		for (int k = 0; k < i; k++)
			ck_assert_uint_ne(trid[i], trid[k]);
	}
	posix_trace_event(u, NULL, 0);
	for (int i = 0; i < _POSIX_TRACE_SYS_MAX; i++)
		ck_assert_events(trid[i], "START u");
	for (int i = 0; i < _POSIX_TRACE_SYS_MAX; i++)
		shut(trid[i]);
}
END_TEST

/* CREATE-14, POLICY-07 */
START_TEST(flush_policy_without_a_log_is_refused)
{
	trace_attr_t attr;

	wish_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_FLUSH });
	refuses(EINVAL, 0, &attr);
}
END_TEST

/* CREATE-14, CREATE-25 */
START_TEST(an_object_that_is_not_initialised_is_refused)
{
	trace_attr_t attr;

	for (int byte = 0; byte < 256; byte += 51) {
		memset(&attr, byte, sizeof(attr));
		refuses(EINVAL, 0, &attr);
	}
	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_destroy(&attr));
	refuses(EINVAL, 0, &attr);
}
END_TEST

/* CREATE-15, CREATE-25: the failures use no resources */
START_TEST(memory_that_cannot_be_had_is_ENOMEM_and_leaks_no_slot)
{
	static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 4095, SIZE_MAX / 2, (size_t)1 << 62 };
	trace_id_t trid[_POSIX_TRACE_SYS_MAX];
	trace_attr_t attr;

	for (int round = 0; round < 100; round++) {
		wish_attr(&attr, &(struct wish){ .size = sizes[round % 4] });
		refuses(ENOMEM, 0, &attr);
	}
	for (int i = 0; i < _POSIX_TRACE_SYS_MAX; i++)
		trid[i] = STREAM();
	for (int i = 0; i < _POSIX_TRACE_SYS_MAX; i++)
		shut(trid[i]);
}
END_TEST

/* CREATE-15 */
START_TEST(a_maximum_of_data_that_no_memory_can_hold_is_ENOMEM)
{
	trace_attr_t attr;

	wish_attr(&attr, &(struct wish){ .max_data = SIZE_MAX / 2 });
	refuses(ENOMEM, 0, &attr);
	OK(posix_trace_attr_setmaxdatasize(&attr, SIZE_MAX));
	refuses(ENOMEM, 0, &attr);
}
END_TEST

/* CREATE-17, CREATE-25 */
START_TEST(a_process_that_does_not_exist_is_ESRCH)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	refuses(ESRCH, pid, NULL);
	refuses(ESRCH, INT_MAX, NULL); /* above every limit of Linux */
}
END_TEST

/* CREATE-18 */
START_TEST(a_negative_pid_is_ESRCH)
{
	refuses(ESRCH, -1, NULL);
	refuses(ESRCH, -getpid(), NULL);
	refuses(ESRCH, -getppid(), NULL);
	refuses(ESRCH, INT_MIN, NULL);
}
END_TEST

static void *create_with_thread_id(void *unused)
{
	(void)unused;
	refuses(ESRCH, thread_id(), NULL);
	return NULL;
}

/* CREATE-19 */
START_TEST(a_thread_id_that_is_no_process_id_is_ESRCH)
{
	join(spawn(create_with_thread_id, NULL));
}
END_TEST

/* CREATE-23 */
START_TEST(a_tiny_stream_size_is_enlarged_to_hold_a_start_and_the_largest_event)
{
	static const size_t sizes[] = { 0, 1, 100, 500 };
	static const size_t data[] = { 0, 1, 1024, 5000, 100000 };
	trace_event_id_t u = type_of("u");
	unsigned char *bytes = calloc(1, 100000);

	for (size_t i = 0; i < 4 * 5; i++) {
		size_t max = data[i / 4];
		struct history *history;
		trace_attr_t attr;
		trace_id_t trid;

		OK(posix_trace_attr_init(&attr));
		OK(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
		OK(posix_trace_attr_setstreamsize(&attr, sizes[i % 4]));
		OK(posix_trace_attr_setmaxdatasize(&attr, max));
		OK(posix_trace_create(0, &attr, &trid));
		ck_assert_uint_ge(stream_size(trid), system_event_size(&attr) +
				  user_event_size(&attr, max));
		start(trid);
		posix_trace_event(u, bytes, max);
		ck_assert_int_eq(status_of(trid).posix_stream_overrun_status,
				 POSIX_TRACE_NO_OVERRUN);
		history = read_all(trid);
		ck_assert_uint_eq(history->n, 2);
		ck_assert_uint_eq(history->event[1].len, max);
		history_free(history);
		shut(trid);
	}
	free(bytes);
}
END_TEST

SUITE_MAIN("posix_trace_create",
	   null_attributes_and_pid_0_trace_the_caller,
	   null_attributes_are_the_default_attributes,
	   the_callers_own_pid_is_the_same_as_0,
	   a_new_stream_is_suspended_not_full_and_without_faults,
	   a_new_stream_filters_nothing_and_holds_nothing,
	   the_creation_time_is_the_real_time_of_the_call,
	   the_attributes_read_back_are_those_requested,
	   a_stream_keeps_its_attributes_whatever_becomes_of_the_object,
	   a_new_stream_knows_all_predefined_types_and_all_names_opened_before,
	   eight_streams_trace_the_same_process_at_once,
	   flush_policy_without_a_log_is_refused,
	   an_object_that_is_not_initialised_is_refused,
	   memory_that_cannot_be_had_is_ENOMEM_and_leaks_no_slot,
	   a_maximum_of_data_that_no_memory_can_hold_is_ENOMEM,
	   a_process_that_does_not_exist_is_ESRCH,
	   a_negative_pid_is_ESRCH,
	   a_thread_id_that_is_no_process_id_is_ESRCH,
	   a_tiny_stream_size_is_enlarged_to_hold_a_start_and_the_largest_event)
