/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/attachment.c - claims, publishes and frees the places of an arena's streams.
 *
 * arena/DESIGN 2 has the states, the invariants I1 to I5 and the steps 1 to 13. The process may be
 * killed at every step. The comments explain in which state a killed process leaves the place, and
 * which later step repairs this state. Hostile processes may write anything to the shared words, so
 * the loops that change such words are bounded.
 *
 * The facts are the description of the stream in its attachment. An orphan is a place whose creator
 * is gone.
 */
#include "arena/attachment.h"
#include "arena/silence.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/*
 * The offsets of the bytes that are locked: one byte for each creator, and two bytes for the
 * guardians of each place. The locks are advisory, so they do not affect the control page, which
 * has these bytes.
 */
#define LOCKS_AT  0
#define GUARDS_AT PTX_STREAMS
#define GUARDS    2u

#define YIELD_NS 1000000 /* how long a guardian lets another guardian go first */

/* Bounds for loops over words that a hostile process may change all the time. */
#define COUNT_TRIES 1000
#define CLAIM_TRIES 8

/*
 * Returns the description of a record lock on one byte. A record lock belongs to the process and
 * not to the descriptor (arena/DESIGN 5).
 */
static struct flock byte_lock(unsigned byte, short type)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
}

struct flock ptx_attachment_lock(unsigned bit, short type)
{
	return byte_lock(LOCKS_AT + bit, type);
}

static unsigned guard_byte(unsigned bit, unsigned which)
{
	return GUARDS_AT + which % GUARDS * PTX_STREAMS + bit;
}

struct flock ptx_attachment_guard_lock(unsigned bit, unsigned which)
{
	return byte_lock(guard_byte(bit, which), F_WRLCK);
}

/*
 * Sets or frees the creator's lock without waiting. Returns EBADF if the arena has no file, and
 * ENOLCK if the program has closed the descriptor of the file.
 */
static int set_lock(const struct ptx_arena *arena, unsigned bit, short type)
{
	/* F_SETLK returns immediately: the library never waits in the traced program. */
	struct flock lock = ptx_attachment_lock(bit, type);
	int fd = ptx_arena_fd(arena), saved = errno, err;

	if (fd < 0)
		return arena->fd < 0 ? EBADF : ENOLCK;
	err = fcntl(fd, F_SETLK, &lock) ? errno : 0;
	errno = saved;
	return err;
}

enum locked { LOCKED, ANOTHERS, REFUSED };

/*
 * Tries to lock a place. Linux returns EAGAIN if another process has the lock. After any other
 * error it is unknown whether another process has the place.
 */
static enum locked attachment_lock(const struct ptx_arena *arena, unsigned bit)
{
	switch (set_lock(arena, bit, F_WRLCK)) {
	case 0:
	case EBADF: /* no file, so no other process has the arena */
		return LOCKED;
	case EAGAIN:
		return ANOTHERS;
	default:
		return REFUSED;
	}
}

bool ptx_attachment_hold(const struct ptx_arena *arena, unsigned bit)
{
	return set_lock(arena, bit, F_WRLCK) == 0;
}

/* Releases the creator's lock (arena/DESIGN 2, step 13), also after a claim that failed. */
static void attachment_unlock(const struct ptx_arena *arena, unsigned bit)
{
	set_lock(arena, bit, F_UNLCK);
}

/*
 * Returns true if another process holds the lock of the byte. Also returns true after an error,
 * because a stream may be buried only if its creator is certainly gone.
 */
static bool is_locked(int fd, unsigned byte)
{
	struct flock lock = byte_lock(byte, F_WRLCK);
	int saved = errno;
	bool locked = fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;

	errno = saved;
	return locked;
}

/* Returns whether a guardian other than this process works on the place. */
static bool has_guardian(int fd, unsigned bit)
{
	return is_locked(fd, guard_byte(bit, 0)) || is_locked(fd, guard_byte(bit, 1));
}

bool ptx_attachment_guard(const struct ptx_arena *arena, unsigned bit, unsigned which)
{
	struct flock guard = ptx_attachment_guard_lock(bit, which);
	struct flock lock = ptx_attachment_lock(bit, F_WRLCK);

	/*
	 * The guardian acquires its own lock first and then the creator's lock (arena/DESIGN 4).
	 * The guardian of the former stream of this place may still hold the guardian's lock,
	 * because it is about to end. F_SETLKW waits for it.
	 */
	return fcntl(arena->fd, F_SETLKW, &guard) == 0 && fcntl(arena->fd, F_SETLKW, &lock) == 0;
}

