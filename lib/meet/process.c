/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meet/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/arena.h"
#include "base/barrier.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/io.h"
#include "base/quiet.h"
#include "meet/family.h"
#include "meet/folder.h"
#include "meet/rendezvous.h"

/* Over a static page, so that its address stays what the linker made it. */
static bool map_over(void *page, size_t bytes, int fd, uint64_t offset)
{
	int flags = MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0);

	return mmap(page, bytes, PROT_READ | PROT_WRITE, flags | MAP_SHARED, fd, (off_t)offset) !=
	       MAP_FAILED;
}

static struct ptx_lists *map_lists(int fd)
{
	void *lists = mmap(NULL, PTX_LISTS_BYTES, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd,
			   fd < 0 ? 0 : PTX_NAMES_AT);

	return lists == MAP_FAILED ? NULL : lists;
}

/* Copies schemas and object names. Entries that do not fit are dropped. */
static void copy_texts(struct ptx_lists *to, const struct ptx_lists *from)
{
	ptx_schemas_copy(&to->schemas, &from->schemas);
	ptx_objects_copy(&to->objects, &from->objects);
}

static void know_file(struct ptx_arena *arena, int fd)
{
	struct stat file;

	arena->fd = fd;
	atomic_store_explicit(&arena->mine, 0, memory_order_relaxed);
	if (fd < 0 || fstat(fd, &file) != 0)
		return;
	arena->device = file.st_dev;
	arena->inode = file.st_ino;
	arena->bytes = (uint64_t)file.st_size;
}

static bool is_arena(const struct ptx_control *control)
{
	return control->magic == PTX_ARENA_MAGIC && control->version == PTX_ARENA_VERSION;
}

/*
 * It was made for us, or was ours before we executed another program; or it is that of a family to
 * which we belong.
 */
static bool take(struct ptx_control *control)
{
	uint32_t waits = PTX_ARENA_WAITS;

	if (control->pid != (uint32_t)getpid())
		return atomic_load_explicit(&control->owner, memory_order_acquire) !=
			       PTX_ARENA_LEFT &&
		       ptx_family_join(control);
	ptx_family_tell_executed(control);
	return atomic_compare_exchange_strong_explicit(&control->owner, &waits, PTX_ARENA_TAKEN,
						       memory_order_acq_rel,
						       memory_order_acquire) ||
	       waits == PTX_ARENA_TAKEN;
}

static bool set_owner(enum ptx_arena_owner from, enum ptx_arena_owner to)
{
	uint32_t owner = from;

	return atomic_compare_exchange_strong_explicit(&ptx_own_control.owner, &owner, to,
						       memory_order_acq_rel, memory_order_relaxed);
}

