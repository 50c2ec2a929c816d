/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ledger of a stream that is in use, of a stream whose writer ended between two steps, and of a
 * stream whose memory has any content.
 */
#include "support/support.h"
#include "ring/ring_write.h"
#include "unit/drain/stage.h"

enum { CHUNKS = 60, RINGS = 20, MANY_CHUNKS = 120 };

static struct writer one, two, quiet, more[RINGS];
static unsigned looks, written;
/* `one` writes an event before each visit of its ring, and `burst` more before the first visit */
static unsigned burst;
static bool writes_meanwhile;

enum ptx_claim __real_ptx_ring_look(struct ptx_reader *reader);
enum ptx_claim __wrap_ptx_ring_look(struct ptx_reader *reader);
enum ptx_claim __wrap_ptx_ring_look(struct ptx_reader *reader)
{
	looks++;
	if (writes_meanwhile && reader->ring == one.ring) {
		writer_put_many(&one, 5000, 1 + burst);
		written += 1 + burst;
		burst = 0;
	}
	return __real_ptx_ring_look(reader);
}

static void begin(int policy, unsigned chunks)
{
	stage_make(policy, chunks);
	writer_begin(&one, stage.pool, 11);
	writer_begin(&two, stage.pool, 12);
	writer_begin(&quiet, stage.pool, 13);
	stage_start();
	stage_expect(POSIX_TRACE_START, 0);
	looks = 0;
}

/*
 * LEDGER: the walk does not follow a writer of the same speed. The events that the writer adds
 * meanwhile do not count as called
 */
START_TEST(a_ledger_is_that_of_the_moment_when_it_began)
{
	/* up to three chunks and any position in the next */
	const unsigned before = 1 + (unsigned)_i / 2;
	unsigned soon;

	begin(_i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL, CHUNKS);
	writer_put_many(&one, 1, before);
	writes_meanwhile = true;
	stage_assert_account();
	soon = before + written;
	ck_assert_uint_eq(stage_unread(), soon);
	writes_meanwhile = false;
	stage_take_all();
	stage_assert_account();
}
END_TEST

static struct ptx_ledger_line line_of(uint32_t tid);

/*
 * LEDGER: records with a time in the future are discarded with their batch and counted, by type and
 * thread
 */
START_TEST(events_from_the_future_are_lost_and_counted)
{
	/* another thread continues in the ring, and its records are in the same batch */
	const bool hand_over = _i / 2;
	struct half half;
	unsigned mine = 1;

	begin(_i % 2 ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL, CHUNKS);
	writer_put_many(&two, 1, 1);
	for (; !hand_over && mine < 3; mine++)
		writer_put_many(&one, 10, 1);
	writer_enter(&one, 12, &half);
	half.time = pool_now + 3000000;
	writer_commit(&one, &half);
	if (hand_over) {
		struct ptx_ident ident = { .pid = 9, .tid = 14, .thread = 14 };

		ck_assert(ptx_ring_identify(&stage.pool->rings, &one.chunk, &ident, &pool_loss));
		writer_put_many(&one, 13, 1);
	}
	stage_expect_values(1, 1);
	stage_expect_none();
	ck_assert_uint_eq(stage_lost(PTX_LOST_DAMAGED), mine + hand_over);
	ck_assert_uint_eq(line_of(11).lost[PTX_LOST_DAMAGED], mine);
	ck_assert_uint_eq(line_of(14).lost[PTX_LOST_DAMAGED], hand_over);
	stage_assert_account();
	writer_put_many(&one, 20, 1); /* the ring continues */
	stage_expect_values(20, 1);
	stage_assert_account();
	ck_assert_uint_eq(atomic_load(&stage.pool->rings.region->consumed), 3 + mine + hand_over);
}
END_TEST

/* A time that is less than a millisecond in the future is not such a time. */
START_TEST(events_less_than_a_millisecond_ahead_are_delivered_when_their_time_has_come)
{
	struct half half;

	begin(POSIX_TRACE_UNTIL_FULL, CHUNKS);
	writer_enter(&one, 1, &half);
	half.time = pool_now + 900000;
	writer_commit(&one, &half);
	stage_expect_none();
	stage_assert_account();
	pool_now += 900000;
	stage_expect_values(1, 1);
	ck_assert_uint_eq(stage_lost(PTX_LOST_DAMAGED), 0);
	stage_assert_account();
}
END_TEST

