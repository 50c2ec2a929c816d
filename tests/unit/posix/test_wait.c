/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/getnext.c: the word on which a reader sleeps, and the steps of the reader before the sleep.
 * The test replaces the sleep.
 */
#include "base/futex.h"
#include "drain/drain.h"
#include "point/view.h"
#include "ring/ring_write.h"
#include "posix/registry.h"
#include "support/stream.h"

enum { SLEEPS_MOST = 8 };

static trace_id_t trid;
static struct ptx_rings *rings;
static _Atomic uint32_t *word;
static uint32_t slept_on[SLEEPS_MOST];
static unsigned sleeps;
static void (*asleep)(void), (*found_nothing)(void);

bool __real_ptx_drain_peek(struct ptx_drain *drain, struct ptx_drain_event *event);
bool __wrap_ptx_drain_peek(struct ptx_drain *drain, struct ptx_drain_event *event);
bool __wrap_ptx_drain_peek(struct ptx_drain *drain, struct ptx_drain_event *event)
{
	void (*act)(void) = found_nothing;

	if (__real_ptx_drain_peek(drain, event))
		return true;
	found_nothing = NULL;
	if (act)
		act();
	return false;
}

/* Does the same as the kernel, without the sleep. */
int __wrap_ptx_futex_wait(_Atomic uint32_t *at, uint32_t value, const struct timespec *until);
int __wrap_ptx_futex_wait(_Atomic uint32_t *at, uint32_t value, const struct timespec *until)
{
	(void)until;
	if (atomic_load(at) != value)
		return EAGAIN;
	ck_assert_uint_lt(sleeps, SLEEPS_MOST);
	slept_on[sleeps++] = value;
	asleep();
	return 0;
}

static trace_event_id_t u;

static void begin_with(trace_id_t started)
{
	struct ptx_stream *stream;

	u = type_of("u");
	trid = started;
	history_free(read_all(trid));
	stream = ptx_registry_enter(trid);
	ck_assert_ptr_nonnull(stream);
	rings = &stream->view->rings;
	word = &rings->region->waiters;
	ptx_registry_leave(stream);
}

static void begin(void)
{
	begin_with(STARTED());
}

static void trace_it(void)
{
	trace_number(u, 1);
}

static void wait_for_one(void)
{
	struct posix_trace_event_info info;
	int unavailable;
	size_t len;

	OK(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable));
	ck_assert_int_eq(unavailable, 0);
	ck_assert_uint_eq(info.posix_event_id, u);
}

/* GETNEXT-04 */
START_TEST(an_event_that_comes_between_the_look_and_the_sleep_is_seen)
{
	begin();
	found_nothing = trace_it;
	wait_for_one();
	ck_assert_uint_eq(sleeps, 0);
	shut(trid);
}
END_TEST

static void start_it(void)
{
	OK(posix_trace_start(trid));
}

static void *trace_once(void *nothing)
{
	trace_it();
	return nothing;
}

/* The first event of a thread follows another path than its second. */
static void trace_from_a_new_thread(void)
{
	join(spawn(trace_once, NULL));
}

/* GETNEXT-04: the event belongs to this thread, to a new thread, or to the system */
START_TEST(any_writer_wakes_a_sleeper)
{
	void (*const ways[])(void) = { trace_it, trace_from_a_new_thread, start_it };
	struct posix_trace_event_info info;
	int unavailable;
	size_t len;

	begin();
	if (ways[_i] == start_it) {
		stop(trid);
		history_free(read_all(trid));
	}
	asleep = ways[_i];
	OK(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable));
	ck_assert_int_eq(unavailable, 0);
	ck_assert_uint_eq(sleeps, 1);
	ck_assert_uint_eq(atomic_load(word), 0);
	shut(trid);
}
END_TEST

/*
 * A delayed waker wakes the present sleepers, or finds another ticket. It never finds its own
 * ticket again.
 */
START_TEST(no_ticket_comes_twice)
{
	begin();
	asleep = trace_it;
	for (int i = 0; i < 5; i++) {
		wait_for_one();
		ck_assert_uint_eq(atomic_load(word), 0);
	}
	ck_assert_uint_eq(sleeps, 5);
	for (unsigned i = 0; i < sleeps; i++) {
		ck_assert_uint_ne(slept_on[i], 0);
		ck_assert_uint_eq(slept_on[i] % 2, 0);
		for (unsigned k = 0; k < i; k++)
			ck_assert_uint_ne(slept_on[i], slept_on[k]);
	}
	shut(trid);
}
END_TEST

