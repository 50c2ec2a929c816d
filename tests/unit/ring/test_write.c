/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The path of an event into a ring, step by step, and the state that a reader finds after each
 * step.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/attr.h"
#include "support/support.h"
#include "unit/ring/pool.h"
#include "unit/ring/steps.h"

static struct reader reader;

static struct ptx_record *fill(struct writer *writer, uint64_t *head, uint64_t value)
{
	struct ptx_record *record = ptx_ring_prepare(&writer->pool->rings, writer->chunk,
						     POOL_RECORD, head);

	ck_assert_ptr_nonnull(record);
	ptx_record_fill(record, sizeof value, POOL_TYPE, 0x1234);
	ptx_copy_in((unsigned char *)(record + 1), (const unsigned char *)&value, sizeof value);
	return record;
}

/* EVENT-13, EVENT-18 */
START_TEST(a_record_is_not_seen_before_it_is_published)
{
	struct pool *pool = pool_make(3, false);
	struct ptx_record *record;
	struct writer writer;
	uint64_t head;

	writer_begin(&writer, pool, 1);
	reader_init(&reader, pool);
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_NOTHING);
	record = fill(&writer, &head, 5);
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_NOTHING);
	ptx_ring_stamp(writer.chunk, head);
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_NOTHING);
	ck_assert_uint_eq(pool_published(pool), 0);
	ptx_ring_publish(writer.chunk, record, head, POOL_RECORD, 4321);
	ck_assert_uint_eq(pool_published(pool), 1);
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_BYTES);
	assert_seen(&reader, 1, 5, 5);
	ck_assert_uint_eq(reader.seen[0].time, 4321);
	ck_assert_uint_eq(reader.seen[0].type, POOL_TYPE);
	ck_assert_int_eq(reader_take(&reader, 0), PTX_CLAIM_NOTHING);
}
END_TEST

/* EVENT-13: a handler that leaves by longjmp(), a kill, or a fork abandons the record */
START_TEST(an_abandoned_record_leaves_nothing_and_the_next_has_its_place)
{
	struct pool *pool = pool_make(3, false);
	struct writer writer;
	uint64_t first, second;

	writer_begin(&writer, pool, 1);
	reader_init(&reader, pool);
	fill(&writer, &first, 5);
	ptx_ring_stamp(writer.chunk, first);
	/* the second record begins where the first was */
	ck_assert_ptr_eq(fill(&writer, &second, 6), (void *)writer.chunk->records);
	ck_assert_uint_eq(first, second);
	writer_put_many(&writer, 7, 1);
	reader_read(&reader);
	assert_seen(&reader, 1, 7, 7);
	assert_account(&reader);
}
END_TEST

/* EVENT-02, EVENT-10 */
START_TEST(data_of_every_length_up_to_three_hundred_arrives_whole)
{
	size_t len = (size_t)_i;
	unsigned char data[300], buffer[1 << 14];
	struct pool *pool = pool_make_planned(8192, sizeof data, false);
	const struct ptx_record *got = (const void *)buffer;
	struct ptx_reader one = { .rings = &pool->rings, .buffer = buffer };
	struct ptx_record *record;
	struct writer writer;
	uint64_t head;

	for (size_t i = 0; i < len; i++)
		data[i] = (unsigned char)(i + 1);
	writer_begin(&writer, pool, 1);
	record = ptx_ring_prepare(&pool->rings, writer.chunk, ptx_record_size(len), &head);
	memset(record, 0xee, ptx_record_size(len) + 8);
	ptx_record_fill(record, (uint32_t)len | PTX_RECORD_TRUNCATED, 1023, UINT64_C(1) << 63);
	ptx_copy_in((unsigned char *)(record + 1), data, len);
	ptx_ring_stamp(writer.chunk, head);
	ptx_ring_publish(writer.chunk, record, head, ptx_record_size(len), 99);
	ck_assert_int_eq(ptx_ring_take(&one), PTX_CLAIM_BYTES);
	ck_assert_uint_eq(one.bytes, ptx_record_size(len));
	ck_assert(one.fresh);
	ck_assert_uint_eq(one.ident.tid, 1);
	ck_assert_uint_eq(got->len_flags, len | PTX_RECORD_TRUNCATED);
	ck_assert_uint_eq(got->type, 1023);
	ck_assert_uint_eq(got->source, 0);
	ck_assert_uint_eq(got->address, UINT64_C(1) << 63);
	ck_assert_mem_eq(got + 1, data, len);
	/* it does not write behind its record either */
	ck_assert_uint_eq(((unsigned char *)record)[ptx_record_size(len)], 0xee);
}
END_TEST

