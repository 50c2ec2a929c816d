/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The geometry of streams and PTX_ARENA_VERSION. Processes with different releases of the library
 * share a stream only if both compute the same geometry from its sizes. So each version of the
 * arena has one geometry, which this table has as a checksum.
 */
#include <errno.h>
#include <inttypes.h>

#include "arena/arena.h"
#include "ring/ring.h"
#include "support/support.h"

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

/*
 * A line never changes. If the geometry changes, raise PTX_ARENA_VERSION and add a line; the test
 * prints the new checksum.
 */
static const struct {
	unsigned version;
	uint64_t checksum;
} versions[] = {
	{ 21, UINT64_C(0x3f12e0e787d4e8cd) },
};

/* The most important numbers of the present geometry. They show the effect of a change. */
static const struct {
	size_t stream_size, max_data_size;
	uint32_t rings;
	size_t chunk_bytes, small_bytes;
	uint32_t chunks, few_rings, large;
	size_t bytes;
} plans[] = {
	{ 64 * KIB, 1024, PTX_RINGS, 8192, 1168, 10, 11, 43, 24707072 },
	{ MIB, 64, PTX_RINGS, 16384, 416, 66, 35, 171, 26783744 },
	{ MIB, 1024, PTX_RINGS, 16384, 1168, 69, 33, 168, 29298688 },
	{ MIB, 8192, PTX_RINGS, 8336, 8336, 254, 0, 254, 55693312 },
	{ 4 * MIB, 1024, PTX_RINGS, 16384, 1168, 276, 122, 642, 44113920 },
	{ 4 * MIB, 1024, PTX_RINGS_FEW, 16384, 1168, 276, 122, 642, 25100288 },
	{ MIB, 65536, PTX_RINGS, 65680, 65680, 32, 0, 32, 271663104 },
	{ 1024 * MIB, 1024, PTX_RINGS, 16384, 1168, 70493, 1024, 73565, 1298182144 },
};
enum { PLANS = sizeof plans / sizeof *plans };

static uint64_t add_value(uint64_t sum, uint64_t value)
{
	for (int byte = 0; byte < 8; byte++)
		sum = (sum ^ (value >> 8 * byte & 0xff)) * UINT64_C(0x100000001b3);
	return sum;
}

/*
 * Adds the members about which the processes of a stream must agree. `memory` and `ring_memory` are
 * no such members: they limit the growth of the pool only in the process that grows it.
 */
static uint64_t add_geometry(uint64_t sum, const struct ptx_geometry *g)
{
	const uint64_t value[] = {
		g->chunk_bytes, g->chunk_room, g->small_bytes, g->small_room, g->record_max,
		g->rings, g->few_rings, g->is_tight, g->chunks, g->present, g->required,
		g->chunks_max, g->large, g->near_chunks, g->hints_first, g->words_at,
		g->claimed_at, g->present_at, g->rings_at, g->slots_at, g->checkpoint_at,
		g->info_at, g->chunks_at, g->small_at, g->skips_at, g->bytes, g->bytes_first,
		g->far_bytes, g->capacity,
	};

	for (size_t i = 0; i < sizeof value / sizeof *value; i++)
		sum = add_value(sum, value[i]);
	for (int tier = 0; tier < PTX_TIERS; tier++) {
		sum = add_value(sum, g->tier_rings[tier]);
		for (int kind = 0; kind < PTX_HINTS; kind++) {
			sum = add_value(sum, g->hint_last[kind][tier]);
			sum = add_value(sum, g->hints_at[kind][tier]);
		}
	}
	return sum;
}

START_TEST(the_geometry_of_a_version_of_the_arena_never_changes)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325), recorded = 0;

	for (size_t size = 1; size <= 1024 * MIB; size += size / 2 + 1)
		for (size_t most = 0; most <= 4 * MIB; most += most / 2 + 1)
			for (int far = 0; far < 2; far++) {
				struct ptx_geometry geometry = { 0 };
				int err = ptx_ring_plan(size, most,
							far ? PTX_RINGS : PTX_RINGS_FEW, &geometry);

				sum = add_value(sum, (uint64_t)err);
				if (!err)
					sum = add_geometry(sum, &geometry);
			}
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		if (versions[i].version == PTX_ARENA_VERSION)
			recorded = versions[i].checksum;
	ck_assert_msg(sum == recorded,
		      "ptx_ring_plan() gives another geometry than version %u of the arena has: "
		      "checksum 0x%016" PRIx64 ", recorded 0x%016" PRIx64 ". Raise "
		      "PTX_ARENA_VERSION (lib/arena/arena.h) and add a line to versions[].",
		      PTX_ARENA_VERSION, sum, recorded);
}
END_TEST

START_TEST(usual_streams_have_these_chunks)
{
	for (size_t i = 0; i < PLANS; i++) {
		struct ptx_geometry g = { 0 };

		OK(ptx_ring_plan(plans[i].stream_size, plans[i].max_data_size, plans[i].rings, &g));
		ck_assert_msg(g.chunk_bytes == plans[i].chunk_bytes &&
				      g.small_bytes == plans[i].small_bytes &&
				      g.chunks == plans[i].chunks &&
				      g.few_rings == plans[i].few_rings &&
				      g.large == plans[i].large && g.bytes == plans[i].bytes,
			      "%zu, %zu, %u: { %zu, %zu, %u, %u, %u, %zu }", plans[i].stream_size,
			      plans[i].max_data_size, plans[i].rings, g.chunk_bytes, g.small_bytes,
			      g.chunks, g.few_rings, g.large, g.bytes);
	}
}
END_TEST

SUITE_MAIN("arena: geometry", the_geometry_of_a_version_of_the_arena_never_changes,
	   usual_streams_have_these_chunks)
