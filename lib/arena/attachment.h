/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/attachment.h - the streams of an arena, as processes tell one another of them.
 *
 * A creator claims a place, makes the region, and publishes it; a traced process maps what it finds
 * at its next event (point/adopt.c). Nobody waits for anybody: whoever is killed leaves a place
 * whose lock the kernel has let go of, and the next one who looks makes it free.
 *
 * Threads   all; claims of one process are told apart by the arena's own mask.
 * Signals   ptx_attachment_is_orphan() and _bury() are async-signal-safe.
 */
#ifndef PTX_ARENA_ATTACHMENT_H
#define PTX_ARENA_ATTACHMENT_H

#include <fcntl.h>

#include "arena/arena.h"

/* What the facts of an attachment say of its region; false: nobody can have made such a stream. */
struct ptx_attachment_plan {
	uint64_t offset;
	size_t max_data_size;
	struct ptx_geometry geometry;
};
bool ptx_attachment_plan(const struct ptx_arena *arena, unsigned bit,
			 struct ptx_attachment_plan *plan);

static inline uint64_t ptx_attachment_make(uint64_t generation, enum ptx_attachment_state state)
{
	return generation << 8 | state;
}

static inline enum ptx_attachment_state ptx_attachment_state(uint64_t word)
{
	return (enum ptx_attachment_state)(word & 0xff);
}

static inline uint64_t ptx_attachment_generation(uint64_t word)
{
	return word >> 8;
}

/*
 * A place for a stream: EAGAIN when PTX_STREAMS are taken. What a dead creator had there is given
 * back.
 */
int ptx_attachment_claim(struct ptx_arena *arena, unsigned *bit, uint64_t *generation);

/*
 * The facts by which others find the region, and give its memory back should this process be gone.
 */
void ptx_attachment_place(struct ptx_arena *arena, unsigned bit, uint64_t offset,
			  const struct ptx_geometry *geometry, uint64_t max_data_size);

/* From now on processes find it; its facts stand in the attachment already. */
void ptx_attachment_publish(struct ptx_arena *arena, unsigned bit, uint64_t generation);

/* From now on they do not, but the place is still the claimant's. */
void ptx_attachment_hide(struct ptx_arena *arena, unsigned bit, uint64_t generation);

/* Gives the place back, claimed or published. */
void ptx_attachment_retract(struct ptx_arena *arena, unsigned bit, uint64_t generation);

/* The lock that a creator holds on the arena's file, for fcntl(); and that of its guardian. */
struct flock ptx_attachment_lock(unsigned bit, short type);
struct flock ptx_attachment_guard_lock(unsigned bit);

/* Its creator is gone, and was another process than this. */
bool ptx_attachment_is_orphan(const struct ptx_arena *arena, unsigned bit);

/*
 * By its creator: that it has the lock by which a guardian knows that it lives. The system may lack
 * locks.
 */
bool ptx_attachment_hold(const struct ptx_arena *arena, unsigned bit);

/*
 * Waits until the creator lets go of it, or is gone; until then and after it is no orphan. False
 * where that cannot be had.
 */
bool ptx_attachment_guard(const struct ptx_arena *arena, unsigned bit);

/* Takes an orphan's place from it, and gives its memory back. */
void ptx_attachment_bury(struct ptx_arena *arena, unsigned bit, uint64_t generation);

#endif
