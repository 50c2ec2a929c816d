/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes random values at random places of an arena whose streams are in use. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arena/attachment.h"
#include "soak/scribble.h"

struct arena_seen {
	unsigned char *control; /* including the names, and everything before the first region */
	unsigned char *region;
	struct ptx_geometry geometry;
};

static bool see(int fd, struct arena_seen *seen)
{
	const struct ptx_control *control;
	struct ptx_arena arena = { .bytes = UINT64_C(1) << 40 };
	struct ptx_attachment_plan plan;

	seen->control = mmap(NULL, PTX_REGIONS_AT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (seen->control == MAP_FAILED)
		return false;
	control = (const void *)seen->control;
	arena.control = (struct ptx_control *)(void *)seen->control;
	for (unsigned bit = 0; bit < PTX_STREAMS; bit++) {
		if (ptx_attachment_state(atomic_load(&control->attachment[bit].word)) !=
			    PTX_ATTACHMENT_ATTACHED ||
		    !ptx_attachment_plan(&arena, bit, &plan))
			continue;
		seen->geometry = plan.geometry;
		seen->region = mmap(NULL, plan.geometry.bytes, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_NORESERVE, fd, (off_t)plan.offset);
		return seen->region != MAP_FAILED;
	}
	return false;
}

static unsigned char *record_header(const struct arena_seen *seen, bool of_chunk)
{
	unsigned char *chunk = seen->region + seen->geometry.chunks_at +
			       (size_t)below(seen->geometry.chunks) * seen->geometry.chunk_bytes;

	if (of_chunk)
		return chunk + 8 * below(sizeof(struct ptx_chunk) / 8);
	return chunk + sizeof(struct ptx_chunk) +
	       8 * below(below(2) ? 32 : seen->geometry.chunk_room / 8);
}

/* Each part is chosen equally often, independent of its size. */
static unsigned char *somewhere(const struct arena_seen *seen)
{
	const struct ptx_geometry *g = &seen->geometry;
	const struct { size_t at, bytes; } part[] = {
		{ 0, sizeof(struct ptx_region) },
		{ 0, offsetof(struct ptx_region, lost_type) },
		{ g->words_at, g->chunks * 8 },
		{ g->claimed_at, g->chunks * 8 },
		{ g->rings_at, 20 * sizeof(struct ptx_ring) },
		{ g->slots_at, 20 * sizeof(struct ptx_slot) },
		{ g->hints_at[0][0], g->hints_first - g->hints_at[0][0] },
		{ g->checkpoint_at, 512 },
	};
	unsigned which = below(16);

	switch (which) {
	case 8:
		return seen->control + 8 * below(offsetof(struct ptx_control, attachment) / 8);
	case 9:
		return seen->control + offsetof(struct ptx_control, attachment) +
		       8 * below(4 * sizeof(struct ptx_attachment) / 8);
	case 10:
		return seen->control + offsetof(struct ptx_control, member) +
		       8 * below(8 * sizeof(struct ptx_member) / 8);
	case 11:
		return seen->control + PTX_NAMES_AT + 8 * below(2048);
	case 12:
		return seen->control + 8 * below(PTX_REGIONS_AT / 8);
	case 13:
		return record_header(seen, true);
	case 14:
	case 15:
		return record_header(seen, false);
	default:
		return seen->region + part[which].at + 8 * below(part[which].bytes / 8);
	}
}

static void write_anything(const struct arena_seen *seen)
{
	_Atomic uint64_t *word = (void *)somewhere(seen);
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed), fresh;

	switch (below(8)) {
	case 0:
		fresh = any();
		break;
	case 1:
		fresh = below(0x10000);
		break;
	case 2:
		fresh = UINT64_MAX;
		break;
	case 3:
		fresh = 0;
		break;
	case 4:
		fresh = old ^ UINT64_C(1) << below(64);
		break;
	case 5:
		fresh = old + below(17) - 8;
		break;
	case 6: /* half a word */
		fresh = (old & ~UINT64_C(0xffffffff)) | (any() & UINT64_C(0xffffffff));
		break;
	default: /* a value copied from another place, where it was valid */
		fresh = atomic_load_explicit((_Atomic uint64_t *)(void *)somewhere(seen),
					     memory_order_relaxed);
	}
	atomic_store_explicit(word, fresh, memory_order_relaxed);
}

/* Descriptor 200 of a process, or the first one above that is an arena, is its arena. */
static int open_arena(pid_t pid)
{
	char path[64];
	int fd = -1;

	for (int n = PTX_ARENA_FD_MIN; fd < 0 && n < PTX_ARENA_FD_MIN + 8; n++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, n);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	return fd;
}

void scribble(pid_t pid)
{
	struct arena_seen seen;
	int fd = open_arena(pid);

	if (fd < 0 || !see(fd, &seen)) {
		blame("scribbler", "finds no stream", fd);
		return;
	}
	for (int i = 0; i < WRITES_A_ROUND; i++) {
		write_anything(&seen);
		if (below(8) == 0)
			usleep(below(100));
	}
}