/* The file instead of the arena just made, if it is one for this process. */
static bool change_to(struct ptx_arena *arena, int fd)
{
	struct ptx_control *control;
	struct ptx_lists *lists = NULL;
	struct stat file;

	if (fstat(fd, &file) != 0 || !ptx_arena_is_sealed(fd, (uint64_t)file.st_size))
		return false;
	control = mmap(NULL, sizeof(union ptx_control_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       0);
	if (control == MAP_FAILED)
		return false;
	if (is_arena(control))
		lists = map_lists(fd);
	/* Leaving fails if somebody could not wait any longer and made this one ours. */
	if (!lists || !ptx_names_merge(&lists->names, arena->names) ||
	    !set_owner(PTX_ARENA_SETTLING, PTX_ARENA_LEFT) || !take(control) ||
	    !map_over(&ptx_control_page, sizeof ptx_control_page, fd, 0)) {
		set_owner(PTX_ARENA_LEFT, PTX_ARENA_SETTLING);
		if (lists)
			munmap(lists, PTX_LISTS_BYTES);
		munmap(control, sizeof(union ptx_control_page));
		return false;
	}
	munmap(control, sizeof(union ptx_control_page));
	if (arena->lists) {
		copy_texts(lists, arena->lists);
		munmap(arena->lists, PTX_LISTS_BYTES);
	}
	if (ptx_arena_fd(arena) >= 0)
		close(arena->fd);
	ptx_arena_know_lists(arena, lists);
	know_file(arena, ptx_io_move_up(fd, PTX_ARENA_FD_MIN));
	ptx_family_settle();
	return true;
}

/*
 * An arena that somebody made for this process or an ancestor, or that it had before it executed
 * this program. The one just made can be seen already: so whoever looks for our arena after he has
 * left a link sees it, or we see the link; and he waits until we say which it is.
 */
static void take_rendezvous(struct ptx_arena *arena, bool is_program)
{
	struct ptx_rendezvous walk;
	int fd;

	/* what the kernel looks up is as new as what we wrote */
	atomic_thread_fence(memory_order_seq_cst);
	ptx_rendezvous_begin(&walk, is_program);
	while ((fd = ptx_rendezvous_next(&walk)) >= 0) {
		if (change_to(arena, fd))
			break;
		close(fd);
	}
	ptx_rendezvous_end(&walk);
	if (fd < 0)
		set_owner(PTX_ARENA_SETTLING, PTX_ARENA_TAKEN);
}

/* An arena that came with the process: a program that is executed may find one. */
static bool take_inherited(struct ptx_arena *arena)
{
	int fd = ptx_family_find();

	if (fd < 0)
		return false;
	know_file(arena, fd);
	ptx_arena_know_lists(arena, map_lists(fd));
	return map_over(&ptx_control_page, sizeof ptx_control_page, fd, 0);
}

/* is_program: not a child that still runs its parent's. */
static void make_arena(bool is_program)
{
	struct ptx_arena *arena = &ptx_arena_self;
	struct ptx_lists *old = arena->lists, *lists;
	int fd = ptx_arena_fd(arena);

	ptx_family_begin();
	if (fd >= 0)
		close(fd); /* our parent's */
	fd = ptx_arena_file(&arena->bytes);
	know_file(arena, fd);
	if (!map_over(&ptx_control_page, sizeof ptx_control_page, fd, 0))
		return;
	lists = map_lists(fd);
	if (lists && old) { /* the old ones are the parent's: they stay mapped there */
		ptx_names_copy(&lists->names, &old->names);
		copy_texts(lists, old);
	}
	if (lists)
		ptx_arena_know_lists(arena, lists);
	ptx_arena_begin(&ptx_own_control, (uint32_t)getpid(), PTX_ARENA_SETTLING);
	take_rendezvous(arena, is_program);
}

static bool has_begun;

/* Whose memory this was; not wiped at fork. */
static uint32_t last_pid;

/*
 * The things that this process's parent spoke of are here too, as copies under the same pointers.
 */
static void inherit_objects(struct ptx_objects *objects, uint32_t parent, uint32_t child)
{
	struct ptx_object object = { .kind = PTX_OBJECT_CHILD, .pointer = parent };

	for (unsigned i = ptx_objects_count(objects); i-- > 0;)
		if (objects->cell[i].object.pid == parent) {
			object.time_ns = ptx_clock_realtime();
			object.pid = child;
			ptx_objects_put(objects, &object);
			return;
		}
}

void ptx_process_init(void)
{
	int saved = errno;

	if (has_begun)
		return;
	has_begun = true;
	/* Advice is for anonymous memory, which whole pages of zeros in a library mostly are. */
	if (madvise(&ptx_private_block, sizeof ptx_private_block, MADV_WIPEONFORK) != 0 &&
	    mmap(&ptx_private_block, sizeof ptx_private_block, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		madvise(&ptx_private_block, sizeof ptx_private_block, MADV_WIPEONFORK);
	ptx_barrier_init();
	ptx_folder_init();
	ptx_family_know_self();
	if (!take_inherited(&ptx_arena_self))
		make_arena(true);
	last_pid = (uint32_t)getpid();
	atomic_store_explicit(&ptx_private.pid, last_pid, memory_order_release);
	errno = saved;
}

void (*ptx_process_before_child)(void);
uint32_t (*ptx_process_pid_of_child)(void);

/*
 * An arena of its own is made with all signals blocked: a handler that traces must not find half of
 * it.
 */
static void separate(void)
{
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	if (ptx_process_is_child())
		make_arena(false);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* In a quiet process, a child that inherits no stream has no use for an arena of its own. */
static uint32_t become_child(void)
{
	uint32_t pid = ptx_process_pid_of_child ? ptx_process_pid_of_child() : (uint32_t)getpid();

	if (ptx_process_before_child)
		ptx_process_before_child();
	if (!ptx_family_keep(&ptx_arena_self, pid) && !ptx_is_quiet())
		separate();
	if (ptx_process_is_child()) {
		if (ptx_arena_self.lists && last_pid != pid)
			inherit_objects(&ptx_arena_self.lists->objects, last_pid, pid);
		last_pid = pid;
	}
	return pid;
}

/* Not wiped at fork, so that no two attempts of a process and its children have the same number. */
static _Atomic uint32_t attempts;

/*
 * A handler that traces may interrupt this and do all of it; doing it twice gives the same. A
 * handler may also fork: its child continues here with its parent's pid. The fork has wiped the
 * number of the attempt, so the child begins again. Between the store of pid and the look at the
 * attempt, two instructions, a handler that traces in that child uses its parent's pid.
 */
void ptx_process_child(void)
{
	int saved = errno;
	bool has_forked;

	if (!has_begun) {
		ptx_process_init(); /* no child, but a constructor that runs before ours */
		return;
	}
	do {
		uint32_t attempt, pid, unknown = 0;

		if (!ptx_process_is_child())
			break;
		attempt = atomic_fetch_add_explicit(&attempts, 1, memory_order_relaxed) + 1;
		atomic_store_explicit(&ptx_private.attempt, attempt, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		pid = become_child();
		if (!atomic_compare_exchange_strong_explicit(&ptx_private.pid, &unknown, pid,
							     memory_order_release,
							     memory_order_relaxed))
			break;
		atomic_signal_fence(memory_order_seq_cst);
		has_forked = atomic_load_explicit(&ptx_private.attempt, memory_order_relaxed) !=
			     attempt;
		if (has_forked)
			atomic_store_explicit(&ptx_private.pid, 0, memory_order_relaxed);
	} while (has_forked);
	errno = saved;
}

uint32_t ptx_process_pid(void)
{
	if (ptx_process_is_child())
		ptx_process_child();
	return atomic_load_explicit(&ptx_private.pid, memory_order_relaxed);
}

/*
 * Nothing was wiped, or a handler that traces has come before: glibc knows the child's id by now.
 */
static void wipe(void)
{
	uint32_t pid = ptx_ids_thread();
	sigset_t all, old;

	if (!pid)
		pid = (uint32_t)getpid();
	if (last_pid == pid)
		return;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old); /* a handler that traces must not come between */
	memset(&ptx_private_block, 0, sizeof ptx_private_block);
	ptx_process_child();
	sigprocmask(SIG_SETMASK, &old, NULL);
}

void ptx_process_forked(void)
{
	if (!ptx_process_is_child())
		wipe();
	ptx_process_child();
}
