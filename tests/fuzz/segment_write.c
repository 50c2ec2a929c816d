/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz/segment.h"

#include <stdint.h>
#include <sys/mman.h>

#include "arena/attachment.h"
#include "fuzz/fuzz.h"

static struct seen {
	unsigned char *control, *region;
	struct ptx_geometry geometry;
} seen;

void segment_see(void)
{
	struct ptx_attachment_plan plan;
	int fd = ptx_arena_fd(&ptx_arena_self);

	seen.control = mmap(NULL, PTX_REGIONS_AT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	FUZZ_MUST(seen.control != MAP_FAILED && ptx_attachment_plan(&ptx_arena_self, 0, &plan),
		  "no stream to be seen");
	seen.geometry = plan.geometry;
	seen.region = mmap(NULL, plan.geometry.bytes, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_NORESERVE, fd, (off_t)plan.offset);
	FUZZ_MUST(seen.region != MAP_FAILED, "no region to be seen");
}

struct part {
	unsigned char *at;
	size_t bytes;
};

static struct part part_of(unsigned which, unsigned place)
{
	const struct ptx_geometry *g = &seen.geometry;
	size_t queues = g->hints_first - g->hints_at[0][0];
	unsigned char *chunk = seen.region + g->chunks_at +
			       (place / 512 % g->chunks) * g->chunk_bytes;
	const struct part part[] = {
		{ seen.region, offsetof(struct ptx_region, lost_type) },
		{ seen.region + offsetof(struct ptx_region, lost_type),
		  sizeof(struct ptx_region) - offsetof(struct ptx_region, lost_type) },
		{ seen.region + g->words_at, g->chunks * 8 },
		{ seen.region + g->claimed_at, g->chunks * 8 },
		{ seen.region + g->rings_at, 4 * sizeof(struct ptx_ring) },
		{ seen.region + g->slots_at, 4 * sizeof(struct ptx_slot) },
		{ seen.region + g->hints_at[0][0], queues },
		{ seen.region + g->checkpoint_at, PTX_CHECKPOINT_BASE },
		{ seen.control, offsetof(struct ptx_control, attachment) },
		{ seen.control + offsetof(struct ptx_control, attachment),
		  4 * sizeof(struct ptx_attachment) },
		{ seen.control + offsetof(struct ptx_control, member),
		  8 * sizeof(struct ptx_member) },
		{ seen.control + PTX_NAMES_AT, sizeof(struct ptx_names) },
		{ seen.control + PTX_NAMES_AT + sizeof(struct ptx_names),
		  sizeof(struct ptx_lists) - sizeof(struct ptx_names) },
		{ chunk, sizeof(struct ptx_chunk) },
		{ chunk + sizeof(struct ptx_chunk), g->chunk_room },
		{ seen.region + g->info_at, PTX_STREAM_INFO_BYTES },
	};

	return part[which % (sizeof(part) / sizeof(part[0]))];
}

static _Atomic uint64_t *word_at(unsigned which, unsigned place)
{
	struct part part = part_of(which, place);

	return (void *)(part.at + (part.bytes < 8 ? 0 : 8 * (place % (part.bytes / 8))));
}

void segment_write(unsigned part, unsigned place, unsigned kind, unsigned value)
{
	_Atomic uint64_t *word = word_at(part, place);
	uint64_t small = (uint64_t)(int64_t)(int16_t)value, old = atomic_load(word);

	switch (kind % 7) {
	case 0:
		old = small;
		break;
	case 1:
		old = UINT64_MAX;
		break;
	case 2:
		old ^= UINT64_C(1) << value % 64;
		break;
	case 3:
		old += small;
		break;
	case 4:
		old = (old & ~UINT64_C(0xffffffff)) | (small & UINT64_C(0xffffffff));
		break;
	case 5:
		old = (old & UINT64_C(0xffffffff)) | small << 32;
		break;
	default:
		old = atomic_load(word_at(value, value / 16));
	}
	atomic_store(word, old);
}