/*
 * The waker may have woken all sleepers by now. A thread that joined them would continue to sleep.
 */
START_TEST(no_sleeper_joins_those_being_woken)
{
	begin();
	asleep = trace_it;
	atomic_store(word, 1001);
	wait_for_one();
	ck_assert_uint_eq(sleeps, 1);
	ck_assert_uint_eq(slept_on[0] % 2, 0);
	shut(trid);
}
END_TEST

/* One call wakes both sleepers. */
START_TEST(a_second_sleeper_uses_the_same_ticket)
{
	begin();
	asleep = trace_it;
	atomic_store(word, 1000);
	wait_for_one();
	ck_assert_uint_eq(sleeps, 1);
	ck_assert_uint_eq(slept_on[0], 1000);
	shut(trid);
}
END_TEST

/* Simulates a writer that was killed after it read the clock and before it published. */
static void leave_a_writer_in_its_window(void)
{
	static const struct ptx_ident nobody = { .pid = 1, .tid = 1, .thread = 1 };
	enum ptx_writer_loss loss;
	struct ptx_record *record;
	struct ptx_chunk *chunk;
	uint64_t head;
	uint32_t ring;

	chunk = ptx_ring_claim(rings, &nobody, &ring, &loss);
	ck_assert_ptr_nonnull(chunk);
	record = ptx_ring_prepare(rings, chunk, ptx_record_size(0), &head);
	ck_assert_ptr_nonnull(record);
	ptx_record_fill(record, 0, u, 0);
	ptx_ring_stamp(chunk, head);
}

static void sleep_for_good(void)
{
	ck_abort_msg("the reader sleeps without a wake-up, although there is an event");
}

/*
 * GETNEXT-02, GETNEXT-04: the reader waits for the killed writer to keep the order, but not for
 * ever, although no writer remains that could wake the reader
 */
START_TEST(an_event_behind_a_writer_that_was_killed_is_waited_for_by_the_clock)
{
	begin();
	leave_a_writer_in_its_window();
	trace_it();
	asleep = sleep_for_good;
	wait_for_one();
	ck_assert_uint_eq(sleeps, 0);
	shut(trid);
}
END_TEST

/* UFULL-04, SFLUSH-02: the STOP of a full stream is an event, and the lost event is not */
START_TEST(a_writer_that_finds_the_stream_full_wakes_sleepers)
{
	_Atomic uint32_t *is_asleep;
	bool early = false, full = false;

	begin_with(STARTED(.policy = POSIX_TRACE_UNTIL_FULL, .size = 1 << 14));
	is_asleep = &rings->region->flusher_asleep;
	for (int i = 0; i < 1 << 14 && !full; i++) {
		atomic_store(word, 1000);
		atomic_store(is_asleep, 1);
		trace_it();
		full = ptx_state_kind(atomic_load(&rings->region->state)) == PTX_FULL;
		early = early || (!full && atomic_load(is_asleep) == 0);
		ck_assert_uint_eq(atomic_load(word), 0);
	}
	ck_assert(full);
	ck_assert_uint_eq(atomic_load(is_asleep), 0);
	ck_assert_msg(early, "when half of the pool was taken, the flusher slept on");
	shut(trid);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("posix: before a reader sleeps", &tc);

	tcase_add_test(tc, an_event_that_comes_between_the_look_and_the_sleep_is_seen);
	tcase_add_loop_test(tc, any_writer_wakes_a_sleeper, 0, 3);
	tcase_add_test(tc, no_ticket_comes_twice);
	tcase_add_test(tc, no_sleeper_joins_those_being_woken);
	tcase_add_test(tc, a_second_sleeper_uses_the_same_ticket);
	tcase_add_test(tc, an_event_behind_a_writer_that_was_killed_is_waited_for_by_the_clock);
	tcase_add_test(tc, a_writer_that_finds_the_stream_full_wakes_sleepers);
	return s;
}

SUITE_MAIN_OF(suite)
