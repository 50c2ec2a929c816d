/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/attachment.c - claims, publishes and frees the places of an arena's streams.
 *
 * arena/DESIGN 2 has the states, the invariants I1 to I5 and the steps 1 to 13. At every step the
 * process may be killed. The comments explain what a killed process leaves, and which later step
 * repairs that. The words are shared with processes that may write anything, so loops over them are
 * bounded.
 */
#include "arena/attachment.h"
#include "arena/silence.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * The bytes of the file that are locked. These bytes are in the control page, which no process
 * changes by write(). The locks are advisory, so they do not disturb the mappings.
 */
#define LOCKS_AT  0
#define GUARDS_AT PTX_STREAMS

/* Bounds for loops over words that a hostile process may change all the time. */
#define COUNT_TRIES 1000
#define CLAIM_TRIES 8

/*
 * A record lock on one byte. A record lock belongs to the process and not to the descriptor (DESIGN
 * 5).
 */
static struct flock byte_lock(unsigned byte, short type)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
}

struct flock ptx_attachment_lock(unsigned bit, short type)
{
	return byte_lock(LOCKS_AT + bit, type);
}

struct flock ptx_attachment_guard_lock(unsigned bit)
{
	return byte_lock(GUARDS_AT + bit, F_WRLCK);
}

/* Sets or frees the creator's lock without waiting. EBADF: there is no file to lock. */
static int set_lock(const struct ptx_arena *arena, unsigned bit, short type)
{
	/* F_SETLK returns immediately: the library never waits in the traced program. */
	struct flock lock = ptx_attachment_lock(bit, type);
	int fd = ptx_arena_fd(arena), saved = errno;
	int err = fd < 0 ? EBADF : fcntl(fd, F_SETLK, &lock) ? errno : 0;

	errno = saved;
	return err;
}

enum locked { LOCKED, ANOTHERS, REFUSED };

/*
 * Tries to lock a place. Linux returns EAGAIN if another process has the lock. Any other error
 * means that the system has no locks for this file.
 */
