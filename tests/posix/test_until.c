/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix_trace_until_np(): the end of a read, also in a block that is stored unpacked.
 */
#include <stdio.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#include "support/log.h"
#include "support/random.h"
#include "support/stream.h"

#define EVENTS  400000
#define TYPES   64
#define STEP_NS INT64_C(5000000000) /* a distance that is too great for packing */

static uint64_t state = UINT64_C(88172645463325252);

/* Makes a log of events. The data of an event is its number, twice, followed by random bytes. */
static int plain_log(void)
{
	struct posix_trace_origin_np origin = { .pid = 77 };
	struct posix_trace_composer_np *composer;
	int fd = log_file();
	trace_event_id_t id[TYPES] = { 0 };

	OK(posix_trace_compose_np(fd, NULL, &origin, &composer));
	for (int i = 0; i < TYPES; i++) {
		char name[8];

		snprintf(name, sizeof(name), "t%d", i);
		OK(posix_trace_compose_name_np(composer, name, &id[i]));
	}
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint32_t data[8] = { i, i };
		struct posix_trace_event_np event = {
			.info = { .posix_event_id = id[random_word(&state) % TYPES],
				  .posix_pid = 77,
				  .posix_thread_id = (pthread_t)(random_word(&state) % 8),
				  .posix_truncation_status = POSIX_TRACE_NOT_TRUNCATED,
				  .posix_prog_address = (void *)(uintptr_t)random_word(&state) },
			.tid = 78, .time_ns = STEP_NS * (i + 1), .data = data,
			.data_len = 8 * (random_word(&state) % 4 + 1),
		};

		for (int k = 2; k < 8; k++)
			data[k] = (uint32_t)random_word(&state);
		OK(posix_trace_compose_event_np(composer, &event));
	}
	OK(posix_trace_compose_finish_np(composer, NULL));
	return fd;
}

START_TEST(a_chunk_that_is_being_read_stays)
{
	const uint32_t from = EVENTS / 4, to = EVENTS / 2;
	struct timespec begin = { .tv_sec = 5 * ((time_t)from + 1) };
	struct timespec end = { .tv_sec = 5 * ((time_t)to + 1) };
	int fd = plain_log(), unavailable;
	trace_id_t trid = log_open(fd);
	uint32_t next = from;

	OK(posix_trace_seek_np(trid, &begin));
	OK(posix_trace_until_np(trid, &end));
	for (;;) {
		struct posix_trace_event_np event;
		uint32_t number[2];

		OK(posix_trace_getnext_np(trid, &event, &unavailable));
		if (unavailable)
			break;
		ck_assert_uint_ge(event.data_len, sizeof(number));
		memcpy(number, event.data, sizeof(number));
		ck_assert_uint_eq(number[0], next);
		ck_assert_uint_eq(number[1], next);
		ck_assert_int_eq(event.time_ns, STEP_NS * (next + 1));
		next++;
	}
	ck_assert_uint_gt(next, to);
	ck_assert_uint_lt(next, EVENTS);
	log_close(trid);
	close(fd);
}
END_TEST

/* posix_trace_until_np(), posix_trace_get_damage_np() */
START_TEST(reading_ends_where_no_event_is_old_enough)
{
	int fd = log_file();
	trace_id_t trid = LOGGED_STARTED(fd, .size = 4u << 20);
	struct posix_trace_event_info info;
	struct timespec early = { 0, 0 }, until, bad = { 0, 1000000000 };
	uint64_t parts;
	size_t len;
	int none, last = 0;

	for (int i = 0; i < 20000; i++)
		trace_number(type_of("n"), i);
	FAILS(EINVAL, posix_trace_until_np(trid, &early)); /* not an opened log */
	FAILS(EINVAL, posix_trace_get_damage_np(trid, &parts));
	shut(trid);
	trid = log_open(fd);
	FAILS(EINVAL, posix_trace_until_np(trid, &bad));
	FAILS(EINVAL, posix_trace_get_damage_np(trid, NULL));
	OK(posix_trace_get_damage_np(trid, &parts));
	ck_assert_uint_eq(parts, 0);
	for (int i = 0; i < 100; i++)
		OK(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &none));
	until = info.posix_timestamp;
	OK(posix_trace_rewind(trid));
	OK(posix_trace_until_np(trid, &until));
	for (int number; (number = log_next_number(trid)) >= 0;)
		last = number;
	ck_assert_int_ge(last, 98); /* START is the first of the hundred */
	ck_assert_int_lt(last, 10000);
	OK(posix_trace_until_np(trid, &early));
	OK(posix_trace_rewind(trid));
	ck_assert_int_eq(log_next_number(trid), -1);
	OK(posix_trace_until_np(trid, NULL));
	OK(posix_trace_rewind(trid));
	for (int i = 0; i < 20000; i++)
		ck_assert_int_eq(log_next_number(trid), i);
	log_close(trid);
	close(fd);
}
END_TEST

SUITE_MAIN("posix_trace_until_np",
	   a_chunk_that_is_being_read_stays,
	   reading_ends_where_no_event_is_old_enough)
