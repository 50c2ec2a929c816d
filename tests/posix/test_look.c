/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* posix_trace_observe_np() of the streams of this process. */
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/sight.h"

START_TEST(a_stream_is_seen_with_its_attributes)
{
	int64_t before = now_ns();
	trace_id_t trid = STREAM(.policy = POSIX_TRACE_UNTIL_FULL, .size = 30000, .max_data = 77,
				 .inheritance = POSIX_TRACE_INHERITED, .name = "a name");
	const struct posix_trace_stream_np *stream = &look_at_one(0)->stream;

	ck_assert_int_eq(stream->pid, getpid());
	ck_assert_int_eq(stream->creator, getpid());
	ck_assert_int_eq(stream->ended, 0);
	ck_assert_int_eq(stream->waiting, 0);
	ck_assert_uint_eq(stream->members, 0);
	ck_assert_str_eq(stream->name, "a name");
	ck_assert_int_ge(stream->creation_ns, before);
	ck_assert_int_le(stream->creation_ns, now_ns());
	ck_assert_int_eq(stream->inheritance, POSIX_TRACE_INHERITED);
	ck_assert_int_eq(stream->stream_full_policy, POSIX_TRACE_UNTIL_FULL);
	ck_assert_int_eq(stream->log_full_policy, 0);
	ck_assert_uint_eq(stream->stream_size, stream_size(trid));
	ck_assert_uint_eq(stream->max_data_size, 77);
	ck_assert_int_eq(stream->stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(stream->stream_full_status, POSIX_TRACE_NOT_FULL);
	ck_assert_uint_eq(stream->recorded, 0);
	shut(trid);
	ck_assert_uint_eq(look(0)->n, 0);
}
END_TEST

START_TEST(a_log_is_reported)
{
	char path[] = "/tmp/posixtrace-look-XXXXXX";
	int fd = mkstemp(path);
	trace_attr_t attr;
	trace_id_t trid;

	ck_assert_int_ge(fd, 0);
	unlink(path);
	wish_attr(&attr, &(struct wish){ .policy = POSIX_TRACE_FLUSH });
	OK(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	OK(posix_trace_create_withlog(0, &attr, fd, &trid));
	OK(posix_trace_attr_destroy(&attr));
	close(fd);
	ck_assert_int_eq(look_at_one(0)->stream.stream_full_policy, POSIX_TRACE_FLUSH);
	ck_assert_int_eq(look_at_one(0)->stream.log_full_policy, POSIX_TRACE_APPEND);
	shut(trid);
}
END_TEST

START_TEST(counts_are_those_of_the_ledger)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 8192);
	const struct posix_trace_stream_np *stream;
	struct posix_trace_ledger_np ledger;

	trace_number(u, 1);
	stream = &look_at_one(0)->stream;
	ck_assert_int_eq(stream->stream_status, POSIX_TRACE_RUNNING);
	ck_assert_uint_eq(stream->recorded, 2);
	ck_assert_uint_lt(stream->chunks_taken, stream->chunks);
	fill(trid, u, 100, 2);
	for (int i = 0; i < 50; i++)
		trace_number(u, i);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	stream = &look_at_one(0)->stream;
	ck_assert_int_eq(stream->stream_status, POSIX_TRACE_SUSPENDED);
	ck_assert_int_eq(stream->stream_full_status, POSIX_TRACE_FULL);
	ck_assert_uint_eq(stream->chunks_taken, stream->chunks);
	ck_assert_uint_ge(stream->lost[POSIX_TRACE_LOST_STREAM_FULL_NP], 50);
	for (int cause = 0; cause < POSIX_TRACE_LOST_CAUSES_NP; cause++)
		ck_assert_uint_eq(stream->lost[cause], ledger.lost[cause]);
	ck_assert_uint_eq(stream->recorded, ledger.unread);
	shut(trid);
}
END_TEST

START_TEST(a_loop_is_full_for_good)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED(.policy = POSIX_TRACE_LOOP, .size = 8192);
	const struct posix_trace_stream_np *stream;
	struct posix_trace_ledger_np ledger;

	overrun(trid, u, 100, 1);
	OK(posix_trace_get_ledger_np(trid, &ledger));
	stream = &look_at_one(0)->stream;
	ck_assert_int_eq(stream->stream_status, POSIX_TRACE_RUNNING);
	ck_assert_int_eq(stream->stream_full_status, POSIX_TRACE_FULL);
	ck_assert_uint_gt(stream->lost[POSIX_TRACE_LOST_OVERWRITTEN_NP], 0);
	/* The creator counts more events as overwritten, so that its report has no gap. */
	ck_assert_uint_le(stream->lost[POSIX_TRACE_LOST_OVERWRITTEN_NP],
			  ledger.lost[POSIX_TRACE_LOST_OVERWRITTEN_NP]);
	shut(trid);
}
END_TEST

