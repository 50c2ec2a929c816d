/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A ledger of a stream that goes on, and of one whose memory says anything: it ends. */
#include "support/support.h"
#include "unit/drain/stage.h"

enum { CHUNKS = 60, RINGS = 12 };

static struct writer one, more[RINGS];
static bool writes_meanwhile;
static unsigned looks;

enum ptx_claim __real_ptx_ring_look(struct ptx_rings *rings, uint32_t ring, struct ptx_place *place,
				    unsigned char *buffer, uint32_t *bytes, struct ptx_ident *ident,
				    bool *fresh);
enum ptx_claim __wrap_ptx_ring_look(struct ptx_rings *rings, uint32_t ring, struct ptx_place *place,
				    unsigned char *buffer, uint32_t *bytes, struct ptx_ident *ident,
				    bool *fresh);
enum ptx_claim __wrap_ptx_ring_look(struct ptx_rings *rings, uint32_t ring, struct ptx_place *place,
				    unsigned char *buffer, uint32_t *bytes, struct ptx_ident *ident,
				    bool *fresh)
{
	looks++;
	if (writes_meanwhile && ring == one.ring)
		writer_put(&one, POOL_TYPE, 1000 + looks);
	return __real_ptx_ring_look(rings, ring, place, buffer, bytes, ident, fresh);
}

static void begin(int policy)
{
	stage_make(policy, CHUNKS);
	writer_begin(&one, stage.pool, 11);
	stage_start();
	stage_expect(POSIX_TRACE_START, 0);
}

/* A writer as fast as the ledger's look: it is not followed for ever. */
START_TEST(what_comes_after_a_ledger_began_is_not_in_it_but_for_a_chunk)
{
	const unsigned before = 3 * POOL_RECORDS + 1;
	uint64_t unread;

	begin(_i ? POSIX_TRACE_LOOP : POSIX_TRACE_UNTIL_FULL);
	writer_put_many(&one, 1, before);
	looks = 0;
	writes_meanwhile = true;
	unread = stage_unread();
	writes_meanwhile = false;
	ck_assert_uint_gt(looks, 1);
	ck_assert_uint_ge(unread, before);
	ck_assert_uint_lt(unread, before + POOL_RECORDS);
	stage_take_all();
	stage_assert_account();
}
END_TEST

/* A circle of chunks that each ring says is its own. */
static void spoil(void)
{
	struct ptx_rings *rings = &stage.pool->rings;
	uint64_t first = atomic_load(&rings->ring[one.ring].first), link = first, next;

	while ((next = atomic_load(&ptx_ring_chunk(rings, ptx_link_number(link))->next)) != 0)
		link = next;
	atomic_store(&ptx_ring_chunk(rings, ptx_link_number(link))->next, first);
	atomic_store(&rings->word[ptx_link_number(link)],
		     ptx_chunk_word(ptx_link_generation(link), one.ring, PTX_CHUNK_CLOSED));
	for (unsigned i = 0; i < RINGS; i++) {
		atomic_store(&rings->ring[more[i].ring].first, first);
		atomic_store(&rings->ring[more[i].ring].current, ptx_link(CHUNKS - 1, 7));
	}
}

START_TEST(a_ledger_of_hostile_chains_ends_after_a_few_looks_at_each_chunk)
{
	begin(POSIX_TRACE_LOOP);
	for (unsigned i = 0; i < RINGS; i++)
		writer_begin(&more[i], stage.pool, 20 + i);
	writer_put_many(&one, 1, 30 * POOL_RECORDS);
	spoil();
	looks = 0;
	(void)stage_unread();
	ck_assert_uint_gt(looks, CHUNKS);
	ck_assert_uint_le(looks, 4 * ptx_drain_chunks(stage.drain));
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("drain: the account", &tc);

	tcase_add_loop_test(tc, what_comes_after_a_ledger_began_is_not_in_it_but_for_a_chunk, 0, 2);
	tcase_add_test(tc, a_ledger_of_hostile_chains_ends_after_a_few_looks_at_each_chunk);
	return s;
}

SUITE_MAIN_OF(suite)