/* Returns a page between two pages that must not be touched. */
static unsigned char *lonely_page(size_t page)
{
	unsigned char *all = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(all, MAP_FAILED);
	ck_assert_int_eq(mprotect(all + page, page, PROT_READ | PROT_WRITE), 0);
	return all + page;
}

/*
 * EVENT-02: data may begin or end where the program's memory begins or ends, and a record where the
 * chunk's memory does. The pieces of a copy overlap, but stay within these limits.
 */
START_TEST(a_copy_reads_only_the_data_and_writes_only_the_record)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *from = lonely_page(page), *to = lonely_page(page),
		      *untouched = lonely_page(page);

	memset(untouched, 0xee, page);
	for (size_t i = 0; i < page; i++)
		from[i] = (unsigned char)(i * 2654435761u >> 13);
	for (size_t len = 0; len <= 600; len++) {
		/* the record has whole words */
		const size_t whole = (len + 7) & ~(size_t)7;
		const unsigned char *last = from + page - len;

		memset(to, 0xee, page);
		ptx_copy_in(to, from, len);
		ck_assert_mem_eq(to, from, len);
		ck_assert_mem_eq(to + whole, untouched, page - whole);
		memset(to, 0xee, page);
		ptx_copy_in(to + page - whole, last, len);
		ck_assert_mem_eq(to + page - whole, last, len);
		ck_assert_mem_eq(to, untouched, page - whole);
	}
	ck_assert_int_eq(munmap(from - page, 3 * page), 0);
	ck_assert_int_eq(munmap(to - page, 3 * page), 0);
	ck_assert_int_eq(munmap(untouched - page, 3 * page), 0);
}
END_TEST

START_TEST(a_full_chunk_turns_to_the_next_and_none_is_left_out)
{
	struct pool *pool = pool_make(3, false);
	struct ptx_chunk *first;
	struct writer writer;
	uint64_t head, last;

	writer_begin(&writer, pool, 1);
	reader_init(&reader, pool);
	first = writer.chunk;
	writer_put_many(&writer, 1, POOL_RECORDS);
	last = pool_now;
	ck_assert_ptr_null(ptx_ring_prepare(&pool->rings, writer.chunk, POOL_RECORD, &head));
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_CLOSED), 0);
	writer_put_many(&writer, POOL_RECORDS + 1, 1);
	ck_assert_ptr_ne(writer.chunk, first);
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_CLOSED), 1);
	ck_assert_uint_eq(pool_chunks_in(pool, PTX_CHUNK_OPEN), 1);
	ck_assert_uint_eq(ptx_link_number(atomic_load(&first->next)), 1);
	ck_assert_uint_eq(atomic_load(&first->last), last);
	ck_assert_uint_eq(writer.chunk->ident.before, (uint32_t)(POOL_PUBLISHED + POOL_RECORDS));
	reader_read(&reader);
	assert_seen(&reader, 1, 1, POOL_RECORDS + 1);
	assert_account(&reader);
}
END_TEST

/* UFULL-02, UFULL-04 */
START_TEST(without_a_free_chunk_the_writer_stays_where_it_is)
{
	struct pool *pool = pool_make(2, false);
	struct ptx_chunk *chunk;
	struct writer writer;

	writer_begin(&writer, pool, 1);
	reader_init(&reader, pool);
	writer_put_many(&writer, 1, 2 * POOL_RECORDS);
	chunk = writer.chunk;
	ck_assert(!writer_put(&writer, POOL_TYPE, 99));
	ck_assert(!writer_put(&writer, POOL_TYPE, 99));
	ck_assert_ptr_eq(writer.chunk, chunk);
	pool_assert_counted(pool);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, 2 * POOL_RECORDS);
	writer_put_many(&writer, 2 * POOL_RECORDS + 1, 1);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, 2 * POOL_RECORDS + 1);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_STREAM_FULL), 2);
	assert_account(&reader);
}
END_TEST

