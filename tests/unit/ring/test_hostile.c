/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes that no writer of this library wrote: no access is outside the region, and no loop is
 * endless.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "support/random.h"
#include "support/support.h"
#include "unit/ring/pool.h"

#define PAGE 4096u

static struct pool *pool;

/* Returns memory whose last byte is the last accessible byte. */
static unsigned char *at_the_edge(size_t bytes)
{
	unsigned char *memory = mmap(NULL, 5 * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	OK(mprotect(memory + 4 * PAGE, PAGE, PROT_NONE));
	return memory + 4 * PAGE - bytes;
}

static uint32_t check(const void *bytes, uint32_t length, uint32_t *records)
{
	uint64_t last;

	return ptx_records_check(&pool->rings, bytes, length, records, &last);
}

static struct ptx_record *two_records(void)
{
	unsigned char *bytes = at_the_edge(2 * POOL_RECORD);
	struct ptx_record *record = (void *)bytes, *second = (void *)(bytes + POOL_RECORD);

	record->len_flags = second->len_flags = 8;
	record->type = second->type = POOL_TYPE;
	return record;
}

START_TEST(records_are_counted_as_far_as_they_are_whole)
{
	struct ptx_record *record;
	uint32_t records;

	pool = pool_make(1, false);
	record = two_records();
	for (uint32_t length = 0; length <= 2 * POOL_RECORD; length += 8) {
		unsigned char *bytes = at_the_edge(length);

		memcpy(bytes, record, length);
		ck_assert_uint_eq(check(bytes, length, &records),
				  length / POOL_RECORD * POOL_RECORD);
		ck_assert_uint_eq(records, length / POOL_RECORD);
	}
}
END_TEST

static const struct {
	uint32_t len_flags;
	uint16_t type;
	bool good;
} cases[] = {
	{ 8, POOL_TYPE, true },
	{ 8 | PTX_RECORD_TRUNCATED, POOL_TYPE, true },
	{ 1, 1, true },
	{ 5, PTX_TYPE_MAX - 1, true },
	{ 0, POOL_TYPE, false },                  /* then the next one begins in its data */
	{ 9, POOL_TYPE, false },                  /* a word longer than the available bytes */
	{ 40, POOL_TYPE, false },
	{ POOL_ROOM - 23, POOL_TYPE, false },     /* larger than any record */
	{ PTX_RECORD_LEN_MAX, POOL_TYPE, false },
	{ PTX_RECORD_LEN_MAX - 7, POOL_TYPE, false },
	{ UINT32_MAX, POOL_TYPE, false },
	{ 8, 0, false },
	{ 8, PTX_TYPE_MAX, false },
	{ 8, UINT16_MAX, false },
	{ 8 | PTX_RECORD_IDENT, 0, false },       /* an identity record has a fixed size */
	{ 23 | PTX_RECORD_IDENT, 0, false },
	{ 25 | PTX_RECORD_IDENT, 0, false },
	{ 0 | PTX_RECORD_IDENT, POOL_TYPE, false },
};

START_TEST(a_record_that_cannot_be_ends_the_run)
{
	struct ptx_record *record, *second;
	uint32_t records;

	pool = pool_make(1, false);
	record = two_records();
	second = (void *)((unsigned char *)record + POOL_RECORD);
	second->len_flags = cases[_i].len_flags;
	second->type = cases[_i].type;
	if (cases[_i].good) {
		ck_assert_uint_eq(check(record, 2 * POOL_RECORD, &records), 2 * POOL_RECORD);
		ck_assert_uint_eq(records, 2);
	} else if (cases[_i].len_flags == 0) {
		ck_assert_uint_eq(check(record, 2 * POOL_RECORD, &records),
				  POOL_RECORD + sizeof *record);
	} else {
		ck_assert_uint_eq(check(record, 2 * POOL_RECORD, &records), POOL_RECORD);
		ck_assert_uint_eq(records, 1);
	}
}
END_TEST

START_TEST(an_identity_is_no_event)
{
	unsigned char *bytes;
	struct ptx_record *record;
	uint32_t records;

	pool = pool_make(1, false);
	bytes = at_the_edge(48);
	record = (void *)bytes;
	record->len_flags = sizeof(struct ptx_ident) | PTX_RECORD_IDENT;
	ck_assert_uint_eq(check(bytes, 48, &records), 48);
	ck_assert_uint_eq(records, 0);
	ck_assert_uint_eq(check(bytes, 40, &records), 0);
}
END_TEST

START_TEST(the_run_lies_within_any_bytes)
{
	uint64_t state = 88172645463325252u;

	pool = pool_make(1, false);
	for (int i = 0; i < 20000; i++) {
		uint32_t length = (uint32_t)(random_word(&state) % 40) * 8, records, run;
		unsigned char *bytes = at_the_edge(length);

		for (uint32_t at = 0; at < length; at += 8) {
			uint64_t word = random_word(&state);

			/*
			 * Small lengths and types, because other values would mostly end the walk
			 * immediately.
			 */
			if (word & 1)
				word &= UINT64_C(0x100003ff3000003f);
			memcpy(bytes + at, &word, 8);
		}
		run = check(bytes, length, &records);
		ck_assert_uint_le(run, length);
		ck_assert_uint_eq(run % 8, 0);
		ck_assert_uint_le(records, length / sizeof(struct ptx_record));
		munmap((void *)(((uintptr_t)bytes + length) - 4 * PAGE), 5 * PAGE);
	}
}
END_TEST

static struct writer writer;
static struct reader reader;

static void begin(bool loop)
{
	pool = pool_make(4, loop);
	writer_begin(&writer, pool, 1);
	reader_init(&reader, pool);
}

static enum ptx_claim take(struct ptx_place *place)
{
	static unsigned char buffer[POOL_ROOM];
	struct ptx_reader one = { .rings = &pool->rings, .buffer = buffer, .place = *place };
	enum ptx_claim got = ptx_ring_take(&one);

	*place = one.place;
	ck_assert_uint_le(one.bytes, POOL_ROOM);
	ck_assert_uint_eq(one.bytes % 8, 0);
	return got;
}

START_TEST(a_head_beyond_the_chunk_is_cut_to_it)
{
	static const uint32_t heads[] = { POOL_ROOM + 8, 1 << 20, UINT32_MAX, UINT32_MAX - 7,
					  POOL_ROOM - 1, 3 };
	struct ptx_place place = { 0, 0 };

	begin(false);
	atomic_store(&writer.chunk->head, heads[_i]);
	(void)take(&place);
	ck_assert_uint_le(place.claimed, POOL_ROOM);
	ck_assert_int_eq(take(&place), PTX_CLAIM_NOTHING);
}
END_TEST

/*
 * The writer's head was changed. The writer turns to another chunk or stays, and does not write
 * outside the chunk.
 */
START_TEST(a_writer_whose_head_was_moved_writes_inside_its_chunks)
{
	static const uint32_t heads[] = { POOL_ROOM + 8, 1 << 20, UINT32_MAX - 7 };

	begin(_i % 2);
	atomic_store(&writer.chunk->head, heads[_i / 2]);
	for (uint64_t i = 0; i < 3; i++)
		ck_assert(writer_put(&writer, POOL_TYPE, i));
}
END_TEST

START_TEST(links_that_lead_nowhere_or_in_a_circle_are_left)
{
	static const uint32_t numbers[] = { 4, 5, 1000000, UINT32_MAX - 1 };
	struct ptx_place place = { 0, 0 };
	struct ptx_writer seen;
	uint32_t before;
	uint64_t link;

	begin(false);
	writer_put_many(&writer, 1, POOL_RECORDS + 1);
	link = ptx_link(numbers[_i], 0);
	/* the link `next` leads to no chunk */
	ck_assert_int_eq(take(&place), PTX_CLAIM_BYTES);
	atomic_store(&ptx_ring_chunk(&pool->rings, 0)->next, link);
	ck_assert_int_eq(take(&place), PTX_CLAIM_LOST);
	/* the links `first` and `current` lead to no chunk */
	place.link = 0;
	atomic_store(&pool->rings.ring[0].first, link);
	ck_assert_int_eq(take(&place), PTX_CLAIM_LOST);
	atomic_store(&pool->rings.ring[0].current, link);
	ptx_ring_watch(&pool->rings, 0, &seen);
	ck_assert(!seen.inside);
	(void)ptx_ring_published(&pool->rings);
	(void)ptx_ring_find(&pool->rings, 0, &place, &before);
	/* the chunk is its own successor, and completely claimed */
	begin(false);
	writer_put_many(&writer, 1, POOL_RECORDS + 1);
	place.link = 0;
	ck_assert_int_eq(take(&place), PTX_CLAIM_BYTES);
	atomic_store(&ptx_ring_chunk(&pool->rings, 0)->next, place.link);
	(void)take(&place);
	(void)take(&place);
}
END_TEST

START_TEST(an_observer_leaves_a_circle_of_chunks)
{
	static unsigned char buffer[POOL_ROOM];
	struct ptx_reader one = { .buffer = buffer };

	begin(false);
	writer_put_many(&writer, 1, POOL_RECORDS + 1);
	one.rings = &pool->rings;
	one.place.link = atomic_load(&pool->rings.ring[0].first);
	atomic_store(&ptx_ring_chunk(&pool->rings, 0)->next, one.place.link);
	atomic_store(&ptx_ring_chunk(&pool->rings, 0)->head, 0);
	ck_assert_int_ne(ptx_ring_look(&one), PTX_CLAIM_BYTES);
}
END_TEST

START_TEST(a_word_of_no_ring_keeps_the_writer_where_it_is)
{
	struct ptx_chunk *chunk;

	begin(false);
	writer_put_many(&writer, 1, POOL_RECORDS);
	chunk = writer.chunk;
	atomic_store(&pool->rings.word[0], ptx_chunk_word(1, 0xffff, PTX_CHUNK_OPEN));
	ck_assert(!ptx_ring_turn(&pool->rings, &writer.chunk, &writer.ident, &pool_loss));
	ck_assert_ptr_eq(writer.chunk, chunk);
}
END_TEST

START_TEST(losses_of_no_slot_and_no_type_are_counted_somewhere_in_the_table)
{
	static const uint32_t slots[] = { PTX_RINGS_FEW, 0xffff, UINT32_MAX, 0x10001 };

	begin(true);
	for (unsigned i = 0; i < 4; i++)
		ptx_ring_count_loss(&pool->rings, PTX_WRITER_OVERWRITTEN, 60000 + i, slots[i], 1);
	ck_assert_uint_eq(atomic_load(&pool->rings.slot[0].lost[PTX_WRITER_OVERWRITTEN]), 4);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), 4);
	/* the same in a chunk that is overwritten */
	writer_put_many(&writer, 1, 4 * POOL_RECORDS);
	ptx_ring_chunk(&pool->rings, 0)->ident.slot = UINT32_MAX;
	memset(ptx_ring_chunk(&pool->rings, 0)->records + POOL_RECORD, 0xff, POOL_RECORD);
	writer_put_many(&writer, 1, 1);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), 5);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: hostile bytes", &tc);

	tcase_add_test(tc, records_are_counted_as_far_as_they_are_whole);
	tcase_add_loop_test(tc, a_record_that_cannot_be_ends_the_run, 0,
			    sizeof cases / sizeof cases[0]);
	tcase_add_test(tc, an_identity_is_no_event);
	tcase_add_test(tc, the_run_lies_within_any_bytes);
	tcase_add_loop_test(tc, a_head_beyond_the_chunk_is_cut_to_it, 0, 6);
	tcase_add_loop_test(tc, a_writer_whose_head_was_moved_writes_inside_its_chunks, 0, 6);
	tcase_add_loop_test(tc, links_that_lead_nowhere_or_in_a_circle_are_left, 0, 4);
	tcase_add_test(tc, an_observer_leaves_a_circle_of_chunks);
	tcase_add_test(tc, a_word_of_no_ring_keeps_the_writer_where_it_is);
	tcase_add_test(tc, losses_of_no_slot_and_no_type_are_counted_somewhere_in_the_table);
	return s;
}

SUITE_MAIN_OF(suite)
