/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/getnext.c: a writer is suspended for any time after it has read the clock and before it
 * publishes. The test simulates this writer: it writes the stream's memory. The other writers call
 * posix_trace_event().
 */
#include <unistd.h>

#include "base/barrier.h"
#include "point/view.h"
#include "ring/ring_write.h"
#include "posix/registry.h"
#include "support/stream.h"

enum { KINDS = 8, HELD = 1000 };
enum { REFUSED = 1, INHERITED = 2, LOOP = 4 }; /* bits of the number of a round */

static trace_event_id_t u;
static trace_id_t trid;
static struct ptx_rings *rings;
static struct ptx_ident ident;
static uint64_t head;
static struct ptx_record *record;
static bool refused;

/* Behaves like a kernel that has no membarrier(2), or refuses it. */
bool __real_ptx_barrier(void);
bool __wrap_ptx_barrier(void);
bool __wrap_ptx_barrier(void)
{
	return !refused && __real_ptx_barrier();
}

bool __real_ptx_barrier_everywhere(void);
bool __wrap_ptx_barrier_everywhere(void);
bool __wrap_ptx_barrier_everywhere(void)
{
	return !refused && __real_ptx_barrier_everywhere();
}

static struct ptx_chunk *chunk;

/*
 * Starts the stream, reads its START, and makes a writer be inside its window with the number HELD.
 */
static void begin(int kind)
{
	const int number = HELD;
	enum ptx_writer_loss loss;
	struct ptx_stream *stream;
	uint32_t ring;

	u = type_of("u");
	trid = STARTED(.policy = kind & LOOP ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL,
		       .inheritance = kind & INHERITED ? POSIX_TRACE_INHERITED : 0);
	stream = ptx_registry_enter(trid);
	ck_assert_ptr_nonnull(stream);
	rings = &stream->view->rings;
	ptx_registry_leave(stream);
	refused = false;
	history_free(read_all(trid));
	refused = kind & REFUSED;
	ident = (struct ptx_ident){ .pid = (uint32_t)getpid(), .tid = 4711, .thread = 4711 };
	chunk = ptx_ring_claim(rings, &ident, &ring, &loss);
	ck_assert_ptr_nonnull(chunk);
	record = ptx_ring_prepare(rings, chunk, ptx_record_size(sizeof(number)), &head);
	ptx_record_fill(record, sizeof(number), u, 0);
	ptx_copy_in((unsigned char *)(record + 1), (const unsigned char *)&number, sizeof(number));
	ptx_ring_stamp(chunk, head);
	record->time = ptx_clock_now();
}

static void publish(void)
{
	ptx_ring_publish(chunk, record, head, ptx_record_size(sizeof(int)), record->time);
}

static int64_t last_ns;

/* Stores the number of one event and returns 0, or returns the error. */
static int timed(const struct timespec *until, int *number)
{
	struct posix_trace_event_info info;
	int unavailable = 77, err;
	size_t len;

	err = posix_trace_timedgetnext_event(trid, &info, number, sizeof(*number), &len,
					     &unavailable, until);
	ck_assert_int_eq(err == 0, unavailable == 0);
	if (!err) {
		ck_assert_uint_eq(info.posix_event_id, u);
		last_ns = nanoseconds(&info.posix_timestamp);
	}
	return err;
}

static void assert_accounted(uint64_t events)
{
	struct posix_trace_ledger_np ledger;

	OK(posix_trace_get_ledger_type_np(trid, u, &ledger));
	ck_assert_uint_eq(ledger.called, events);
	ck_assert_uint_eq(ledger.reported, events);
}

/*
 * STOP-07, TRY-03: the reader gets all complete events immediately. It gets the suspended event
 * once, with the event's own time, after the writer publishes it
 */