START_TEST(the_filter_is_reported_by_names)
{
	trace_event_id_t a = type_of("a"), b = type_of("b");
	trace_id_t trid = STARTED();
	trace_event_set_t set;

	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(b, &set));
	OK(posix_trace_eventset_add(POSIX_TRACE_OVERFLOW, &set));
	ck_assert_str_eq(look_at_one(0)->filtered, "");
	ck_assert_str_eq(look_at_one(0)->names, "a b ");
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	ck_assert_str_eq(look_at_one(0)->filtered, "posix_trace_overflow b ");
	trace_number(a, 1);
	shut(trid);
}
END_TEST

START_TEST(each_stream_of_a_process_is_seen)
{
	trace_id_t trid[20];
	bool seen[20] = { false };
	char name[8];

	for (int i = 0; i < 20; i++) {
		name[0] = (char)('a' + i);
		name[1] = '\0';
		trid[i] = STREAM(.name = name);
	}
	look(0);
	ck_assert_uint_eq(sights.n, 20);
	for (size_t i = 0; i < 20; i++) {
		int which = sights.sight[i].stream.name[0] - 'a';

		ck_assert(which >= 0 && which < 20 && !seen[which]);
		seen[which] = true;
	}
	for (int i = 0; i < 20; i += 2)
		shut(trid[i]);
	ck_assert_uint_eq(look(0)->n, 10);
	for (int i = 1; i < 20; i += 2)
		shut(trid[i]);
}
END_TEST

static void shut_it(void *arg, const struct posix_trace_stream_np *stream)
{
	trace_id_t *trid = arg;

	ck_assert_str_eq(stream->name, "mine");
	shut(*trid);
	OK(posix_trace_create(0, NULL, trid));
}

START_TEST(a_visitor_may_do_what_it_likes)
{
	trace_id_t trid = STREAM(.name = "mine");

	OK(posix_trace_observe_np(0, shut_it, &trid));
	ck_assert_str_eq(look_at_one(0)->stream.name, "");
	shut(trid);
}
END_TEST

static _Atomic bool enough;
static _Atomic unsigned long called; /* counted before the call, except START */

static void *come_and_go(void *arg)
{
	trace_event_id_t u = type_of("u");

	while (!enough) {
		trace_id_t trid = STARTED(.size = 16384, .name = "comes and goes");

		called += 2; /* START and STOP */
		for (int i = 0; i < 200; i++) {
			called++;
			trace_number(u, i);
		}
		shut(trid);
	}
	return arg;
}

START_TEST(streams_come_and_go_meanwhile)
{
	pthread_t thread[3];
	size_t seen = 0;

	for (int i = 0; i < 3; i++)
		thread[i] = spawn(come_and_go, NULL);
	for (int n = 0; n < 300 || seen == 0; n++) {
		if (n % 2)
			look(0);
		else
			look_at_all_for(getpid());
		for (size_t i = 0; i < sights.n; i++) {
			const struct posix_trace_stream_np *stream = &sights.sight[i].stream;

			seen++;
			ck_assert_str_eq(stream->name, "comes and goes");
			/* a START is not counted yet */
			ck_assert_uint_le(stream->recorded, called + 3);
			ck_assert_uint_le(stream->chunks_taken, stream->chunks);
			ck_assert_uint_eq(stream->lost[POSIX_TRACE_LOST_STREAM_FULL_NP], 0);
		}
	}
	enough = true;
	for (int i = 0; i < 3; i++)
		join(thread[i]);
}
END_TEST

SUITE_MAIN("posix_trace_observe_np", a_stream_is_seen_with_its_attributes, a_log_is_reported,
	   counts_are_those_of_the_ledger, a_loop_is_full_for_good, the_filter_is_reported_by_names,
	   each_stream_of_a_process_is_seen, a_visitor_may_do_what_it_likes,
	   streams_come_and_go_meanwhile)