static enum locked attachment_lock(const struct ptx_arena *arena, unsigned bit)
{
	switch (set_lock(arena, bit, F_WRLCK)) {
	case 0:
	case EBADF: /* no file, so no other process can have the arena */
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

/* Frees the creator's lock (DESIGN 2, step 13), also after a claim that failed. */
static void attachment_unlock(const struct ptx_arena *arena, unsigned bit)
{
	set_lock(arena, bit, F_UNLCK);
}

/*
 * Asks the kernel for the holder of a lock. After an error the function returns true, because a
 * stream is buried only if its creator is certainly gone.
 */
static bool is_locked(int fd, unsigned byte)
{
	struct flock lock = byte_lock(byte, F_WRLCK);
	int saved = errno;
	bool locked = fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;

	errno = saved;
	return locked;
}

bool ptx_attachment_guard(const struct ptx_arena *arena, unsigned bit)
{
	struct flock guard = ptx_attachment_guard_lock(bit);
	struct flock lock = ptx_attachment_lock(bit, F_WRLCK);

	/*
	 * The guardian acquires its own lock first and then the creator's (DESIGN 4). The guardian
	 * of the place's former stream may still hold the guardian's lock, if that stream was shut
	 * down and that guardian is about to end. F_SETLKW waits for it.
	 */
	return fcntl(arena->fd, F_SETLKW, &guard) == 0 && fcntl(arena->fd, F_SETLKW, &lock) == 0;
}

/*
 * Returns true if the creator could not lock the place. Then it is unknown whether the creator
 * lives.
 */
static bool is_unlocked(const struct ptx_arena *arena, unsigned bit)
{
	return atomic_load_explicit(&arena->control->attachment[bit].unlocked,
				    memory_order_acquire);
}

/*
 * A place is an orphan if the creator's lock and the guardian's lock are free. The result is false
 * if the place belongs to this process, because F_GETLK does not show a process's own locks. The
 * result is also false if the creator could not get the lock, or if this process has no descriptor
 * of the arena.
 */
bool ptx_attachment_is_orphan(const struct ptx_arena *arena, unsigned bit)
{
	int fd = ptx_arena_fd(arena);

	/*
	 * The mask `claims` shows the claims of this process even if the program has closed a
	 * descriptor of the file and so has lost the locks (DESIGN L4).
	 */
	if (fd < 0 || atomic_load_explicit(&arena->claims, memory_order_acquire) >> bit & 1 ||
	    is_unlocked(arena, bit))
		return false;
	return !is_locked(fd, LOCKS_AT + bit) && !is_locked(fd, GUARDS_AT + bit);
}

/*
 * Counts the attached streams and advances the epoch (DESIGN I4, I5). A process that is killed
 * between the change of a bit and this call leaves a wrong count until the next change. So this
 * function counts the bits anew and does not change the old count by one: a later call repairs a
 * wrong count. The last exchange that succeeds has counted all bits that were set before.
 */
static void count_anew(struct ptx_control *control)
{
	uint64_t word = atomic_load_explicit(&control->word, memory_order_acquire), next;

	/*
	 * The bytes of silence.c are cleared before the count of streams changes, because they are
	 * valid only while there is one stream.
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

/* Removes the stream at this place from the inheritance of all members of the family. */
static void forget_members(struct ptx_control *control, unsigned bit)
{
	for (unsigned i = 0; i < PTX_MEMBERS; i++)
		if (atomic_load_explicit(&control->member[i].bits, memory_order_seq_cst) >> bit & 1)
			atomic_fetch_and_explicit(&control->member[i].bits, ~(UINT64_C(1) << bit),
						  memory_order_relaxed);
}

/*
 * Changes the word of a place from the value `from` to the value `to`, and clears the bit in
 * `attached` and in the members' masks. The state in `from` may be any state; the state in `to` is
 * not ATTACHED. Returns false if the word was not `from`. If the process is killed after the
 * exchange, the bits remain until the next claim of the place clears them (step 4).
 */
static bool change_word(struct ptx_arena *arena, unsigned bit, uint64_t from, uint64_t to)
{
	struct ptx_control *control = arena->control;
	const uint64_t mask = UINT64_C(1) << bit;

	/* I2: only one process succeeds, and only this process clears the bits. */
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
 * The facts are read once into *plan and checked there: another process may change them meanwhile.
 * The geometry is computed from the sizes, so no offset inside the region comes from shared memory.
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
 * Step 1: claims the place against other threads of this process. A record lock belongs to the
 * process and cannot exclude its threads.
 */
static bool set_claim(struct ptx_arena *arena, unsigned bit)
{
	const uint64_t mask = UINT64_C(1) << bit;

	return !(atomic_fetch_or_explicit(&arena->claims, mask, memory_order_acq_rel) & mask);
}

/* The release order makes all work on the place visible to the thread that claims it next. */
static void clear_claim(struct ptx_arena *arena, unsigned bit)
{
	atomic_fetch_and_explicit(&arena->claims, ~(UINT64_C(1) << bit), memory_order_acq_rel);
}

/* Step 3: returns true if the creator is gone and a guardian completes the log of the stream. */
static bool is_guarded(const struct ptx_arena *arena, unsigned bit, uint64_t word)
{
	int fd = ptx_arena_fd(arena);

	return ptx_attachment_state(word) == PTX_ATTACHMENT_ATTACHED && fd >= 0 &&
	       is_locked(fd, GUARDS_AT + bit);
}

/*
 * Steps 4 and 5. The caller has the lock of the place, or the system has no locks. So no other
 * process works on the place, except a process that buries the former stream. Both processes
 * exchange the word, and only one of the two exchanges can succeed. Returns false if the place
 * cannot be claimed.
 */
static bool claim_attachment(struct ptx_arena *arena, unsigned bit, enum locked locked,
			     uint64_t *generation)
{
	struct ptx_attachment_plan plan;

	for (int i = 0; i < CLAIM_TRIES; i++) {
		uint64_t word = atomic_load_explicit(&arena->control->attachment[bit].word,
						     memory_order_acquire);

		if (is_guarded(arena, bit, word) ||
		    (ptx_attachment_state(word) != PTX_ATTACHMENT_FREE && is_unlocked(arena, bit)))
			return false;
		/*
		 * I2: each claim has a generation of its own, which invalidates all views of the
		 * place's former stream.
		 */
		*generation = ptx_attachment_generation(word) + 1;
		if (!change_word(arena, bit, word,
				 ptx_attachment_make(*generation, PTX_ATTACHMENT_CLAIMED)))
			continue;
		atomic_store_explicit(&arena->control->attachment[bit].unlocked,
				      locked == REFUSED, memory_order_relaxed);
		/*
		 * A process that sees a fact of the new stream also sees the new word (DESIGN I2).
		 */
		atomic_thread_fence(memory_order_release);
		/*
		 * The memory is given back even if that was done before, because a late writer may
		 * have written to it since.
		 */
		if (ptx_attachment_plan(arena, bit, &plan))
			ptx_region_punch(arena, &plan.geometry, plan.offset);
		return true;
	}
	return false;
}

/*
 * Claims the first free place. If another process has the lock (EAGAIN, step 2) or a guardian works
 * on the place (step 3), the function tries the next place.
 */
int ptx_attachment_claim(struct ptx_arena *arena, unsigned *bit, uint64_t *generation)
{
	for (unsigned i = 0; i < PTX_STREAMS; i++) {
		enum locked locked;

		/* Another thread of this process has the place. */
		if (!set_claim(arena, i))
			continue;
		/* Step 2 before step 4: a place is never claimed without its lock. */
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
 * Step 6. The signal fences keep the order of the stores for a process that reads them after this
 * process was killed. A process that reads at the same time checks the word afterwards (DESIGN I2).
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
 * the word, so that a set bit means an attached stream (DESIGN I3).
 */
void ptx_attachment_publish(struct ptx_arena *arena, unsigned bit, uint64_t generation)
{
	struct ptx_control *control = arena->control;
	uint64_t claimed = ptx_attachment_make(generation, PTX_ATTACHMENT_CLAIMED);

	if (!atomic_compare_exchange_strong_explicit(
		    &control->attachment[bit].word, &claimed,
		    ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED), memory_order_release,
		    memory_order_relaxed))
		return; /* another process has overwritten the word */
	/* Step 9. */
	atomic_fetch_or_explicit(&control->attached, UINT64_C(1) << bit, memory_order_release);
	count_anew(control);
}

/*
 * Step 11. After this step no trace point finds the stream. For a thread that is still in a trace
 * point of the stream, point/view.h keeps memory at the same addresses.
 */
void ptx_attachment_hide(struct ptx_arena *arena, unsigned bit, uint64_t generation)
{
	change_word(arena, bit, ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED),
		    ptx_attachment_make(generation, PTX_ATTACHMENT_CLAIMED));
}

/*
 * Step 13. The lock is released last, because the place must not look like an orphan until the word
 * is FREE.
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
 * store the facts of another stream there. Only the process whose exchange succeeds gives the
 * memory back.
 */
void ptx_attachment_bury(struct ptx_arena *arena, unsigned bit, uint64_t generation)
{
	struct ptx_attachment_plan plan;
	/* The facts are read before the place becomes free. */
	bool is_planned = ptx_attachment_plan(arena, bit, &plan);

	if (change_word(arena, bit, ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED),
			ptx_attachment_make(generation, PTX_ATTACHMENT_FREE)) &&
	    is_planned)
		ptx_region_punch(arena, &plan.geometry, plan.offset);
}
