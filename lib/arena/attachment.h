/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/attachment.h - the table of an arena's streams.
 *
 * An arena has 64 places for streams, called attachments. The parameter `bit` is the number of a
 * place. A creator claims a place, makes the region of the stream, and publishes the place. At its
 * next event a traced process finds the stream and maps its region (point/adopt.c). No process
 * waits for another process. If a creator is killed, the kernel releases the creator's lock of the
 * place, and the next process that examines the place frees it. arena/DESIGN 2 has the steps and
 * their order.
 *
 * Threads   any; the mask `claims` of struct ptx_arena keeps the claims of the threads of one
 *           process apart.
 * Signals   ptx_attachment_is_orphan() and _bury() are async-signal-safe.
 */
#ifndef PTX_ARENA_ATTACHMENT_H
#define PTX_ARENA_ATTACHMENT_H

#include <fcntl.h>

#include "arena/arena.h"

/*
 * The region that the facts of an attachment describe. ptx_attachment_plan() reads and checks the
 * facts. It returns false if the facts are impossible.
 */
struct ptx_attachment_plan {
	uint64_t offset;
	size_t max_data_size;
	struct ptx_geometry geometry;
};
bool ptx_attachment_plan(const struct ptx_arena *arena, unsigned bit,
			 struct ptx_attachment_plan *plan);

/* The word of an attachment, and its two parts. */
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
 * Claims a place for a stream, and gives back the memory that a dead creator has left at this
 * place. Returns 0 or EAGAIN: all PTX_STREAMS places are in use. After the claim, only the claimant
 * may call ptx_attachment_place(), _publish(), _hide() and _retract() for this place.
 */
int ptx_attachment_claim(struct ptx_arena *arena, unsigned *bit, uint64_t *generation);

/*
 * Stores the offset and the sizes of the region in the attachment. Other processes need them to map
 * the region, and to give its memory back if this process dies.
 */
void ptx_attachment_place(struct ptx_arena *arena, unsigned bit, uint64_t offset,
			  const struct ptx_geometry *geometry, uint64_t max_data_size);

/* Makes the stream visible to other processes. The caller has stored all facts before. */
void ptx_attachment_publish(struct ptx_arena *arena, unsigned bit, uint64_t generation);

/* Makes the stream invisible; the place remains claimed. */
void ptx_attachment_hide(struct ptx_arena *arena, unsigned bit, uint64_t generation);

/* Frees the place. The place may be claimed or published. */
void ptx_attachment_retract(struct ptx_arena *arena, unsigned bit, uint64_t generation);

/*
 * Return the argument of fcntl() for a record lock on the arena's file. ptx_attachment_lock() is
 * for the creator's lock, and ptx_attachment_guard_lock() for the lock of a guardian. A stream that
 * changes from one log to the next has two guardians for a moment, with the locks 0 and 1.
 */
struct flock ptx_attachment_lock(unsigned bit, short type);
struct flock ptx_attachment_guard_lock(unsigned bit, unsigned which);

/*
 * Returns true if the place is an orphan: its creator was another process and is gone, and no
 * guardian works on it.
 */
bool ptx_attachment_is_orphan(const struct ptx_arena *arena, unsigned bit);

/*
 * Called by the creator: acquires its record lock again. A guardian waits for this lock. Returns
 * false if the lock could not be acquired.
 */
bool ptx_attachment_hold(const struct ptx_arena *arena, unsigned bit);

/*
 * Called by a guardian: waits until the creator has released its lock or is gone. As long as the
 * guardian lives, it holds a lock of its own, number `which`, so the place is no orphan. Returns
 * false if the system refuses the locks.
 *
 * ptx_attachment_guard_yield() releases the creator's lock for a moment, so that the other guardian
 * of the place can acquire it, and acquires it again. Returns false if there is no other guardian,
 * or if the creator's lock could not be acquired again.
 */
bool ptx_attachment_guard(const struct ptx_arena *arena, unsigned bit, unsigned which);
bool ptx_attachment_guard_yield(const struct ptx_arena *arena, unsigned bit, unsigned which);

/* Frees the place of an orphan, and gives its memory back. */
void ptx_attachment_bury(struct ptx_arena *arena, unsigned bit, uint64_t generation);

#endif