/* A hint is lost if its pusher dies. The words have the real states. */
START_TEST(a_free_chunk_without_a_hint_is_found)
{
	struct pool *pool = pool_make(3, _i);
	struct writer writer;

	writer_begin(&writer, pool, 1);
	reader_init(&reader, pool);
	writer_put_many(&writer, 1, POOL_RECORDS);
	atomic_store(&pool->rings.region->hints[PTX_HINT_FREE][0].head,
		     atomic_load(&pool->rings.region->hints[PTX_HINT_FREE][0].tail));
	writer_put_many(&writer, POOL_RECORDS + 1, 2 * POOL_RECORDS);
	ck_assert_uint_eq(pool_lost(pool, PTX_WRITER_OVERWRITTEN), 0);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, 3 * POOL_RECORDS);
	pool_assert_counted(pool);
}
END_TEST

START_TEST(generations_tickets_and_counts_go_over_their_ends)
{
	struct pool *pool = pool_make(3, false);
	struct writer writer;

	writer_begin(&writer, pool, 1);
	reader_init(&reader, pool);
	for (unsigned i = 0; i < 20; i++) {
		writer_put_many(&writer, 1 + i * POOL_RECORDS, POOL_RECORDS);
		reader_read(&reader);
	}
	assert_seen(&reader, 1, 1, 20 * POOL_RECORDS);
	assert_account(&reader);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_lt(ptx_word_generation(atomic_load(&pool->rings.word[i])), 100);
	ck_assert_uint_eq(atomic_load(&pool->rings.ring[0].published) >> 32, 3);
	ck_assert_uint_lt(atomic_load(&pool->rings.region->hints[PTX_HINT_FREE][0].head), 100);
	pool_assert_counted(pool);
}
END_TEST

/* EVENT-07: the records behind the identity belong to another thread */
START_TEST(a_new_holder_of_a_ring_identifies_itself_before_its_first_event)
{
	struct pool *pool = pool_make(3, false);
	struct writer one, two;

	writer_begin(&one, pool, 1);
	reader_init(&reader, pool);
	writer_put_many(&one, 1, 1);
	writer_end(&one);
	ck_assert_uint_eq((uint32_t)atomic_load(&pool->rings.ring[0].holder), PTX_RING_IDLE);
	writer_begin(&two, pool, 2);
	ck_assert_uint_eq(two.ring, one.ring);
	ck_assert_ptr_eq(two.chunk, one.chunk);
	ck_assert_uint_eq(atomic_load(&pool->rings.region->rings), 1);
	ck_assert_uint_eq(pool_published(pool), 1); /* the identity is no event */
	writer_put_many(&two, 50, 1);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, 1);
	assert_seen(&reader, 2, 50, 50);
	assert_account(&reader);
}
END_TEST

START_TEST(an_identity_that_does_not_fit_goes_into_the_next_chunks_header)
{
	struct pool *pool = pool_make(3, false);
	struct writer one, two;

	writer_begin(&one, pool, 1);
	reader_init(&reader, pool);
	writer_put_many(&one, 1, POOL_RECORDS - 1); /* 32 bytes are left, 48 are needed */
	writer_end(&one);
	writer_begin(&two, pool, 2);
	ck_assert_ptr_ne(two.chunk, one.chunk);
	ck_assert_uint_eq(two.chunk->ident.tid, 2);
	writer_put_many(&two, 50, 1);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, POOL_RECORDS - 1);
	assert_seen(&reader, 2, 50, 50);
	assert_account(&reader);
}
END_TEST

