/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/process.c - sets up the arena of a process: at its start, after execve(), and in a child.
 *
 * The steps run in the traced program: in the constructor, in the fork handler, or in a trace point
 * that finds that the process is a child that is not set up. So they use no stdio and no
 * allocation, and keep errno. If a step fails, the process continues without it. Without a file,
 * the arena is anonymous memory. If this memory cannot be mapped either, the static page stays the
 * control page.
 *
 * The process makes its own arena visible to others before it looks for another arena. DESIGN 2
 * shows why a controller and this process agree on one of the two.
 */
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
#include "base/proc.h"
#include "base/quiet.h"
#include "meet/family.h"
#include "meet/folder.h"
#include "meet/rendezvous.h"

/*
 * Replaces static pages by a mapping of the file. So their address is still the address that the
 * linker chose, and trace points need no pointer. If fd is negative, the memory is anonymous, and
 * children share it. If the mapping fails, the static page stays the control page.
 */
static bool map_over(void *page, size_t bytes, int fd, uint64_t offset)
{
	int flags = MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0);

	return mmap(page, bytes, PROT_READ | PROT_WRITE, flags | MAP_SHARED, fd, (off_t)offset) !=
	       MAP_FAILED;
}

/*
 * Maps the lists of an arena, or anonymous memory for lists if fd is negative. MAP_NORESERVE: most
 * of the address space is never used. Returns NULL if there is no memory; the arena then has no
 * names.
 */
static struct ptx_lists *map_lists(int fd)
{
	void *lists = mmap(NULL, PTX_LISTS_BYTES, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd,
			   fd < 0 ? 0 : PTX_NAMES_AT);

	return lists == MAP_FAILED ? NULL : lists;
}

/*
 * Copies schemas and object names. Entries that do not fit are dropped, because they only describe
 * events.
 */
static void copy_texts(struct ptx_lists *to, const struct ptx_lists *from)
{
	ptx_schemas_copy(&to->schemas, &from->schemas);
	ptx_objects_copy(&to->objects, &from->objects);
}

/* Makes fd the arena's file. This process has no claims in a new file. */
static void set_file(struct ptx_arena *arena, int fd)
{
	struct stat file;

	arena->fd = fd;
	atomic_store_explicit(&arena->claims, 0, memory_order_relaxed);
	if (fd < 0 || fstat(fd, &file) != 0)
		return;
	arena->device = file.st_dev;
	arena->inode = file.st_ino;
	arena->bytes = (uint64_t)file.st_size;
}

/* Another version of the library has another layout. Its arena is not used. */
static bool is_arena(const struct ptx_control *control)
{
	return control->magic == PTX_ARENA_MAGIC && control->version == PTX_ARENA_VERSION;
}

/*
 * Returns true if the arena was made for this process, was its own before it executed another
 * program, or is that of a family to which it belongs. `control` is mapped and has passed
 * is_arena(). An arena that was made for this id and WAITS becomes CHOSEN by a compare-and-swap. If
 * it is CHOSEN already, this process had it before it executed the program, or a controller chose
 * it for this process. If `is_others` is true, the arena was found among those of all processes,
 * and its process id may be that of a former process.
 */
static bool choose_arena(struct ptx_control *control, bool is_others)
{
	uint32_t waits = PTX_ARENA_WAITS;

	if (is_others || control->pid != ptx_proc_own())
		return atomic_load_explicit(&control->owner, memory_order_acquire) !=
			       PTX_ARENA_LEFT &&
		       (is_others ? ptx_family_rejoin(control) : ptx_family_join(control));
	ptx_family_store_executed(control);
	return atomic_compare_exchange_strong_explicit(&control->owner, &waits, PTX_ARENA_CHOSEN,
						       memory_order_acq_rel,
						       memory_order_acquire) ||
	       waits == PTX_ARENA_CHOSEN;
}

/*
 * Changes the state of this process's own arena. Returns false if a controller has changed it
 * since.
 */
static bool set_owner(enum ptx_arena_owner from, enum ptx_arena_owner to)
{
	uint32_t owner = from;

	return atomic_compare_exchange_strong_explicit(&ptx_own_control.owner, &owner, to,
						       memory_order_acq_rel, memory_order_relaxed);
}

/*
 * Replaces this process's new arena with the arena in fd, if that arena is for this process.
 * Returns false otherwise: the caller still owns fd, and the process's own arena is SETTLING, or
 * CHOSEN by a controller's choice. `is_others` is that of choose_arena().
 *
 * The order matters. Names are merged first, because a type that the program has already must keep
 * its number. Then the own arena becomes LEFT, so that no controller attaches a stream to it. Then
 * the other arena becomes CHOSEN, or this process joins its family. If this step or the mapping
 * fails, the own arena becomes SETTLING again.
 */
