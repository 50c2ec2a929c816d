/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/checkpoint.c: events that were read remain in the stream until they are in the log, and
 * another drain continues from there.
 */
#include <string.h>

#include "flush/checkpoint.h"
#include "support/support.h"
#include "unit/drain/stage.h"

enum {
	CHUNKS = 12,
	VALUES = 5 * POOL_RECORDS, /* of each writer */
	/* events in the log at the checkpoints: in the middle of a chunk */
	FIRST = 1 + 2 * POOL_RECORDS + 3,
	SECOND = FIRST + 2 * POOL_RECORDS + 4
};

static struct writer one, two;

static void begin(int policy)
{
	stage_make(policy, CHUNKS);
	writer_begin(&one, stage.pool, 11);
	writer_begin(&two, stage.pool, 12);
	stage_start();
	ptx_checkpoint_enable(stage.drain);
}

/*
 * Two writers put the values 1, 2, ... in turn. Then the drain reads as many events as the log has
 * at the first checkpoint.
 */
static void write_and_take(unsigned events)
{
	for (unsigned i = 0; i < VALUES; i++) {
		writer_put_many(&one, 2 * i + 1, 1);
		writer_put_many(&two, 2 * i + 2, 1);
	}
	while (stage.n < events)
		ck_assert(stage_take());
}

/*
 * The writer of the log is killed after it made both checkpoints. The file has the log's first
 * block.
 */
static void checkpoint_twice(void)
{
	begin(POSIX_TRACE_UNTIL_FULL);
	write_and_take(FIRST);
	ptx_checkpoint_write(stage.drain, FIRST);
	ptx_drain_settle(stage.drain);
	while (stage.n < SECOND)
		ck_assert(stage_take());
	ptx_checkpoint_write(stage.drain, SECOND);
}

/*
 * The events that are delivered from here on must be those that the log lacks, with their writers.
 */
static void expect_all_behind(unsigned events)
{
	unsigned before = stage.n;

	stage_take_all();
	ck_assert_uint_eq(stage.n - before, 2 * VALUES + 1 - events);
	for (unsigned i = 0; before + i < stage.n; i++) {
		const struct told *told = &stage.told[before + i];

		ck_assert_uint_eq(told->type, POOL_TYPE);
		ck_assert_uint_eq(told->value, events + i);
		ck_assert_uint_eq(told->tid, (events + i) % 2 ? 11 : 12);
		ck_assert_int_eq(told->time_ns, STAGE_BASE_NS + (int64_t)told->ticks);
	}
}

START_TEST(events_that_were_read_are_kept_until_they_are_settled)
{
	unsigned is_free;

	begin(POSIX_TRACE_UNTIL_FULL);
	is_free = pool_chunks_in(stage.pool, PTX_CHUNK_FREE);
	write_and_take(2 * VALUES + 1);
	ptx_checkpoint_write(stage.drain, 2 * VALUES + 1);
	ck_assert_uint_eq(pool_chunks_in(stage.pool, PTX_CHUNK_CLOSED), 8);
	ck_assert_uint_eq(pool_chunks_in(stage.pool, PTX_CHUNK_FREE), is_free - 8);
	ck_assert_uint_eq(atomic_load(&stage.pool->rings.region->consumed), 0);
	ptx_drain_settle(stage.drain);
	ck_assert_uint_eq(pool_chunks_in(stage.pool, PTX_CHUNK_CLOSED), 0);
	ck_assert_uint_eq(pool_chunks_in(stage.pool, PTX_CHUNK_FREE), is_free);
	ck_assert_uint_eq(atomic_load(&stage.pool->rings.region->consumed), 2 * VALUES + 1);
	pool_assert_counted(stage.pool);
	stage_assert_account();
	ptx_drain_settle(stage.drain); /* no further event */
	ck_assert_uint_eq(pool_chunks_in(stage.pool, PTX_CHUNK_FREE), is_free);
}
END_TEST

START_TEST(a_writer_without_a_free_chunk_loses_and_continues_after_the_settlement)
{
	unsigned n = 0;

	begin(POSIX_TRACE_UNTIL_FULL);
	while (writer_put(&one, POOL_TYPE, ++n))
		;
	stage_take_all();
	ck_assert(!writer_put(&one, POOL_TYPE, n));
	ptx_checkpoint_write(stage.drain, stage.n);
	ck_assert(!writer_put(&one, POOL_TYPE, n));
	ptx_drain_settle(stage.drain);
	ck_assert(writer_put(&one, POOL_TYPE, n));
}
END_TEST