/*
 * A process that waits for a lock does not get it in the moment in which the lock becomes free, so
 * this process pauses. Meanwhile the locks of the guardians show that the place is no orphan.
 */
bool ptx_attachment_guard_yield(const struct ptx_arena *arena, unsigned bit, unsigned which)
{
	const struct timespec pause = { .tv_nsec = YIELD_NS };
	struct flock lock = ptx_attachment_lock(bit, F_WRLCK);

	if (!is_locked(arena->fd, guard_byte(bit, which + 1)))
		return false;
	set_lock(arena, bit, F_UNLCK);
	nanosleep(&pause, NULL);
	return fcntl(arena->fd, F_SETLKW, &lock) == 0;
}

/*
 * Returns true if the creator could not lock the place. In this case it is unknown whether the
 * creator lives.
 */
static bool is_unlocked(const struct ptx_arena *arena, unsigned bit)
{
	return atomic_load_explicit(&arena->control->attachment[bit].unlocked,
				    memory_order_acquire);
}

/*
 * A place is an orphan if the creator's lock and the guardians' locks are free. F_GETLK does not
 * show a process's own locks, so the function returns false for the places that this process has
 * claimed. It also returns false if the creator has no lock (is_unlocked()), or if this process has
 * no descriptor of the arena.
 */
bool ptx_attachment_is_orphan(const struct ptx_arena *arena, unsigned bit)
{
	int fd = ptx_arena_fd(arena);

	/*
	 * `claims` shows the places that this process has claimed. The record locks do not show
	 * them reliably: the process loses its locks when the program closes a descriptor of the
	 * file (arena/DESIGN L4).
	 */
	if (fd < 0 || atomic_load_explicit(&arena->claims, memory_order_acquire) >> bit & 1 ||
	    is_unlocked(arena, bit))
		return false;
	return !is_locked(fd, LOCKS_AT + bit) && !has_guardian(fd, bit);
}

/*
 * Counts the bits in `attached`, stores the count in the word of the control page, and advances the
 * epoch (arena/DESIGN I4, I5). If a process is killed after it has changed a bit and before this
 * call, the count is wrong. So this function counts all bits, and does not add 1 to the old count.
 * The next call then repairs a wrong count. The last exchange that succeeds has counted all bits
 * that were set before.
 */
static void count_anew(struct ptx_control *control)
{
	uint64_t word = atomic_load_explicit(&control->word, memory_order_acquire), next;

	/*
	 * Clears the bytes of silence.h before the count of streams changes, because these bytes
	 * are valid only while exactly one stream is attached.
	 */
	ptx_silence_clear(control);
	/* The loop is bounded, because a hostile process may change the word all the time. */
	for (int i = 0; i < COUNT_TRIES; i++) {
		uint64_t attached = atomic_load_explicit(&control->attached, memory_order_acquire);

		/*
		 * One exchange changes both epoch and count, so a trace point never sees only one
		 * of the two changes.
		 */
		next = (word & ~(PTX_CONTROL_EPOCH - 1)) + PTX_CONTROL_EPOCH +
		       (uint64_t)__builtin_popcountll(attached);
		if (atomic_compare_exchange_strong_explicit(&control->word, &word, next,
							    memory_order_acq_rel,
							    memory_order_acquire))
			return;
	}
}

/*
 * Removes the stream from the streams that the members have inherited. A member is a process that
 * is traced because it inherited a stream.
 */
static void forget_members(struct ptx_control *control, unsigned bit)
{
	for (unsigned i = 0; i < PTX_MEMBERS; i++)
		if (atomic_load_explicit(&control->member[i].bits, memory_order_seq_cst) >> bit & 1)
			atomic_fetch_and_explicit(&control->member[i].bits, ~(UINT64_C(1) << bit),
						  memory_order_relaxed);
}

/*
 * Changes the word of a place from the value `from` to the value `to`, and clears the bit of the
 * place in `attached` and in the masks of the members. The state in `to` is not ATTACHED. Returns
 * false if the word was not `from`. If the process is killed after the exchange, the bits remain
 * until the next claim of the place clears them (step 4).
 */