static bool change_to(struct ptx_arena *arena, int fd, bool is_others)
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
	/*
	 * The change to LEFT fails if a controller could not wait any longer and has made this
	 * arena CHOSEN.
	 */
	if (!lists || !ptx_names_merge(&lists->names, arena->names) ||
	    !set_owner(PTX_ARENA_SETTLING, PTX_ARENA_LEFT) || !choose_arena(control, is_others) ||
	    !map_over(&ptx_control_page, sizeof ptx_control_page, fd, 0)) {
		set_owner(PTX_ARENA_LEFT, PTX_ARENA_SETTLING);
		if (lists)
			munmap(lists, PTX_LISTS_BYTES);
		munmap(control, sizeof(union ptx_control_page));
		return false;
	}
	munmap(control, sizeof(union ptx_control_page));
	if (arena->lists) {
		/* In a child these lists have copies of its parent's texts. */
		copy_texts(lists, arena->lists);
		munmap(arena->lists, PTX_LISTS_BYTES);
	}
	/*
	 * No stream of this process is in an arena that it has just made, so closing the file
	 * releases no lock.
	 */
	if (ptx_arena_fd(arena) >= 0)
		close(arena->fd);
	ptx_arena_set_lists(arena, lists);
	set_file(arena, ptx_io_move_up(fd, PTX_ARENA_FD_MIN));
	ptx_family_update_cloexec();
	return true;
}

/*
 * Follows links to an arena that a controller made for this process or an ancestor, or that the
 * process had before it executed this program. This process's own new arena is visible already,
 * and a controller leaves its link before it looks for that arena. So the controller sees the
 * arena, or this process sees the link, or both. The controller waits until this process has
 * chosen.
 */