/* A writer that overwrites the oldest chunk ignores the debts of a reader. */
START_TEST(nothing_is_kept_of_a_loop_stream)
{
	begin(POSIX_TRACE_LOOP);
	write_and_take(2 * VALUES + 1);
	ck_assert_uint_eq(pool_chunks_in(stage.pool, PTX_CHUNK_CLOSED), 0);
	ck_assert_uint_eq(atomic_load(&stage.pool->rings.region->consumed), 2 * VALUES + 1);
	ptx_checkpoint_write(stage.drain, 2 * VALUES + 1);
	ptx_drain_settle(stage.drain);
	pool_assert_counted(stage.pool);
	stage_assert_account();
}
END_TEST

static const unsigned counts[] = { FIRST, SECOND };

/* EXIT-01: the last write is complete or not */
START_TEST(another_drain_goes_on_where_the_log_ends)
{
	checkpoint_twice();
	stage_resume(counts[_i]);
	expect_all_behind(counts[_i]);
}
END_TEST

START_TEST(after_a_settlement_the_next_drain_frees_all_chunks)
{
	checkpoint_twice();
	stage_resume(FIRST);
	stage_take_all();
	ptx_checkpoint_write(stage.drain, 2 * VALUES + 1);
	ptx_drain_settle(stage.drain);
	ck_assert_uint_eq(pool_chunks_in(stage.pool, PTX_CHUNK_CLOSED), 0);
	pool_assert_counted(stage.pool);
}
END_TEST

START_TEST(nothing_is_missing_where_not_even_the_first_write_was_made)
{
	begin(POSIX_TRACE_UNTIL_FULL);
	write_and_take(FIRST);
	ptx_checkpoint_write(stage.drain, FIRST);
	stage_resume(0);
	ck_assert(stage_take());
	ck_assert_uint_eq(stage.told[stage.n - 1].type, POSIX_TRACE_START);
	expect_all_behind(1);
}
END_TEST

START_TEST(it_may_be_killed_too_before_it_has_read_anything)
{
	checkpoint_twice();
	for (int i = 0; i < 3; i++)
		stage_resume(counts[_i]);
	expect_all_behind(counts[_i]);
}
END_TEST

/* The write failed, so the drain makes the same checkpoint again. */
START_TEST(a_checkpoint_made_again_leaves_the_other)
{
	checkpoint_twice();
	for (int i = 0; i < 3; i++)
		ptx_checkpoint_write(stage.drain, SECOND);
	stage_resume(counts[_i]);
	expect_all_behind(counts[_i]);
}
END_TEST

/* The writer died while it made the first of the two checkpoints, which is the newer one. */
static void tear(void)
{
	unsigned char *at = (unsigned char *)stage.pool->rings.region +
			    stage.pool->rings.geometry.checkpoint_at;
	uint64_t events;

	memcpy(&events, at, sizeof events);
	ck_assert_uint_eq(events, SECOND + 1);
	memset(at, 0, sizeof events);
	memset(at + sizeof events, 0x5a, 64);
}

START_TEST(one_that_is_half_written_leaves_the_other)
{
	checkpoint_twice();
	tear();
	stage_resume(FIRST);
	expect_all_behind(FIRST);
}
END_TEST

START_TEST(one_that_is_half_written_is_not_taken)
{
	unsigned before;

	checkpoint_twice();
	tear();
	stage_resume(SECOND);
	ck_assert_uint_eq(stage.drain->last_ticks, 0);
	ck_assert_uint_eq(stage.drain->synthetic, 0);
	for (int cause = 0; cause < PTX_LOST_CAUSES; cause++)
		ck_assert_uint_eq(stage.drain->account.total.lost[cause], 0);
	/* Settled events are not read again. */
	ck_assert_uint_gt(stage.drain->source[one.ring]->reader.place.claimed, 0);
	ck_assert_uint_eq(pool_chunks_in(stage.pool, PTX_CHUNK_CLOSED), 6);
	/* Events that are still in the chunks are not lost because of this. */
	before = stage.n;
	stage_take_all();
	ck_assert_uint_gt(stage.n - before, VALUES);
	ck_assert_uint_eq(stage.told[stage.n - 1].value, 2 * VALUES);
}
END_TEST