START_TEST(a_stopped_stream_is_read_to_its_end_beside_a_suspended_writer)
{
	struct history *history;

	begin(_i);
	for (int i = 0; i < 100; i++)
		trace_number(u, i);
	stop(trid);
	history = read_all(trid);
	ck_assert_uint_eq(history_count(history, u), 100);
	ck_assert_uint_eq(history->n, 101); /* the events and the STOP */
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(number_of(&history->event[i]), i);
	history_free(history);
	assert_accounted(100);
	if (_i & LOOP) {
		start(trid);
		stop(trid);
		history_free(read_all(trid));
	}
	publish();
	history = read_all(trid);
	ck_assert_uint_eq(history_count(history, u), 1);
	ck_assert_uint_eq(history->n, 1);
	ck_assert_int_eq(number_of(&history->event[0]), HELD);
	history_free(history);
	assert_empty(trid);
	assert_accounted(101);
	shut(trid);
}
END_TEST

static bool publishes_meanwhile;

int __real_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns);
int __wrap_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns);
int __wrap_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns)
{
	if (publishes_meanwhile) {
		publishes_meanwhile = false;
		publish();
	}
	return __real_ptx_futex_nap(word, value, ns);
}

/* STOP-07: the reader waits for a preempted writer, so that no event is delivered after the STOP */
START_TEST(a_stop_waits_for_a_writer_that_is_preempted)
{
	struct history *history;

	begin(_i);
	trace_number(u, 1);
	publishes_meanwhile = true;
	stop(trid);
	ck_assert(!publishes_meanwhile);
	history = read_all(trid);
	ck_assert_uint_eq(history->n, 3);
	ck_assert_int_eq(number_of(&history->event[0]), HELD);
	ck_assert_int_eq(number_of(&history->event[1]), 1);
	ck_assert_uint_eq(history->event[2].info.posix_event_id, POSIX_TRACE_STOP);
	history_free(history);
	assert_empty(trid);
	assert_accounted(2);
	shut(trid);
}
END_TEST

/*
 * TIMED-03: a complete event is delivered before the deadline is checked, whatever the deadline is
 */
START_TEST(no_deadline_ends_a_wait_beside_a_complete_event)
{
	static const struct timespec odd[] = { { 0, 0 }, { -5, 0 }, { 0, -1 }, { 0, 1000000000 } };
	int number;

	begin(_i);
	for (int i = 0; i < 40; i++) {
		number = -1;
		trace_number(u, i);
		ck_assert_int_eq(timed(&odd[i % 4], &number), 0);
		ck_assert_int_eq(number, i);
		ck_assert_int_eq(timed(&odd[i % 4], &number), i % 4 < 2 ? ETIMEDOUT : EINVAL);
	}
	publish();
	ck_assert_int_eq(timed(&odd[0], &number), 0);
	ck_assert_int_eq(number, HELD);
	ck_assert_int_eq(timed(&odd[0], &number), ETIMEDOUT);
	assert_accounted(41);
	shut(trid);
}
END_TEST

/* TIMED-01, TRY-03: until the deadline, the reader waits to keep the order */
START_TEST(a_wait_with_a_deadline_ends_with_the_complete_event)
{
	struct timespec until;
	int64_t end = now_ns() + 20000000, first;
	int number = -1;

	begin(_i);
	trace_number(u, 1);
	until.tv_sec = end / 1000000000;
	until.tv_nsec = end % 1000000000;
	ck_assert_int_eq(timed(&until, &number), 0);
	ck_assert_int_eq(number, 1);
	first = last_ns;
	publish();
	ck_assert_int_eq(timed(&until, &number), 0);
	ck_assert_int_eq(number, HELD);
	ck_assert_int_lt(last_ns, first);
	shut(trid);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("getnext beside a suspended writer", &tc);

	tcase_add_loop_test(tc, a_stopped_stream_is_read_to_its_end_beside_a_suspended_writer, 0,
			    KINDS);
	tcase_add_loop_test(tc, a_stop_waits_for_a_writer_that_is_preempted, 0, KINDS);
	tcase_add_loop_test(tc, no_deadline_ends_a_wait_beside_a_complete_event, 0, KINDS);
	tcase_add_loop_test(tc, a_wait_with_a_deadline_ends_with_the_complete_event, 0, KINDS);
	return s;
}

SUITE_MAIN_OF(suite)