START_TEST(a_ring_whose_identity_finds_no_room_goes_back)
{
	struct pool *pool = pool_make(1, false);
	struct writer one;
	struct ptx_ident ident = { .tid = 2 };
	enum ptx_writer_loss loss = PTX_WRITER_NESTING;
	uint32_t ring;

	writer_begin(&one, pool, 1);
	reader_init(&reader, pool);
	writer_put_many(&one, 1, POOL_RECORDS);
	writer_end(&one);
	ck_assert_ptr_null(ptx_ring_claim(&pool->rings, &ident, &ring, &loss));
	ck_assert_int_eq(loss, PTX_WRITER_STREAM_FULL);
	ck_assert_uint_eq((uint32_t)atomic_load(&pool->rings.ring[0].holder), PTX_RING_IDLE);
	/* another ring finds no chunk either, but the ring keeps its number */
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_null(ptx_ring_claim(&pool->rings, &ident, &ring, &loss));
	ck_assert_uint_le(atomic_load(&pool->rings.region->rings), 2);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, POOL_RECORDS);
}
END_TEST

static struct writer stepped;

static void put_one(void *state)
{
	(void)state;
	writer_put(&stepped, POOL_TYPE, 3);
}

static void read_all(void *state)
{
	(void)state;
	reader_read(&reader);
}

/* EVENT-13, EVENT-18 */
START_TEST(a_reader_at_any_instruction_of_a_writer_sees_whole_records_and_each_once)
{
	struct pool *pool = pool_make(3, false);

	writer_begin(&stepped, pool, 1);
	reader_init(&reader, pool);
	writer_put_many(&stepped, 1, 2);
	steps_interrupt(put_one, read_all, NULL);
	ck_assert_uint_le(reader.n, 3);
	writer_put_many(&stepped, 4, 1);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, 4);
	assert_account(&reader);
	steps_end(20);
}
END_TEST

static void put_and_turn(void *state)
{
	(void)state;
	writer_put(&stepped, POOL_TYPE, POOL_RECORDS + 1);
}

/* _i: an UNTIL_FULL or a LOOP stream */
START_TEST(a_reader_at_any_instruction_of_a_turn_sees_each_record_once)
{
	struct pool *pool = pool_make(3, _i);

	writer_begin(&stepped, pool, 1);
	reader_init(&reader, pool);
	writer_put_many(&stepped, 1, POOL_RECORDS);
	steps_interrupt(put_and_turn, read_all, NULL);
	writer_put_many(&stepped, POOL_RECORDS + 2, POOL_RECORDS);
	reader_read(&reader);
	assert_seen(&reader, 1, 1, 2 * POOL_RECORDS + 1);
	assert_account(&reader);
	pool_assert_counted(pool);
	steps_end(100);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: writing", &tc);

	tcase_add_test(tc, a_record_is_not_seen_before_it_is_published);
	tcase_add_test(tc, an_abandoned_record_leaves_nothing_and_the_next_has_its_place);
	tcase_add_loop_test(tc, data_of_every_length_up_to_three_hundred_arrives_whole, 0, 301);
	tcase_add_test(tc, a_copy_reads_only_the_data_and_writes_only_the_record);
	tcase_add_test(tc, a_full_chunk_turns_to_the_next_and_none_is_left_out);
	tcase_add_test(tc, without_a_free_chunk_the_writer_stays_where_it_is);
	tcase_add_loop_test(tc, a_free_chunk_without_a_hint_is_found, 0, 2);
	tcase_add_test(tc, generations_tickets_and_counts_go_over_their_ends);
	tcase_add_test(tc, a_new_holder_of_a_ring_identifies_itself_before_its_first_event);
	tcase_add_test(tc, an_identity_that_does_not_fit_goes_into_the_next_chunks_header);
	tcase_add_test(tc, a_ring_whose_identity_finds_no_room_goes_back);
	tcase_add_test(tc,
		       a_reader_at_any_instruction_of_a_writer_sees_whole_records_and_each_once);
	tcase_add_loop_test(tc, a_reader_at_any_instruction_of_a_turn_sees_each_record_once, 0, 2);
	return s;
}

SUITE_MAIN_OF(suite)