static const unsigned char *first_slot(void)
{
	return (const unsigned char *)stage.pool->rings.region +
	       stage.pool->rings.geometry.checkpoint_at;
}

/*
 * The file has the events of the last checkpoint, and no event was added since. The next checkpoint
 * is made in the other place.
 */
START_TEST(one_of_the_same_count_is_not_made_in_its_place)
{
	uint64_t before, after;

	checkpoint_twice();
	ptx_drain_settle(stage.drain);
	memcpy(&before, first_slot(), sizeof before);
	ck_assert_uint_eq(before, SECOND + 1);
	ptx_checkpoint_write(stage.drain, SECOND);
	memcpy(&after, first_slot(), sizeof after);
	ck_assert_uint_eq(after, 0); /* the other checkpoint is the newer one */
	stage_resume(SECOND);
	expect_all_behind(SECOND);
}
END_TEST

/*
 * Writes fail, and more events are added meanwhile. The checkpoint of the events in the file
 * remains.
 */
START_TEST(failures_leave_the_checkpoint_of_the_file)
{
	checkpoint_twice();
	for (unsigned n = SECOND; n < SECOND + 3; n++) {
		ptx_checkpoint_write(stage.drain, n);
		ck_assert(stage_take());
	}
	stage_resume(FIRST);
	expect_all_behind(FIRST);
}
END_TEST

START_TEST(losses_counted_by_a_dead_reader_stay_lost)
{
	begin(POSIX_TRACE_UNTIL_FULL);
	write_and_take(FIRST);
	ptx_drain_clear(stage.drain);
	ck_assert_uint_eq(stage_lost(PTX_LOST_CLEARED), 2 * VALUES + 1 - FIRST);
	ptx_checkpoint_write(stage.drain, FIRST);
	stage_resume(FIRST);
	ck_assert_uint_eq(stage_lost(PTX_LOST_CLEARED), 2 * VALUES + 1 - FIRST);
	ck_assert(!stage_take());
}
END_TEST

/*
 * In a LOOP stream, the events that the dead reader has claimed are not in the rings any more.
 * Their number is certain after a write that failed, also of those that were claimed and not
 * delivered.
 */
START_TEST(events_of_a_loop_stream_that_were_not_written_are_lost)
{
	unsigned before;

	begin(POSIX_TRACE_LOOP);
	write_and_take(FIRST);
	ptx_checkpoint_write(stage.drain, FIRST);
	ptx_drain_settle(stage.drain);
	while (stage.n < SECOND)
		ck_assert(stage_take());
	for (int i = 0; i < 2; i++)
		ptx_checkpoint_write(stage.drain, SECOND);
	stage_resume(FIRST);
	ck_assert_uint_ge(stage_lost(PTX_LOST_FLUSH_ERROR), SECOND - FIRST);
	before = stage.n;
	stage_take_all();
	ck_assert_uint_eq(stage_lost(PTX_LOST_FLUSH_ERROR) + stage.n - before,
			  2 * VALUES + 1 - FIRST);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("drain: checkpoints", &tc);

	tcase_add_test(tc, events_that_were_read_are_kept_until_they_are_settled);
	tcase_add_test(tc, a_writer_without_a_free_chunk_loses_and_continues_after_the_settlement);
	tcase_add_test(tc, nothing_is_kept_of_a_loop_stream);
	tcase_add_test(tc, events_of_a_loop_stream_that_were_not_written_are_lost);
	tcase_add_loop_test(tc, another_drain_goes_on_where_the_log_ends, 0, 2);
	tcase_add_test(tc, after_a_settlement_the_next_drain_frees_all_chunks);
	tcase_add_test(tc, nothing_is_missing_where_not_even_the_first_write_was_made);
	tcase_add_loop_test(tc, it_may_be_killed_too_before_it_has_read_anything, 0, 2);
	tcase_add_loop_test(tc, a_checkpoint_made_again_leaves_the_other, 0, 2);
	tcase_add_test(tc, one_that_is_half_written_leaves_the_other);
	tcase_add_test(tc, one_that_is_half_written_is_not_taken);
	tcase_add_test(tc, one_of_the_same_count_is_not_made_in_its_place);
	tcase_add_test(tc, failures_leave_the_checkpoint_of_the_file);
	tcase_add_test(tc, losses_counted_by_a_dead_reader_stay_lost);
	return s;
}

SUITE_MAIN_OF(suite)
