/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread loses its ring and its slot because a reader regarded its process as dead. The thread
 * acquires others at its next chunk, and does not write into memory that belongs to another thread
 * by then.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <trace_np.h>
#include <unistd.h>

#include "point/thread.h"
#include "ring/ring_write.h"
#include "support/stream.h"

static trace_event_id_t id;
static trace_id_t trid;
static bool no_tgkill;

/* A filter of system calls can refuse tgkill() with any error. */
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_tgkill && no_tgkill) {
		errno = ESRCH;
		return -1;
	}
	return __real_syscall(number, a, b, c, d, e, f);
}

static bool everybody_is_dead(uint32_t pid)
{
	(void)pid;
	return true;
}

static bool nobody_is_dead(uint32_t pid)
{
	(void)pid;
	return false;
}

static struct ptx_view *the_view(void)
{
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++)
		if (ptx_private.view[bit])
			return ptx_private.view[bit];
	ck_abort_msg("no view");
}

static struct ptx_cell *own_cell(void)
{
	return &ptx_thread_self->cell[the_view()->bit][0];
}

/* Does the same as a reader of another process. */
static bool steal(bool (*is_dead)(uint32_t pid))
{
	return ptx_ring_reap(&the_view()->rings, 1, is_dead);
}

static void *trace_in_thread(void *arg)
{
	uint32_t *ring = arg;

	for (int i = 0; i < 3; i++)
		trace_number(id, -1);
	*ring = own_cell()->ring;
	/* The thread keeps the ring while the other thread continues. */
	while (__atomic_load_n(&ring[1], __ATOMIC_ACQUIRE) == 0)
		sched_yield();
	for (int i = 0; i < 3; i++)
		trace_number(id, -1);
	return NULL;
}

static uint64_t called_now(uint64_t *lost)
{
	struct posix_trace_ledger_np ledger;

	*lost = 0;
	OK(posix_trace_get_ledger_np(trid, &ledger));
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		*lost += ledger.lost[i];
	ck_assert_uint_eq(ledger.called, ledger.reported + ledger.unread + *lost);
	return ledger.called;
}

/* Waits until the cell has another chunk. */
static unsigned trace_to_the_next_chunk(unsigned number)
{
	const struct ptx_chunk *chunk = own_cell()->chunk;

	while (own_cell()->chunk == chunk)
		trace_number(id, (int)number++);
	return number;
}

START_TEST(a_thread_that_lost_its_ring_takes_another_at_its_next_chunk)
{
	uint32_t ring[2] = { 0 }, before, slot;
	uint64_t held, lost;
	unsigned number = 0, turn;
	pthread_t thread;

	id = type_of("u");
	trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL);
	trace_number(id, (int)number++);
	before = own_cell()->ring;
	held = own_cell()->held;
	slot = ptx_thread_self->slot[the_view()->bit];
	ck_assert(!steal(nobody_is_dead));
	number = trace_to_the_next_chunk(number);
	ck_assert_uint_eq(own_cell()->ring, before);
	ck_assert_uint_eq(own_cell()->held, held);
	/*
	 * Records as many events as a chunk has room for. A thread checks its ring only at its next
	 * chunk, and events that two threads write meanwhile are not counted. So no chunk may have
	 * space left.
	 */
	turn = number;
	number = trace_to_the_next_chunk(number);
	for (unsigned more = number - turn - 1; more; more--)
		trace_number(id, (int)number++);
	ck_assert(steal(everybody_is_dead));
	/* A thread of the same process, so that the ring's word is unchanged. */
	ck_assert_int_eq(pthread_create(&thread, NULL, trace_in_thread, ring), 0);
	while (the_view()->rings.ring[before].holder == held ||
	       (the_view()->rings.ring[before].holder & PTX_RING_STATE) != PTX_RING_HELD)
		sched_yield();
	turn = number;
	number = trace_to_the_next_chunk(number);
	ck_assert_uint_eq(number, turn + 1);
	ck_assert_uint_ne(own_cell()->ring, before);
	ck_assert_uint_ne(ptx_thread_self->slot[the_view()->bit], slot);
	ck_assert(ptx_slot_is_held(&the_view()->rings, ptx_thread_self->slot[the_view()->bit]));
	__atomic_store_n(&ring[1], 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(ring[0], before);
	number = trace_to_the_next_chunk(number);
	stop(trid);
	/* Each event is at its place: START, the events of both threads, STOP. */
	ck_assert_uint_eq(called_now(&lost), 2 + number + 6);
	ck_assert_uint_eq(lost, 0);
	shut(trid);
}
END_TEST

/* A thread that ends frees what it has acquired, and no more. */
START_TEST(a_thread_that_lost_its_slot_does_not_end_the_next_owners)
{
	struct ptx_rings *rings;
	uint32_t slot;

	id = type_of("u");
	trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL);
	trace_number(id, 1);
	rings = &the_view()->rings;
	slot = ptx_thread_self->slot[the_view()->bit];
	atomic_store(&rings->slot[slot & 0xffff].word, ((slot >> 16) + 1) << 16 | PTX_SLOT_LIVE);
	ck_assert(!ptx_slot_is_held(rings, slot));
	ptx_slot_release(rings, slot);
	ck_assert_uint_eq(rings->slot[slot & 0xffff].word,
			  ((slot >> 16) + 1) << 16 | PTX_SLOT_LIVE);
	ptx_slot_release(rings, slot + 0x10000);
	ck_assert_uint_eq(rings->slot[slot & 0xffff].word,
			  ((slot >> 16) + 1) << 16 | PTX_SLOT_ENDED);
	shut(trid);
}
END_TEST

START_TEST(a_sweep_keeps_the_object_of_a_thread_that_only_tgkill_calls_dead)
{
	const struct ptx_thread *own;
	uint64_t lost;
	uint32_t slot;

	id = type_of("u");
	trid = STARTED(.policy = POSIX_TRACE_UNTIL_FULL);
	trace_number(id, 1);
	own = ptx_thread_self;
	slot = own->slot[the_view()->bit];
	no_tgkill = true;
	ck_assert(!KEEPS_ERRNO(ptx_threads_sweep()));
	no_tgkill = false;
	ck_assert_uint_eq(own->pid, (uint32_t)getpid());
	ck_assert(ptx_slot_is_held(&the_view()->rings, slot));
	trace_number(id, 2);
	stop(trid);
	ck_assert_uint_eq(called_now(&lost), 4);
	ck_assert_uint_eq(lost, 0);
	shut(trid);
}
END_TEST

SUITE_MAIN("a ring that was taken away",
	   a_thread_that_lost_its_ring_takes_another_at_its_next_chunk,
	   a_thread_that_lost_its_slot_does_not_end_the_next_owners,
	   a_sweep_keeps_the_object_of_a_thread_that_only_tgkill_calls_dead)
