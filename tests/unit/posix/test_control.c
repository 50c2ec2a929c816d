/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/control.c, posix/clear.c, posix/filter.c: while a call is about to change the stream, a
 * writer finds the stream full, or a type is described.
 */
#include "drain/drain.h"
#include "point/view.h"
#include "posix/registry.h"
#include "support/stream.h"

static trace_id_t trid;
static trace_event_id_t u;
static struct ptx_region *region;
static bool fills_at_a_moment, fills_at_a_clear;
static trace_event_id_t describes_at_a_moment;

static enum ptx_state state(void)
{
	return ptx_state_kind(atomic_load(&region->state));
}

static void fill_up(void)
{
	ck_assert_int_eq(state(), PTX_RUNNING);
	for (int i = 0; i < 1 << 14 && state() != PTX_FULL; i++)
		trace_number(u, i);
	ck_assert_int_eq(state(), PTX_FULL);
}

/*
 * When the library calls this function, posix_trace_stop() has read the state, and
 * posix_trace_set_filter() the filter.
 */
uint64_t __real_ptx_drain_moment(const struct ptx_drain *drain, bool early);
uint64_t __wrap_ptx_drain_moment(const struct ptx_drain *drain, bool early);
uint64_t __wrap_ptx_drain_moment(const struct ptx_drain *drain, bool early)
{
	if (fills_at_a_moment) {
		fills_at_a_moment = false;
		fill_up();
	}
	if (describes_at_a_moment) {
		OK(posix_trace_eventid_describe_np(describes_at_a_moment, "u32 n; @level 5"));
		describes_at_a_moment = 0;
	}
	return __real_ptx_drain_moment(drain, early);
}

/* Fills the stream at the begin of posix_trace_clear(), if fills_at_a_clear is true. */
void __real_ptx_drain_clear(struct ptx_drain *drain);
void __wrap_ptx_drain_clear(struct ptx_drain *drain);
void __wrap_ptx_drain_clear(struct ptx_drain *drain)
{
	if (fills_at_a_clear) {
		fills_at_a_clear = false;
		fill_up();
	}
	__real_ptx_drain_clear(drain);
}

static void begin(void)
{
	struct ptx_stream *stream;

	u = type_of("u");
	trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 1 << 14);
	stream = ptx_registry_enter(trid);
	ck_assert_ptr_nonnull(stream);
	region = stream->view->rings.region;
	ptx_registry_leave(stream);
}

/* STOP-05, UFULL-04: the stream was full before it was stopped, and its STOP event reports this */
START_TEST(a_stream_that_is_found_full_while_it_is_being_stopped_is_full_and_stopped)
{
	struct history *history;
	const struct seen *last;

	begin();
	fills_at_a_moment = true;
	stop(trid);
	ck_assert(!fills_at_a_moment);
	ck_assert_int_eq(state(), PTX_HELD);
	history = read_all(trid);
	last = &history->event[history->n - 1];
	ck_assert_uint_eq(last->info.posix_event_id, POSIX_TRACE_STOP);
	ck_assert_int_eq(int_of(last), 1);
	ck_assert_uint_eq(history_count(history, POSIX_TRACE_STOP), 1);
	history_free(history);
	ck_assert_status(trid, SUSPENDED, NOT_FULL); /* the stream does not restart automatically */
	start(trid);
	trace_number(u, 1);
	ck_assert_events(trid, "START u=1");
	shut(trid);
}
END_TEST

/* CLEAR-01, CLEAR-02: the call removes the events that filled the stream, which was running */
START_TEST(a_stream_that_is_found_full_while_it_is_being_cleared_runs_on)
{
	begin();
	fills_at_a_clear = true;
	OK(posix_trace_clear(trid));
	ck_assert(!fills_at_a_clear);
	ck_assert_int_eq(state(), PTX_RUNNING);
	trace_number(u, 1);
	ck_assert_events(trid, "u=1");
	ck_assert_status(trid, RUNNING, NOT_FULL);
	shut(trid);
}
END_TEST

static bool is_filtered(trace_event_id_t id)
{
	trace_event_set_t set;
	int member;

	OK(posix_trace_get_filter(trid, &set));
	OK(posix_trace_eventset_ismember(id, &set, &member));
	return member != 0;
}

/* FILTER-02: the call adds types to the filter of this moment, or removes types from it */
START_TEST(a_type_that_is_described_while_the_filter_changes_obeys_the_level)
{
	trace_event_id_t other = type_of("other"), later = type_of("later");
	trace_event_set_t set;

	begin();
	OK(posix_trace_set_level_np(trid, 3));
	OK(posix_trace_eventset_empty(&set));
	OK(posix_trace_eventset_add(other, &set));
	describes_at_a_moment = u;
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET));
	ck_assert_uint_eq(describes_at_a_moment, 0);
	ck_assert(is_filtered(u));
	ck_assert(is_filtered(other));
	describes_at_a_moment = later;
	OK(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET));
	ck_assert_uint_eq(describes_at_a_moment, 0);
	ck_assert(is_filtered(u));
	ck_assert(is_filtered(later));
	ck_assert(!is_filtered(other));
	shut(trid);
}
END_TEST

SUITE_MAIN("posix: what comes while a call is under way",
	   a_stream_that_is_found_full_while_it_is_being_stopped_is_full_and_stopped,
	   a_stream_that_is_found_full_while_it_is_being_cleared_runs_on,
	   a_type_that_is_described_while_the_filter_changes_obeys_the_level)
