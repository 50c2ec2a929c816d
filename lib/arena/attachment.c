/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena/attachment.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * Bytes of the file that are locked; they are the control page's, which no one writes by write().
 */
#define LOCKS_AT  0
#define GUARDS_AT PTX_STREAMS

#define COUNT_TRIES 1000
#define TAKE_TRIES  8

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

/* EBADF: there is no file to lock. */
static int set_lock(const struct ptx_arena *arena, unsigned bit, short type)
{
	struct flock lock = ptx_attachment_lock(bit, type);
	int fd = ptx_arena_fd(arena), saved = errno;
	int err = fd < 0 ? EBADF : fcntl(fd, F_SETLK, &lock) ? errno : 0;

	errno = saved;
	return err;
}

enum locked { LOCKED, ANOTHERS, REFUSED };

/*
 * Linux says EAGAIN of a lock that another process has. What else it says is that there are no
 * locks.
 */
static enum locked lock(const struct ptx_arena *arena, unsigned bit)
{
	switch (set_lock(arena, bit, F_WRLCK)) {
	case 0:
	case EBADF: /* there is no file: nobody else can have the arena either */
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

static void unlock(const struct ptx_arena *arena, unsigned bit)
{
	set_lock(arena, bit, F_UNLCK);
}

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

	/* Another may hold the first, whose stream was shut down, and which is about to go. */
	return fcntl(arena->fd, F_SETLKW, &guard) == 0 && fcntl(arena->fd, F_SETLKW, &lock) == 0;
}

/* Its creator could not lock it: whether that lives is not known. */
static bool is_unlocked(const struct ptx_arena *arena, unsigned bit)
{
	return atomic_load_explicit(&arena->control->attachment[bit].unlocked,
				    memory_order_acquire);
}

bool ptx_attachment_is_orphan(const struct ptx_arena *arena, unsigned bit)
{
	int fd = ptx_arena_fd(arena);

	if (fd < 0 || atomic_load_explicit(&arena->mine, memory_order_acquire) >> bit & 1 ||
	    is_unlocked(arena, bit))
		return false;
	return !is_locked(fd, LOCKS_AT + bit) && !is_locked(fd, GUARDS_AT + bit);
}

/*
 * Whoever is killed between the change of a bit and this leaves a count that is wrong until the
 * next change: so it is counted, not added to. In the last exchange the bits of all before are
 * counted.
 */
static void count_anew(struct ptx_control *control)
{
	uint64_t word = atomic_load_explicit(&control->word, memory_order_acquire), next;

	/* The end is for those who are in the way on purpose. */
	for (int i = 0; i < COUNT_TRIES; i++) {
		uint64_t attached = atomic_load_explicit(&control->attached, memory_order_acquire);

		next = (word & ~(PTX_CONTROL_EPOCH - 1)) + PTX_CONTROL_EPOCH +
		       (uint64_t)__builtin_popcountll(attached);
		if (atomic_compare_exchange_strong_explicit(&control->word, &word, next,
							    memory_order_acq_rel,
							    memory_order_acquire))
			return;
	}
}

/* No member of the family inherits what was attached there any more. */
static void forget_members(struct ptx_control *control, unsigned bit)
{
	for (unsigned i = 0; i < PTX_MEMBERS; i++)
		if (atomic_load_explicit(&control->member[i].bits, memory_order_seq_cst) >> bit & 1)
			atomic_fetch_and_explicit(&control->member[i].bits, ~(UINT64_C(1) << bit),
						  memory_order_relaxed);
}

/*
 * Whoever changes the word to anything but attached takes the bit away, and what members of the
 * family inherited. Killed on the way, it leaves that to who claims the place.
 */
static bool leave(struct ptx_arena *arena, unsigned bit, uint64_t from, uint64_t to)
{
	struct ptx_control *control = arena->control;
	const uint64_t mask = UINT64_C(1) << bit;

	if (!atomic_compare_exchange_strong_explicit(&control->attachment[bit].word, &from, to,
						     memory_order_seq_cst, memory_order_relaxed))
		return false;
	forget_members(control, bit);
	if (atomic_fetch_and_explicit(&control->attached, ~mask, memory_order_release) & mask)
		count_anew(control);
	return true;
}

bool ptx_attachment_plan(const struct ptx_arena *arena, unsigned bit,
			 struct ptx_attachment_plan *plan)
{
	const volatile struct ptx_attachment *attachment = &arena->control->attachment[bit];