static bool change_word(struct ptx_arena *arena, unsigned bit, uint64_t from, uint64_t to)
{
	struct ptx_control *control = arena->control;
	const uint64_t mask = UINT64_C(1) << bit;

	/* Only one process succeeds, and only this process clears the bits (arena/DESIGN I2). */
	if (!atomic_compare_exchange_strong_explicit(&control->attachment[bit].word, &from, to,
						     memory_order_seq_cst, memory_order_relaxed))
		return false;
	forget_members(control, bit);
	/* Counts anew only if the bit was set, because otherwise the count does not change. */
	if (atomic_fetch_and_explicit(&control->attached, ~mask, memory_order_release) & mask)
		count_anew(control);
	return true;
}

/*
 * The facts are copied first, and the copies are checked, because another process may change the
 * facts meanwhile. The geometry is computed from the sizes, so no offset inside the region comes
 * from shared memory.
 */
bool ptx_attachment_plan(const struct ptx_arena *arena, unsigned bit,
			 struct ptx_attachment_plan *plan)
{
	const volatile struct ptx_attachment *attachment = &arena->control->attachment[bit];

	/* volatile: each fact is read once, and the copy is checked. */
	plan->offset = attachment->offset;
	plan->max_data_size = attachment->max_data_size;
	return plan->max_data_size <= PTX_RECORD_LEN_MAX &&
	       ptx_ring_plan(attachment->stream_size, plan->max_data_size, attachment->rings,
			     &plan->geometry) == 0 &&
	       ptx_arena_holds(arena, plan->offset,
			       plan->geometry.bytes + plan->geometry.far_bytes);
}

/*
 * Step 1: claims the place, so that no other thread of this process uses it. A record lock belongs
 * to the process and cannot exclude other threads. Returns false if another thread has the place.
 */
static bool set_claim(struct ptx_arena *arena, unsigned bit)
{
	const uint64_t mask = UINT64_C(1) << bit;

	return !(atomic_fetch_or_explicit(&arena->claims, mask, memory_order_acq_rel) & mask);
}

/*
 * Ends the claim. The release order makes all work on the place visible to the thread that claims
 * the place next.
 */
static void clear_claim(struct ptx_arena *arena, unsigned bit)
{
	atomic_fetch_and_explicit(&arena->claims, ~(UINT64_C(1) << bit), memory_order_acq_rel);
}

/* Step 3: returns true if the creator is gone and a guardian completes the log of the stream. */
static bool is_guarded(const struct ptx_arena *arena, unsigned bit, uint64_t word)
{
	int fd = ptx_arena_fd(arena);

	return ptx_attachment_state(word) != PTX_ATTACHMENT_FREE && fd >= 0 &&
	       has_guardian(fd, bit);
}

/*
 * Steps 4 and 5. The caller has the lock of the place, or the lock was refused. In the latter case
 * only a FREE place is claimed, because the creator of any other stream may live. Another process
 * may be burying the former stream at the same time. Both processes exchange the word, and only one
 * of the two exchanges can succeed. Returns false if the place cannot be claimed.
 */
static bool claim_attachment(struct ptx_arena *arena, unsigned bit, enum locked locked,
			     uint64_t *generation)
{
	struct ptx_attachment_plan plan;

	for (int i = 0; i < CLAIM_TRIES; i++) {
		uint64_t word = atomic_load_explicit(&arena->control->attachment[bit].word,
						     memory_order_acquire);

		if (is_guarded(arena, bit, word) ||
		    (ptx_attachment_state(word) != PTX_ATTACHMENT_FREE &&
		     (locked == REFUSED || is_unlocked(arena, bit))))
			return false;
		/*
		 * Each claim has a new generation, which makes all views of the former stream
		 * invalid (arena/DESIGN I2).
		 */
		*generation = ptx_attachment_generation(word) + 1;
		if (!change_word(arena, bit, word,
				 ptx_attachment_make(*generation, PTX_ATTACHMENT_CLAIMED)))
			continue;
		atomic_store_explicit(&arena->control->attachment[bit].unlocked,
				      locked == REFUSED, memory_order_relaxed);
		/*
		 * The fence orders the new word before the facts of the new stream. So a process
		 * that has read one of these facts, and then reads the word, finds the new word
		 * (arena/DESIGN I2).
		 */
		atomic_thread_fence(memory_order_release);
		/*
		 * The facts are still those of the former stream. Its memory is given back again,
		 * because a late writer may have stored in the region after the memory was given
		 * back.
		 */
		if (ptx_attachment_plan(arena, bit, &plan))
			ptx_region_punch(arena, &plan.geometry, plan.offset);
		return true;
	}
	return false;
}

