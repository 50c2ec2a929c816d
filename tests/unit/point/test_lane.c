/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * point/: a lane has exactly the data of its stream that trace points need. Types that a stream
 * skips are not enabled in its lane. When the stream skips no type any more, refused events have
 * their short path again.
 */
#include "point/thread.h"
#include "support/stream.h"

static const struct ptx_lane *lane_after_event(trace_event_id_t id)
{
	trace_number(id, 1);
	return &atomic_load(&ptx_thread_self)->lane[0];
}

static void skip_types(trace_id_t trid, trace_event_id_t id)
{
	trace_event_set_t set;

	OK(posix_trace_eventset_empty(&set));
	if (id)
		OK(posix_trace_eventset_add(id, &set));
	OK(posix_trace_set_skipped_np(trid, &set));
}

static void check_lane(const struct ptx_lane *lane, trace_event_id_t id, bool is_enabled,
		       bool is_skipped)
{
	ck_assert_uint_eq(lane->enabled[id], is_enabled);
	ck_assert_uint_eq(lane->skip[id / 64] >> id % 64 & 1, is_skipped);
}

START_TEST(refused_events_have_the_short_path_if_no_type_is_skipped)
{
	trace_event_id_t u = type_of("u"), other = type_of("other");
	trace_id_t trid = STARTED(.size = 1 << 16, .policy = POSIX_TRACE_LOOP);
	const struct ptx_lane *lane = lane_after_event(other);

	ck_assert_uint_eq(lane->refuses, 0);
	check_lane(lane, u, true, false);
	for (int i = 0; i < 2; i++) {
		skip_types(trid, u);
		lane = lane_after_event(other);
		ck_assert_uint_eq(lane->refuses, PTX_LANE_SKIPS);
		check_lane(lane, u, false, true);
		check_lane(lane, other, true, false);
		skip_types(trid, 0);
		lane = lane_after_event(other);
		ck_assert_uint_eq(lane->refuses, 0);
		check_lane(lane, u, true, false);
	}
	shut(trid);
}
END_TEST

/* The budget may skip types that the filter refuses. No events are counted for these types. */
START_TEST(a_type_that_the_filter_refuses_is_not_skipped)
{
	trace_event_id_t u = type_of("u"), other = type_of("other");
	trace_id_t trid = STARTED(.size = 1 << 16, .policy = POSIX_TRACE_LOOP);
	const struct ptx_lane *lane;
	trace_event_set_t set;

	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(u, &set));
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	skip_types(trid, u);
	lane = lane_after_event(other);
	ck_assert_uint_eq(lane->refuses, 0);
	check_lane(lane, u, false, false);
	check_lane(lane, other, true, false);
	shut(trid);
}
END_TEST

SUITE_MAIN("point: lanes", refused_events_have_the_short_path_if_no_type_is_skipped,
	   a_type_that_the_filter_refuses_is_not_skipped)