static void use_linked_arena(struct ptx_arena *arena, bool is_program)
{
	struct ptx_rendezvous walk;
	int fd;

	/*
	 * With this fence, the kernel looks up links after the store that made this arena
	 * visible.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	ptx_rendezvous_begin(&walk, is_program);
	while ((fd = ptx_rendezvous_next(&walk)) >= 0) {
		if (change_to(arena, fd, walk.is_others))
			break;
		close(fd);
	}
	ptx_rendezvous_end(&walk);
	if (fd < 0)
		set_owner(PTX_ARENA_SETTLING, PTX_ARENA_CHOSEN);
}

/*
 * Uses an arena whose descriptor the program has inherited through execve(), if there is one. The
 * arena has the names of the family already, so nothing is merged.
 */
static bool use_inherited_arena(struct ptx_arena *arena)
{
	int fd = ptx_family_find();

	if (fd < 0)
		return false;
	set_file(arena, fd);
	ptx_arena_set_lists(arena, map_lists(fd));
	return map_over(&ptx_control_page, sizeof ptx_control_page, fd, 0);
}

/*
 * Makes an arena of this process's own, with the names that this process has already. Then looks
 * for an arena that a controller has left for this process. is_program is false in a child of
 * fork(), which runs its parent's program. Such a child looks for no links of ancestors: if such a
 * link led the parent to an arena, the child has inherited that arena.
 */
static void make_arena(bool is_program)
{
	struct ptx_arena *arena = &ptx_arena_self;
	struct ptx_lists *old = arena->lists, *lists;
	int fd = ptx_arena_fd(arena);

	ptx_family_begin();
	if (fd >= 0)
		close(fd); /* this is the parent's arena, which a child has open */
	/* fd may be -1: everything that one process can do works in anonymous memory. */
	fd = ptx_arena_file(&arena->bytes);
	set_file(arena, fd);
	if (!map_over(&ptx_control_page, sizeof ptx_control_page, fd, 0))
		return;
	lists = map_lists(fd);
	if (lists && old) { /* the old lists are the parent's and stay mapped */
		ptx_names_copy(&lists->names, &old->names);
		copy_texts(lists, old);
	}
	if (lists)
		ptx_arena_set_lists(arena, lists);
	/*
	 * From here on a controller that looks at the descriptors finds an arena that is SETTLING.
	 */
	ptx_arena_begin(&ptx_own_control, ptx_proc_own(), PTX_ARENA_SETTLING);
	use_linked_arena(arena, is_program);
}

/*
 * True once the constructor, or a call before it, has begun. It is set before other
 * threads exist.
 */
static bool has_begun;

/*
 * The process that used this memory last. This variable is not wiped at fork, so in a child it has
 * the parent's id until the child is set up.
 */
static uint32_t last_pid;

/*
 * The objects that the parent has named exist in the child, too, at the same addresses. One entry
 * of kind CHILD shows this, so that not every entry must be copied. If the parent named none, there
 * is no entry.
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

/*
 * Sets up the process at its start. The steps call functions of the C library that the shim wraps.
 * Such a call may start the shim, which names its types: then this function is called again, by
 * ptx_process_child(), and does the whole work before the first call continues.
 */
static void set_up_program(void)
{
	ptx_barrier_init();
	ptx_folder_init();
	ptx_family_identify_self();
	if (!ptx_process_is_child())
		return;
	if (!use_inherited_arena(&ptx_arena_self))
		make_arena(true);
	last_pid = ptx_proc_own();
	/* The id is stored last, so a thread that sees it finds the arena complete. */
	atomic_store_explicit(&ptx_private.pid, last_pid, memory_order_release);
}

/*
 * This function may be called any number of times; only the first call has an effect. It runs
 * before main() in most programs, but a constructor of another library may trace earlier. If a step
 * fails, the process continues without it.
 */
void ptx_process_init(void)
{
	int saved = errno;

	if (has_begun)
		return;
	has_begun = true;
	/*
	 * MADV_WIPEONFORK applies to anonymous memory only. Whole pages of zeros in a library are
	 * mostly anonymous memory. If they are not, new anonymous memory replaces the block, which
	 * is still zero at this moment.
	 */
	if (madvise(&ptx_private_block, sizeof ptx_private_block, MADV_WIPEONFORK) != 0 &&
	    mmap(&ptx_private_block, sizeof ptx_private_block, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		madvise(&ptx_private_block, sizeof ptx_private_block, MADV_WIPEONFORK);
	set_up_program();
	errno = saved;
}

/*
 * point/thread.c sets these pointers. Its room has a higher rank, so its header must not be
 * included here. NULL means that there is nothing to call.
 */
void (*ptx_process_before_child)(void);
uint32_t (*ptx_process_pid_of_child)(void);

/*
 * Makes an arena of the child's own with all signals blocked: a handler that traces must not find a
 * half-made arena. The mask is restored. A handler that ran before the signals were blocked may
 * have set up the child already.
 */
static void process_separate(void)
{
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	if (ptx_process_is_child())
		make_arena(false);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/*
 * Sets up the child and returns its id. The function may run twice, because a handler that
 * interrupts it may trace: each step gives the same result again. If the process is quiet, a child
 * that inherits no stream gets no arena of its own: the system calls to make one may be forbidden.
 */
static uint32_t become_child(void)
{
	uint32_t pid = ptx_process_pid_of_child ? ptx_process_pid_of_child() : ptx_proc_own();

	if (ptx_process_before_child)
		ptx_process_before_child();
	if (!ptx_family_keep(&ptx_arena_self, pid) && !ptx_is_quiet())
		process_separate();
	if (ptx_process_is_child()) {
		if (ptx_arena_self.lists && last_pid != pid)
			inherit_objects(&ptx_arena_self.lists->objects, last_pid, pid);
		last_pid = pid;
	}
	return pid;
}

/*
 * The number of the last attempt. It is not wiped at fork, so that no two attempts of a process and
 * its children have the same number.
 */
static _Atomic uint32_t attempts;

/*
 * A handler that traces may interrupt this function and do the whole work itself. Doing the work
 * twice has the same result. A handler may also fork: its child continues here with its parent's
 * pid. The fork has wiped the number of the attempt, so the child begins again. However, the child
 * first stores its parent's pid and then loads the attempt. If a handler interrupts the child
 * between these two instructions and records an event, it uses the parent's pid.
 */
void ptx_process_child(void)
{
	int saved = errno;
	bool has_forked;

	if (!has_begun) {
		/*
		 * this is no child: the constructor of another library runs before this library's
		 */
		ptx_process_init();
		return;
	}
	if (last_pid == 0) { /* this is no child: its set-up has called a function that traces */
		set_up_program();
		errno = saved;
		return;
	}
	do {
		uint32_t attempt, pid, unknown = 0;

		if (!ptx_process_is_child())
			break;
		/*
		 * The number of the attempt is in memory that fork() wipes, so after a later fork()
		 * it is 0 in the child.
		 */
		attempt = atomic_fetch_add_explicit(&attempts, 1, memory_order_relaxed) + 1;
		atomic_store_explicit(&ptx_private.attempt, attempt, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		pid = become_child();
		/* A handler or another thread that was faster has stored the id. */
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

/* Async-signal-safe. In a child that is not set up, this function sets the child up. */
uint32_t ptx_process_pid(void)
{
	if (ptx_process_is_child())
		ptx_process_child();
	return atomic_load_explicit(&ptx_private.pid, memory_order_relaxed);
}

/*
 * Called if the block is not zero: either the kernel has not wiped it, or a handler that traces has
 * already set up the child. glibc has the child's id by now. In the second case, and only then,
 * last_pid is this id.
 */
static void process_wipe(void)
{
	uint32_t pid = ptx_ids_thread();
	sigset_t all, old;

	/* 0: ptx_ids_thread() has not found where this C library keeps the id. */
	if (!pid)
		pid = ptx_proc_own();
	if (last_pid == pid)
		return;
	sigfillset(&all);
	/*
	 * all signals are blocked, so that no handler records an event between the next two steps
	 */
	sigprocmask(SIG_BLOCK, &all, &old);
	memset(&ptx_private_block, 0, sizeof ptx_private_block);
	ptx_process_child();
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/*
 * The child has one thread. A child that was made without the fork handler is set up at its first
 * event instead.
 */
void ptx_process_forked(void)
{
	if (!ptx_process_is_child())
		process_wipe();
	ptx_process_child();
}