static struct ptx_ledger_line line_of(uint32_t tid)
{
	static struct ptx_ledger ledger;
	struct ptx_ledger_line line = { 0 };

	ptx_ledger_init(&ledger);
	ck_assert_int_eq(ptx_drain_ledger(stage.drain, &ledger), 0);
	for (size_t i = 0; i < ledger.threads; i++)
		if (ledger.thread[i].tid == tid)
			line = ledger.thread[i].line;
	ptx_ledger_fini(&ledger);
	return line;
}

/* A writer that overwrites the whole pool repeatedly costs the other rings nothing. */
START_TEST(a_quiet_ring_behind_a_fast_one_is_counted)
{
	begin(POSIX_TRACE_LOOP, 30);
	writer_put_many(&quiet, 1, 1);
	(void)stage_unread(); /* now the reader has it */
	writer_put_many(&quiet, 2, 2);
	writer_put_many(&one, 1, 25 * POOL_RECORDS + 1);
	burst = 40 * POOL_RECORDS;
	writes_meanwhile = true;
	ck_assert_uint_eq(line_of(13).unread, 3);
	writes_meanwhile = false;
	stage_assert_account();
}
END_TEST

/*
 * A thread popped the hint of the first chunk of `one`, and was killed or suspended before it
 * overwrote this chunk. The chunk remains although the next chunks are overwritten.
 */
START_TEST(a_chunk_that_was_forgotten_is_counted_once)
{
	struct ptx_ledger_line line;
	struct ptx_rings *rings;
	uint32_t number, generation;

	begin(POSIX_TRACE_LOOP, 14);
	rings = &stage.pool->rings;
	writer_put_many(&one, 1, 5 * POOL_RECORDS);
	if (_i)
		ck_assert(ptx_ring_hinted(rings, PTX_HINT_CLOSED, &number, &generation));
	while (pool_lost(stage.pool, PTX_WRITER_OVERWRITTEN) == 0)
		writer_put_many(&two, 100, 1);
	stage_assert_account();
	line = line_of(11);
	ck_assert_uint_eq(line.unread + line.lost[PTX_LOST_OVERWRITTEN], 5 * POOL_RECORDS);
	ck_assert_uint_eq(line.lost[PTX_LOST_OVERWRITTEN], (_i ? 2 : 1) * POOL_RECORDS);
}
END_TEST

/*
 * Spoils the chunks of `one`: each ring claims them as its own, and claims to have published more.
 */
static void spoil(void)
{
	struct ptx_rings *rings = &stage.pool->rings;
	const uint64_t first = atomic_load(&rings->ring[one.ring].first);

	for (unsigned i = 0; i < RINGS; i++) {
		atomic_store(&rings->ring[more[i].ring].first, first);
		atomic_store(&rings->ring[more[i].ring].current, ptx_link(MANY_CHUNKS - 1, 7));
		atomic_store(&rings->ring[more[i].ring].published, 1 << 30);
	}
}

START_TEST(a_ledger_of_hostile_rings_ends_after_a_few_looks_at_each_chunk)
{
	const unsigned chain = 80;

	begin(POSIX_TRACE_LOOP, MANY_CHUNKS);
	for (unsigned i = 0; i < RINGS; i++)
		writer_begin(&more[i], stage.pool, 20 + i);
	writer_put_many(&one, 1, chain * POOL_RECORDS);
	spoil();
	(void)stage_unread();
	ck_assert_uint_gt(looks, 2 * chain);
	ck_assert_uint_lt(looks, RINGS * chain / 2);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("drain: the account", &tc);

	tcase_add_loop_test(tc, events_from_the_future_are_lost_and_counted, 0, 4);
	tcase_add_test(tc,
		       events_less_than_a_millisecond_ahead_are_delivered_when_their_time_has_come);
	tcase_add_loop_test(tc, a_ledger_is_that_of_the_moment_when_it_began, 0,
			    6 * POOL_RECORDS);
	tcase_add_test(tc, a_quiet_ring_behind_a_fast_one_is_counted);
	tcase_add_loop_test(tc, a_chunk_that_was_forgotten_is_counted_once, 0, 2);
	tcase_add_test(tc, a_ledger_of_hostile_rings_ends_after_a_few_looks_at_each_chunk);
	return s;
}

SUITE_MAIN_OF(suite)