	plan->offset = attachment->offset;
	plan->max_data_size = attachment->max_data_size;
	return plan->max_data_size <= PTX_RECORD_LEN_MAX &&
	       ptx_ring_plan(attachment->stream_size, plan->max_data_size, attachment->rings,
			     &plan->geometry) == 0 &&
	       ptx_arena_holds(arena, plan->offset,
			       plan->geometry.bytes + plan->geometry.far_bytes);
}

/* Among the threads of this process: a record lock does not tell them apart. */
static bool set_mine(struct ptx_arena *arena, unsigned bit)
{
	const uint64_t mask = UINT64_C(1) << bit;

	return !(atomic_fetch_or_explicit(&arena->mine, mask, memory_order_acq_rel) & mask);
}

static void clear_mine(struct ptx_arena *arena, unsigned bit)
{
	atomic_fetch_and_explicit(&arena->mine, ~(UINT64_C(1) << bit), memory_order_acq_rel);
}

/* Its creator is gone and somebody else sees to it. */
static bool is_guarded(const struct ptx_arena *arena, unsigned bit, uint64_t word)
{
	int fd = ptx_arena_fd(arena);

	return ptx_attachment_state(word) == PTX_ATTACHMENT_ATTACHED && fd >= 0 &&
	       is_locked(fd, GUARDS_AT + bit);
}

/*
 * Its lock is ours, or there are none: whatever the word says, nobody else is at it but one who
 * buries what it said.
 */
static bool take(struct ptx_arena *arena, unsigned bit, enum locked locked, uint64_t *generation)
{
	struct ptx_attachment_plan plan;

	for (int i = 0; i < TAKE_TRIES; i++) {
		uint64_t word = atomic_load_explicit(&arena->control->attachment[bit].word,
						     memory_order_acquire);

		if (is_guarded(arena, bit, word) ||
		    (ptx_attachment_state(word) != PTX_ATTACHMENT_FREE && is_unlocked(arena, bit)))
			return false;
		*generation = ptx_attachment_generation(word) + 1;
		if (!leave(arena, bit, word,
			   ptx_attachment_make(*generation, PTX_ATTACHMENT_CLAIMED)))
			continue;
		atomic_store_explicit(&arena->control->attachment[bit].unlocked,
				      locked == REFUSED, memory_order_relaxed);
		/* Who sees facts of what comes now sees that the word is another. */
		atomic_thread_fence(memory_order_release);
		/* Also where it was given back: a late writer may have touched it after that. */
		if (ptx_attachment_plan(arena, bit, &plan))
			ptx_region_punch(arena, &plan.geometry, plan.offset);
		return true;
	}
	return false;
}

int ptx_attachment_claim(struct ptx_arena *arena, unsigned *bit, uint64_t *generation)
{
	for (unsigned i = 0; i < PTX_STREAMS; i++) {
		enum locked locked;

		if (!set_mine(arena, i))
			continue;
		/* First the lock, then the word: a place is never claimed and not locked. */
		locked = lock(arena, i);
		if (locked != ANOTHERS) {
			if (take(arena, i, locked, generation)) {
				*bit = i;
				return 0;
			}
			unlock(arena, i);
		}
		clear_mine(arena, i);
	}
	return EAGAIN;
}

void ptx_attachment_place(struct ptx_arena *arena, unsigned bit, uint64_t offset,
			  const struct ptx_geometry *geometry, uint64_t max_data_size)
{
	struct ptx_attachment *attachment = &arena->control->attachment[bit];

	/* A creator that is killed in between leaves no offset: nothing of others is freed. */
	*(volatile uint64_t *)&attachment->offset = 0;
	atomic_signal_fence(memory_order_seq_cst);
	attachment->stream_size = geometry->asked;
	attachment->max_data_size = max_data_size;
	attachment->rings = geometry->rings;
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile uint64_t *)&attachment->offset = offset;
}

void ptx_attachment_publish(struct ptx_arena *arena, unsigned bit, uint64_t generation)
{
	struct ptx_control *control = arena->control;
	uint64_t claimed = ptx_attachment_make(generation, PTX_ATTACHMENT_CLAIMED);

	if (!atomic_compare_exchange_strong_explicit(
		    &control->attachment[bit].word, &claimed,
		    ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED), memory_order_release,
		    memory_order_relaxed))
		return; /* memory that somebody scribbled over */
	atomic_fetch_or_explicit(&control->attached, UINT64_C(1) << bit, memory_order_release);
	count_anew(control);
}

void ptx_attachment_hide(struct ptx_arena *arena, unsigned bit, uint64_t generation)
{
	leave(arena, bit, ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED),
	      ptx_attachment_make(generation, PTX_ATTACHMENT_CLAIMED));
}

void ptx_attachment_retract(struct ptx_arena *arena, unsigned bit, uint64_t generation)
{
	uint64_t none = ptx_attachment_make(generation, PTX_ATTACHMENT_FREE);

	if (!leave(arena, bit, ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED), none))
		leave(arena, bit, ptx_attachment_make(generation, PTX_ATTACHMENT_CLAIMED), none);
	unlock(arena, bit);
	clear_mine(arena, bit);
}

void ptx_attachment_bury(struct ptx_arena *arena, unsigned bit, uint64_t generation)
{
	struct ptx_attachment_plan plan;
	/* Before the place is free for the facts of another. */
	bool is_planned = ptx_attachment_plan(arena, bit, &plan);

	if (leave(arena, bit, ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED),
		  ptx_attachment_make(generation, PTX_ATTACHMENT_FREE)) &&
	    is_planned)
		ptx_region_punch(arena, &plan.geometry, plan.offset);
}
