/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Garbage in all shared memory, while a writer and a reader continue: no access is outside the
 * region. */
#include <errno.h>
#include <sys/mman.h>

#include "ring/overwrite.h"
#include "support/random.h"
#include "support/support.h"
#include "unit/ring/pool.h"

#define PAGE 4096u

static struct pool *pool;
static uint64_t state = 88172645463325252u;

/* Makes a region of a stream's size. Its last chunk ends at the last accessible byte. */
static void make_guarded(bool loop)
{
	static struct pool guarded;
	struct ptx_geometry geometry;
	unsigned char *memory;

	OK(ptx_ring_plan(8192, 64, PTX_RINGS_FEW, &geometry));
	memory = mmap(NULL, geometry.bytes + 2 * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	OK(mprotect(memory, PAGE, PROT_NONE));
	OK(mprotect(memory + PAGE + geometry.bytes, PAGE, PROT_NONE));
	pool = pool_make(1, loop);
	guarded.rings.back = pool->rings.back;
	ptx_ring_view(&guarded.rings, memory + PAGE, &geometry, 64, loop);
	ptx_ring_init(&guarded.rings);
	pool = &guarded;
}

/*
 * Writes garbage into some or all of the shared memory. Each head remains a multiple of 8. With
 * another head a writer would write unaligned records, which the processors allow and the sanitizer
 * does not.
 */
static void scribble(unsigned percent)
{
	const struct ptx_geometry *geometry = &pool->rings.geometry;
	uint64_t *word = (uint64_t *)(void *)pool->rings.region;
	size_t words = geometry->bytes_first / sizeof *word;
	size_t chunks_at = geometry->chunks_at / sizeof *word;
	size_t chunk_words = geometry->chunk_bytes / sizeof *word;

	for (size_t i = 0; i < words; i++) {
		uint64_t value = random_word(&state);

		if (value % 100 >= percent)
			continue;
		value = random_word(&state);
		switch (value & 3) {
		case 0: /* a plausible word of a chunk, link or head */
			value = (value >> 8 & 3) << 32 | (value >> 16 & 0xff);
			break;
		case 1:
			value = (value >> 8 & 3) << 32 | (value >> 16 & 0x1f) << 8 |
				(value >> 40) % 5;
			break;
		default:
			break;
		}
		if (i >= chunks_at && (i - chunks_at) % chunk_words < 2) /* head, window */
			value &= ~UINT64_C(7);
		word[i] = value;
	}
}

/* Calls all functions of a writer and a reader, in some order. */
static void do_something(struct ptx_chunk **chunk, uint32_t *ring, struct ptx_place *place)
{
	struct ptx_rings *rings = &pool->rings;
	static unsigned char buffer[1 << 14];
	struct ptx_ident ident = { 1, 2, 3, (uint32_t)random_word(&state), 0 };
	struct ptx_record *record;
	struct ptx_writer seen;
	enum ptx_writer_loss loss;
	struct ptx_reader one = { .rings = rings, .buffer = buffer, .place = *place };
	uint32_t before;
	uint64_t head;

	switch (random_word(&state) % 12) {
	case 0:
		*chunk = ptx_ring_claim(rings, &ident, ring, &loss);
		break;
	case 1:
		if (*chunk)
			ptx_ring_turn(rings, chunk, &ident, &pool_loss);
		break;
	case 2:
		*ring = (uint32_t)random_word(&state) % rings->geometry.rings;
		*chunk = ptx_ring_mend(rings, *ring);
		break;
	case 3:
	case 4:
		if (!*chunk)
			break;
		record = ptx_ring_prepare(rings, *chunk, ptx_record_size(64), &head);
		if (!record)
			break;
		ptx_record_fill(record, 64, 100, 0);
		ptx_copy_in((unsigned char *)(record + 1), buffer, 64);
		ptx_ring_stamp(*chunk, head);
		ptx_ring_publish(*chunk, record, head, ptx_record_size(64), 1);
		break;
	case 5:
		ptx_ring_release(rings, *ring % rings->geometry.rings);
		*chunk = NULL;
		break;
	case 6:
		ptx_slot_release(rings, ptx_slot_claim(rings, 1, 2, 3));
		break;
	case 7:
		ptx_overwrite(rings, (uint32_t)random_word(&state) % rings->geometry.chunks_max,
			      PTX_NONE, (uint32_t)random_word(&state) % rings->geometry.rings);
		break;
	case 8:
		ptx_ring_find(rings, (uint32_t)random_word(&state) % rings->geometry.rings, place,
			      &before);
		break;
	case 9:
		ptx_ring_watch(rings, (uint32_t)random_word(&state) % rings->geometry.rings, &seen);
		(void)ptx_ring_published(rings);
		break;
	case 10:
		one.ring = (uint32_t)random_word(&state) % rings->geometry.rings;
		ptx_ring_look(&one);
		*place = one.place;
		break;
	default:
		one.ring = (uint32_t)random_word(&state) % rings->geometry.rings;
		ptx_ring_take(&one);
		*place = one.place;
		break;
	}
}

START_TEST(no_access_leaves_a_region_with_any_content)
{
	static const unsigned percents[] = { 1, 10, 50, 100 };
	struct ptx_place place = { 0, 0 };
	struct ptx_chunk *chunk = NULL;
	uint32_t ring = 0;

	for (int i = 0; i <= _i; i++)
		(void)random_word(&state);
	make_guarded(_i % 2);
	for (int round = 0; round < 20; round++) {
		scribble(percents[_i / 2 % 4]);
		for (int i = 0; i < 100; i++)
			do_something(&chunk, &ring, &place);
	}
	munmap((unsigned char *)pool->rings.region - PAGE, pool->rings.geometry.bytes + 2 * PAGE);
}
END_TEST

static Suite *suite(void)
{
	TCase *tc;
	Suite *s = support_suite("ring: garbage", &tc);

	tcase_add_loop_test(tc, no_access_leaves_a_region_with_any_content, 0, 32);
	return s;
}

SUITE_MAIN_OF(suite)
