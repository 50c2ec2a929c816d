/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/flusher.c, flush/flush.c: the checks of the flusher before it sleeps, who wakes it, its
 * pauses while there are no events to flush, and flushes without memory.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/barrier.h"
#include "base/futex.h"
#include "flush/flush.h"
#include "point/view.h"
#include "posix/registry.h"
#include "ring/pool.h"
#include "ring/ring_write.h"
#include "support/log.h"
#include "support/puppet.h"
#include "support/stream.h"

static trace_id_t trid;
static trace_event_id_t u;
static struct ptx_region *region;

static enum ptx_state state(void)
{
	return ptx_state_kind(atomic_load(&region->state));
}

static void begin(trace_id_t logged)
{
	struct ptx_stream *stream;

	u = type_of("u");
	trid = logged;
	stream = ptx_registry_enter(trid);
	ck_assert_ptr_nonnull(stream);
	region = stream->view->rings.region;
	ptx_registry_leave(stream);
}

static _Atomic bool fills, filled, slept_on, flushed;

/* The number of flushes while a writer is suspended, and the longest pause after one of them. */
static _Atomic bool held;
static _Atomic unsigned flushes;
static _Atomic int64_t pause_ns;

/*
 * If lasts is true, the flusher sleeps until it is woken, and these are the numbers of its sleeps
 * and of the naps after which it examines the pool. If it is not woken, the test fails after
 * LONG_NS.
 */
#define LONG_NS INT64_C(60000000000)
static _Atomic bool lasts;
static _Atomic unsigned sleeps, naps;

/*
 * The flusher runs a barrier when its oldest event is due. It has then found that the stream is not
 * filling up, and writers read that it does not wait for a wake-up.
 */
bool __real_ptx_barrier(void);
bool __wrap_ptx_barrier(void);
bool __wrap_ptx_barrier(void)
{
	if (atomic_load(&fills) && syscall(SYS_gettid) != getpid() &&
	    atomic_load(&region->flusher_asleep) == 0) {
		atomic_store(&fills, false);
		for (int i = 0; i < 1 << 14 && state() != PTX_FULL; i++)
			trace_number(u, i);
		if (state() != PTX_FULL)
			abort();
		atomic_store(&filled, true);
	}
	return __real_ptx_barrier();
}

int __real_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns);
int __wrap_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns);
int __wrap_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns)
{
	if (atomic_load(&filled) && word == &region->flusher_asleep && !atomic_load(&flushed))
		atomic_store(&slept_on, true);
	if (atomic_load(&held) && word != &region->flusher_asleep && ns > atomic_load(&pause_ns))
		atomic_store(&pause_ns, ns);
	if (atomic_load(&lasts) && word == &region->flusher_asleep) {
		atomic_fetch_add(&sleeps, 1);
		if (__real_ptx_futex_nap(word, value, LONG_NS) == ETIMEDOUT)
			abort();
		return 0;
	} else if (atomic_load(&lasts)) {
		atomic_fetch_add(&naps, 1);
	}
	return __real_ptx_futex_nap(word, value, ns);
}

int __real_ptx_flush_run(struct ptx_flush *flush, enum ptx_flush_kind kind,
			 const struct ptx_flush_caller *caller);
int __wrap_ptx_flush_run(struct ptx_flush *flush, enum ptx_flush_kind kind,
			 const struct ptx_flush_caller *caller);
int __wrap_ptx_flush_run(struct ptx_flush *flush, enum ptx_flush_kind kind,
			 const struct ptx_flush_caller *caller)
{
	if (atomic_load(&filled))
		atomic_store(&flushed, true);
	if (atomic_load(&held) || atomic_load(&lasts))
		atomic_fetch_add(&flushes, 1);
	return __real_ptx_flush_run(flush, kind, caller);
}

/* SFLUSH-02 */
START_TEST(a_flusher_does_not_sleep_on_a_stream_that_filled_up_before_it_asked_to_be_woken)
{
	int fd = log_file();

	begin(LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH, .size = 1 << 14));
	atomic_store(&fills, true);
	while (!atomic_load(&flushed))
		sched_yield();
	ck_assert(!atomic_load(&slept_on));
	shut(trid);
	close(fd);
}
END_TEST

/*
 * Each flush adds two marks to the log. If a flusher has no events to flush, its pauses grow, so
 * that it does not flush in an endless loop. The pauses remain so short that the other half of the
 * stream cannot fill up meanwhile.
 */