/*
 * Claims the first place that is FREE or whose creator is gone. If another process has the lock
 * (EAGAIN, step 2) or a guardian works on the place (step 3), the function tries the next place.
 */
int ptx_attachment_claim(struct ptx_arena *arena, unsigned *bit, uint64_t *generation)
{
	for (unsigned i = 0; i < PTX_STREAMS; i++) {
		enum locked locked;

		if (!set_claim(arena, i))
			continue;
		/* Step 2: the lock is acquired before the word is changed. */
		locked = attachment_lock(arena, i);
		if (locked != ANOTHERS) {
			if (claim_attachment(arena, i, locked, generation)) {
				*bit = i;
				return 0;
			}
			attachment_unlock(arena, i);
		}
		clear_claim(arena, i);
	}
	return EAGAIN;
}

/*
 * Step 6. The signal fences keep the order of the stores, for a process that reads the facts after
 * this process was killed. A process that reads the facts while they are stored checks the word
 * afterwards (arena/DESIGN I2).
 */
void ptx_attachment_place(struct ptx_arena *arena, unsigned bit, uint64_t offset,
			  const struct ptx_geometry *geometry, uint64_t max_data_size)
{
	struct ptx_attachment *attachment = &arena->control->attachment[bit];

	/*
	 * If the creator is killed between these stores, the member `offset` is 0 and no memory is
	 * given back.
	 */
	*(volatile uint64_t *)&attachment->offset = 0;
	atomic_signal_fence(memory_order_seq_cst);
	attachment->stream_size = geometry->asked;
	attachment->max_data_size = max_data_size;
	attachment->rings = geometry->rings;
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile uint64_t *)&attachment->offset = offset;
}

/*
 * Steps 8 to 10. The release order makes all facts visible before the word. The bit is set after
 * the word. So if the bit is set, the stream is attached (arena/DESIGN I3).
 */
void ptx_attachment_publish(struct ptx_arena *arena, unsigned bit, uint64_t generation)
{
	struct ptx_control *control = arena->control;
	uint64_t claimed = ptx_attachment_make(generation, PTX_ATTACHMENT_CLAIMED);

	if (!atomic_compare_exchange_strong_explicit(
		    &control->attachment[bit].word, &claimed,
		    ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED), memory_order_release,
		    memory_order_relaxed))
		return; /* a hostile process has overwritten the word */
	/* Step 9. */
	atomic_fetch_or_explicit(&control->attached, UINT64_C(1) << bit, memory_order_release);
	count_anew(control);
}

/*
 * Step 11. After this step no trace point finds the stream. A thread may still be in a trace point
 * of the stream, so point/view.h keeps memory at the same addresses.
 */
void ptx_attachment_hide(struct ptx_arena *arena, unsigned bit, uint64_t generation)
{
	change_word(arena, bit, ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED),
		    ptx_attachment_make(generation, PTX_ATTACHMENT_CLAIMED));
}

/*
 * Step 13. The lock is released last, because the place must not seem to be an orphan before its
 * word is FREE.
 */
void ptx_attachment_retract(struct ptx_arena *arena, unsigned bit, uint64_t generation)
{
	uint64_t none = ptx_attachment_make(generation, PTX_ATTACHMENT_FREE);

	if (!change_word(arena, bit, ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED),
			 none))
		change_word(arena, bit, ptx_attachment_make(generation, PTX_ATTACHMENT_CLAIMED),
			    none);
	attachment_unlock(arena, bit);
	clear_claim(arena, bit);
}

/*
 * The function reads the facts before it changes the word. After the change another process may
 * store the facts of another stream at this place. Only the process whose exchange succeeds gives
 * the memory back.
 */
void ptx_attachment_bury(struct ptx_arena *arena, unsigned bit, uint64_t generation)
{
	struct ptx_attachment_plan plan;
	bool is_planned = ptx_attachment_plan(arena, bit, &plan);

	if (change_word(arena, bit, ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED),
			ptx_attachment_make(generation, PTX_ATTACHMENT_FREE)) &&
	    is_planned)
		ptx_region_punch(arena, &plan.geometry, plan.offset);
}
