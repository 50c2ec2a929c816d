/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena/attachment.h"

#include "arena/family.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Bytes of the file that are locked; they are the control page's, which no one writes by write(). */
#define LOCKS_AT 0

struct flock ptx_attachment_lock(unsigned bit, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = LOCKS_AT + bit,
			      .l_len = 1 };

	return lock;
}

/* True also where there is no file to lock: then nobody else can have the arena either. */
static bool lock(const struct ptx_arena *arena, unsigned bit)
{
	struct flock lock = ptx_attachment_lock(bit, F_WRLCK);
	int fd = ptx_arena_fd(arena), saved = errno;
	bool done = fd < 0 || fcntl(fd, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);

	errno = saved;
	return done;
}

static void unlock(const struct ptx_arena *arena, unsigned bit)
{
	struct flock lock = ptx_attachment_lock(bit, F_UNLCK);
	int fd = ptx_arena_fd(arena), saved = errno;

	if (fd >= 0)
		fcntl(fd, F_SETLK, &lock);
	errno = saved;
}

bool ptx_attachment_is_orphan(const struct ptx_arena *arena, unsigned bit)
{
	struct flock lock = ptx_attachment_lock(bit, F_WRLCK);
	int fd = ptx_arena_fd(arena), saved = errno;
	bool is_free;

	if (fd < 0 || atomic_load_explicit(&arena->mine, memory_order_acquire) >> bit & 1)
		return false;
	is_free = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
	errno = saved;
	return is_free;
}

/* Whoever changes the word from attached takes the bit away. */
static bool leave(struct ptx_arena *arena, unsigned bit, uint64_t from, uint64_t to)
{
	struct ptx_control *control = arena->control;
	const uint64_t mask = UINT64_C(1) << bit;

	if (!atomic_compare_exchange_strong_explicit(&control->attachment[bit].word, &from, to,
						     memory_order_acq_rel, memory_order_relaxed))
		return false;
	if (ptx_attachment_state(from) == PTX_ATTACHMENT_ATTACHED &&
	    atomic_fetch_and_explicit(&control->attached, ~mask, memory_order_release) & mask) {
		ptx_family_forget(control, bit);
		ptx_control_changed(control, -1);
	}
	return true;
}

int ptx_attachment_claim(struct ptx_arena *arena, unsigned *bit, uint64_t *generation)
{
	for (unsigned i = 0; i < PTX_STREAMS; i++) {
		struct ptx_attachment *attachment = &arena->control->attachment[i];
		uint64_t word = atomic_load_explicit(&attachment->word, memory_order_acquire);
		uint64_t next = ptx_attachment_generation(word) + 1;
		uint64_t claimed = ptx_attachment_make(next, PTX_ATTACHMENT_CLAIMED);

		if (ptx_attachment_state(word) != PTX_ATTACHMENT_FREE &&
		    !ptx_attachment_is_orphan(arena, i))
			continue;
		if (!leave(arena, i, word, claimed))
			continue;
		atomic_fetch_or_explicit(&arena->mine, UINT64_C(1) << i, memory_order_acq_rel);
		if (lock(arena, i)) {
			*bit = i;
			*generation = next;
			return 0;
		}
		/* Somebody came between, who found it claimed and not locked. */
		atomic_fetch_and_explicit(&arena->mine, ~(UINT64_C(1) << i), memory_order_acq_rel);
		leave(arena, i, claimed, ptx_attachment_make(next, PTX_ATTACHMENT_FREE));
	}
	return EAGAIN;
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
	ptx_control_changed(control, 1);
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
	atomic_fetch_and_explicit(&arena->mine, ~(UINT64_C(1) << bit), memory_order_acq_rel);
}

void ptx_attachment_bury(struct ptx_arena *arena, unsigned bit, uint64_t generation,
			 const struct ptx_geometry *geometry)
{
	uint64_t offset = arena->control->attachment[bit].offset;
	int fd = ptx_arena_fd(arena), saved = errno;

	if (!leave(arena, bit, ptx_attachment_make(generation, PTX_ATTACHMENT_ATTACHED),
		   ptx_attachment_make(generation, PTX_ATTACHMENT_FREE)))
		return;
	if (fd >= 0 && ptx_arena_holds(arena, offset, geometry->bytes))
		(void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
				 (off_t)geometry->bytes);
	errno = saved;
}