START_TEST(a_flusher_pauses_while_a_suspended_writer_keeps_all_events_back)
{
	const int64_t long_pause_ns = 300000, look_ns = 1000000;
	const unsigned until_longest = 30;
	struct ptx_ident ident = { .pid = (uint32_t)getpid(), .tid = 4711, .thread = 4711 };
	const size_t bytes = ptx_record_size(sizeof(int));
	enum ptx_writer_loss loss;
	struct ptx_record *record;
	struct ptx_stream *stream;
	struct ptx_chunk *chunk;
	struct ptx_rings *rings;
	uint64_t head;
	uint32_t ring;
	int fd = log_file();

	begin(LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH, .size = 1 << 14));
	stream = ptx_registry_enter(trid);
	ck_assert_ptr_nonnull(stream);
	rings = &stream->view->rings;
	ptx_registry_leave(stream);
	chunk = ptx_ring_claim(rings, &ident, &ring, &loss);
	ck_assert_ptr_nonnull(chunk);
	record = ptx_ring_prepare(rings, chunk, bytes, &head);
	ptx_record_fill(record, sizeof(int), u, 0);
	memset(record + 1, 0, sizeof(int));
	ptx_ring_stamp(chunk, head);
	record->time = ptx_clock_now();
	for (int i = 0; i < 1 << 14 && state() != PTX_FULL; i++)
		trace_number(u, i);
	ck_assert_int_eq(state(), PTX_FULL);
	atomic_store(&held, true);
	while (atomic_load(&flushes) < until_longest && state() == PTX_FULL)
		sched_yield();
	atomic_store(&held, false);
	ptx_ring_publish(chunk, record, head, bytes, record->time);
	shut(trid);
	close(fd);
	ck_assert_int_ge(atomic_load(&pause_ns), long_pause_ns);
	ck_assert_int_le(atomic_load(&pause_ns), look_ns);
}
END_TEST

/*
 * As long as no other process has recorded in its stream, the flusher sleeps. It does not sleep any
 * more after the first event, because the process need not wake it then. SFLUSH-02
 */
START_TEST(a_flusher_sleeps_until_the_other_process_records)
{
	struct puppet puppet = puppet_start();
	int fd = log_file();

	begin(log_attach_started(puppet.pid, fd,
				 &(struct log_wish){ .policy = POSIX_TRACE_FLUSH }));
	atomic_store(&lasts, true);
	wait_until(atomic_load(&sleeps) == 1);
	ck_assert_uint_eq(atomic_load(&naps), 0);
	puppet_tell(&puppet, PUPPET_ONE);
	wait_until(atomic_load(&naps) > 100 || atomic_load(&sleeps) > 1);
	ck_assert_uint_eq(atomic_load(&sleeps), 1);
	atomic_store(&lasts, false);
	shut(trid);
	puppet_end(&puppet);
	close(fd);
}
END_TEST

enum { LENS = 6 };

static void *trace_as_controller(void *len)
{
	const unsigned char data[64] = { 0 };

	OK(posix_trace_trid_event_np(trid, u, data, *(const size_t *)len));
	return NULL;
}

/*
 * Each thread of the controller writes a record with its identity first. Depending on the size of
 * the events, this record or the event fills a chunk. SFLUSH-02
 */
START_TEST(events_of_the_controller_wake_the_flusher)
{
	static const size_t lens[LENS] = { 0, 8, 16, 24, 40, 64 };
	const struct ptx_rings *rings;
	struct ptx_stream *stream;
	size_t len = lens[_i / 2];
	int fd = log_file();

	begin(LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH, .size = 1 << 14));
	stream = ptx_registry_enter(trid);
	ck_assert_ptr_nonnull(stream);
	rings = &stream->view->rings;
	ptx_registry_leave(stream);
	atomic_store(&lasts, true);
	wait_until(atomic_load(&sleeps) == 1);
	atomic_store(&flushes, 0);
	while (!ptx_pool_is_filling(rings, 2) && !atomic_load(&flushes)) {
		trace_as_controller(&len);
		if (_i % 2)
			join(spawn(trace_as_controller, &len));
	}
	wait_until(atomic_load(&flushes) > 0);
	atomic_store(&lasts, false);
	shut(trid);
	close(fd);
}
END_TEST

static bool out_of_memory;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	if (out_of_memory && size == sizeof(struct ptx_source)) {
		errno = ENOMEM;
		return NULL;
	}
	return __real_calloc(n, size);
}

static void *trace_some(void *unused)
{
	(void)unused;
	for (int i = 0; i < 10; i++)
		trace_number(u, i);
	return NULL;
}

/* If the events of a thread cannot be flushed, the flush reports this. FLUSHF-01 */
START_TEST(a_flush_without_memory_for_a_thread_fails_and_the_next_brings_its_events)
{
	int fd = log_file();

	begin(LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL));
	OK(posix_trace_flush(trid));
	join(spawn(trace_some, NULL));
	out_of_memory = true;
	FAILS(ENOMEM, posix_trace_flush(trid));
	out_of_memory = false;
	OK(posix_trace_flush(trid));
	shut(trid);
	assert_log_numbers(fd, u, 0, 10);
	close(fd);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("posix: flushing", &tc);

	tcase_add_test(
		tc,
		a_flusher_does_not_sleep_on_a_stream_that_filled_up_before_it_asked_to_be_woken);
	tcase_add_test(tc, a_flusher_pauses_while_a_suspended_writer_keeps_all_events_back);
	tcase_add_test(tc, a_flusher_sleeps_until_the_other_process_records);
	tcase_add_loop_test(tc, events_of_the_controller_wake_the_flusher, 0, 2 * LENS);
	tcase_add_test(
		tc, a_flush_without_memory_for_a_thread_fails_and_the_next_brings_its_events);
	return s;
}

SUITE_MAIN_OF(suite)
