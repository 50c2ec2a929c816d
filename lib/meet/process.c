/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/process.c - sets up the arena of a process: at its start, after execve(), and in a child.
 *
 * The functions run in the traced program: in the constructor, in the fork handler, or in a trace
 * point of a child that is not set up. So they use no stdio, allocate no memory, and keep errno. An
 * error does not end the set-up. If there is no file, the arena is anonymous memory. If this memory
 * cannot be mapped either, the static pages remain the control page.
 *
 * The process makes its own arena visible to others before it searches for an arena that a
 * controller has made for it. meet/DESIGN 2 shows why a controller and this process then choose the
 * same arena. The states of an arena, such as SETTLING, are those of enum ptx_arena_owner.
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
#include "arena/descriptors.h"
#include "base/barrier.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/ids.h"
#include "base/io.h"
#include "base/proc.h"
#include "base/quiet.h"
#include "meet/family.h"
#include "meet/folder.h"
#include "meet/rendezvous.h"

/*
 * Maps the lists of an arena. If fd is negative, maps anonymous memory for new lists. MAP_NORESERVE
 * is used because most of the address space is never used. Returns NULL if there is no memory; the
 * arena then has no lists.
 */
static struct ptx_lists *map_lists(int fd)
{
	void *lists = mmap(NULL, PTX_LISTS_BYTES, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0), fd,
			   fd < 0 ? 0 : PTX_NAMES_AT);

	return lists == MAP_FAILED ? NULL : lists;
}

/*
 * Copies schemas and object names. If the list `to` is full, entries are dropped, because they only
 * describe events.
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
	arena->device = arena->inode = 0;
	atomic_store_explicit(&arena->claims, 0, memory_order_relaxed);
	if (fd < 0 || fstat(fd, &file) != 0)
		return;
	arena->device = file.st_dev;
	arena->inode = file.st_ino;
	arena->bytes = (uint64_t)file.st_size;
}

/*
 * Returns true if this process must use the arena. There are three cases: the arena was made for
 * this process, this process has used it before it executed the program, or it is the arena of a
 * family (family.h) to which this process belongs. `control` is mapped and is an arena of this
 * version. If the arena was made for this process id and its state is WAITS, a compare-and-swap
 * makes it CHOSEN. If it is CHOSEN already, this process has used it before it executed the
 * program, or a controller has chosen it for this process. `walk` is the search that has found the
 * arena. If the search followed a link for another process, the process id in the control page may
 * be the id of a former process, or of a process in another pid namespace.
 */
static bool choose_arena(struct ptx_control *control, const struct ptx_rendezvous *walk)
{
	uint32_t waits = PTX_ARENA_WAITS;

	if (walk->is_inherited || control->pid != ptx_proc_own())
		return atomic_load_explicit(&control->owner, memory_order_acquire) !=
			       PTX_ARENA_LEFT &&
		       (walk->is_others ? ptx_family_rejoin(control, walk->link_space) :
					  ptx_family_join(control));
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
 * Replaces this process's new arena by the arena in fd, which `walk` has found, if choose_arena()
 * permits it. Otherwise returns false. The caller then still owns fd, and the process's own arena
 * is SETTLING, or CHOSEN if a controller has chosen it.
 *
 * The order matters. First the names are merged, because an event type that the program has already
 * must keep its number. Second, the own arena becomes LEFT, so that no controller attaches a stream
 * to it. Third, the other arena becomes CHOSEN, or this process joins the family of the other
 * arena. If the third step or the mapping fails, the own arena becomes SETTLING again.
 */
static bool change_to(struct ptx_arena *arena, int fd, const struct ptx_rendezvous *walk)
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
	if (ptx_arena_is_own_head(control->magic, control->version))
		lists = map_lists(fd);
	/*
	 * The change to LEFT fails if a controller has ended its wait and has made the own arena
	 * CHOSEN.
	 */
	if (!lists || !ptx_names_merge(&lists->names, arena->names) ||
	    !set_owner(PTX_ARENA_SETTLING, PTX_ARENA_LEFT) || !choose_arena(control, walk) ||
	    !ptx_control_map(fd)) {
		set_owner(PTX_ARENA_LEFT, PTX_ARENA_SETTLING);
		if (lists)
			munmap(lists, PTX_LISTS_BYTES);
		munmap(control, sizeof(union ptx_control_page));
		return false;
	}
	munmap(control, sizeof(union ptx_control_page));
	if (arena->lists) {
		/* In a child the lists of the own arena have copies of the parent's texts. */
		copy_texts(lists, arena->lists);
		munmap(arena->lists, PTX_LISTS_BYTES);
	}
	/*
	 * This process has no stream in the arena that it has just made, so closing the file
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
 * Follows links (rendezvous.h) to an arena that a controller has made for this process or an
 * ancestor, or that this process has used before it executed the program. If there is none, the own
 * arena becomes CHOSEN. The own arena is visible already, and a controller makes its link before it
 * searches for the own arena. So at least one of two searches succeeds: the controller finds the
 * own arena, or this process finds the link. The controller waits until this process has chosen one
 * of the two arenas.
 */
static void use_linked_arena(struct ptx_arena *arena, bool is_program)
{
	struct ptx_rendezvous walk;
	int fd;

	/*
	 * Because of this fence, the search for links comes after the store that has made the own
	 * arena visible.
	 */
	atomic_thread_fence(memory_order_seq_cst);
	ptx_rendezvous_begin(&walk, is_program);
	while ((fd = ptx_rendezvous_next(&walk)) >= 0) {
		if (change_to(arena, fd, &walk))
			break;
		close(fd);
	}
	ptx_rendezvous_end(&walk);
	if (fd < 0)
		set_owner(PTX_ARENA_SETTLING, PTX_ARENA_CHOSEN);
}

/*
 * Uses an arena whose descriptor the program has inherited through execve(), if there is such an
 * arena. ptx_family_find() maps its control page. This arena has the names of the family already,
 * so no names are merged. Returns false if there is no such arena, or if its control page cannot be
 * mapped.
 */
static bool use_inherited_arena(struct ptx_arena *arena)
{
	int fd = ptx_family_find();

	if (fd < 0)
		return false;
	set_file(arena, fd);
	ptx_arena_set_lists(arena, map_lists(fd));
	return true;
}

/*
 * Makes an arena of this process's own, with the names that this process has already. Then searches
 * for an arena that a controller has made for this process. `is_program` is false in a child of
 * fork(), which runs its parent's program. Such a child does not search for links for ancestors. If
 * there was such a link, the parent has found the arena, and the child has inherited it.
 *
 * A child that may share its parent's table of descriptors opens no file and closes none, because
 * both would change the parent's table. Its arena is anonymous memory, so no other process can
 * create a stream in it.
 */
static void make_arena(bool is_program)
{
	struct ptx_arena *arena = &ptx_arena_self;
	struct ptx_lists *old = arena->lists, *lists;
	const bool has_table = ptx_descriptors_are_own();
	int fd = ptx_arena_fd(arena);

	ptx_family_begin();
	if (fd >= 0 && has_table)
		close(fd); /* in a child, this is the parent's arena */
	/* If fd is -1, the arena is anonymous memory, which is enough for this process alone. */
	fd = has_table ? ptx_arena_file(&arena->bytes) : -1;
	set_file(arena, fd);
	if (!ptx_control_map(fd))
		return;
	lists = map_lists(fd);
	if (lists && old) { /* in a child the old lists belong to the parent; they stay mapped */
		ptx_names_copy(&lists->names, &old->names);
		copy_texts(lists, old);
	}
	if (lists)
		ptx_arena_set_lists(arena, lists);
	/*
	 * From here on, a controller that examines this process's descriptors finds an arena that
	 * is SETTLING.
	 */
	ptx_arena_begin(&ptx_own_control, ptx_proc_own(),
			has_table ? PTX_ARENA_SETTLING : PTX_ARENA_CHOSEN);
	if (has_table)
		use_linked_arena(arena, is_program);
}

/* True when ptx_process_init() has begun. It is set before other threads exist. */
static ptx_start_data bool has_begun;

/*
 * The id of the process that was set up last in this memory. fork() does not zero this variable, so
 * in a child it is the parent's id until the child is set up.
 */
static ptx_start_data uint32_t last_pid;

/*
 * The objects that the parent has named exist in the child, too, at the same addresses. Adds one
 * entry of kind CHILD that shows this, so that the parent's entries need not be copied. If the
 * parent has named no objects, adds no entry.
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
 * Sets up the process at its start. The function calls functions of the C library that the shim
 * wraps. Such a call may start the shim, which opens its event types. Opening a type calls
 * ptx_process_child(), which calls this function again. The inner call does the whole work before
 * the outer call continues.
 *
 * The program may have replaced one of these functions of the C library by a function that opens a
 * type. The inner call then calls that function, too, and so causes a third call. The third call
 * does nothing, because otherwise the recursion would have no end; the type has no id yet.
 */
static void set_up_program(void)
{
	static ptx_start_data unsigned depth;

	if (depth == 2)
		return;
	depth++;
	ptx_barrier_init();
	ptx_folder_init();
	ptx_descriptors_note_own(); /* execve() gives a program a table of its own */
	if (ptx_process_is_child()) {
		/*
		 * As soon as this process has an arena of its own, a controller may find it and
		 * attach a stream. So the process asks for its identity before. A program with an
		 * inherited arena needs its identity only if a stream names its process id as the
		 * target.
		 */
		if (!use_inherited_arena(&ptx_arena_self)) {
			ptx_family_identify_self();
			make_arena(true);
		}
		last_pid = ptx_proc_own();
		/* The id is stored last. So if a thread finds the id, the arena is complete. */
		atomic_store_explicit(&ptx_private.pid, last_pid, memory_order_release);
	}
	depth--;
}

/*
 * Only the first call has an effect. In most programs the library's constructor makes it, but a
 * constructor of another library may trace earlier.
 */
void ptx_process_init(void)
{
	int saved = errno;

	if (has_begun)
		return;
	has_begun = true;
	/*
	 * MADV_WIPEONFORK works only for anonymous memory. Pages of zeros in a library are usually
	 * anonymous memory. If they are not, new anonymous memory replaces the process block, which
	 * is still zero.
	 */
	if (madvise(&ptx_private_block, sizeof ptx_private_block, MADV_WIPEONFORK) != 0 &&
	    mmap(&ptx_private_block, sizeof ptx_private_block, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		madvise(&ptx_private_block, sizeof ptx_private_block, MADV_WIPEONFORK);
	set_up_program();
	errno = saved;
}

/*
 * point/thread.c sets these pointers. The room point/ has a higher rank, so its header must not be
 * included here.
 */
ptx_start_data void (*ptx_process_before_child)(void);
ptx_start_data uint32_t (*ptx_process_pid_of_child)(void);

/*
 * Makes an arena of the child's own. All signals are blocked meanwhile, because a signal handler
 * that records an event must not find an incomplete arena. A handler that ran before may have set
 * up the child already.
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
 * If a quiet child of vfork() forks, its child inherits the seccomp filter and has a copy of the
 * memory. So the whole process is quiet.
 */
static void own_quiet(void)
{
	if (!ptx_quiet_lent)
		return;
	atomic_fetch_or_explicit(&ptx_own_control.quiet, PTX_QUIET_PROCESS, memory_order_seq_cst);
	atomic_store_explicit(&ptx_quiet, true, memory_order_seq_cst);
	ptx_quiet_lent = false;
}

/*
 * Sets up the child and returns its id. A signal handler that interrupts this function may record
 * an event and so call the function again. Therefore each step can be repeated with the same
 * result. If the process is quiet, a child that inherits no stream gets no arena of its own,
 * because a seccomp filter may forbid the system calls for it.
 */
static uint32_t become_child(void)
{
	uint32_t pid = ptx_process_pid_of_child ? ptx_process_pid_of_child() : ptx_proc_own();

	own_quiet();
	ptx_descriptors_look(last_pid);
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
 * The number of the last attempt to set up a child. fork() does not zero it, so that no two
 * attempts of a process and its children have the same number.
 */
static _Atomic uint32_t attempts;

/*
 * A signal handler that records an event may interrupt this function and do the whole work itself.
 * The function then repeats the work with the same result.
 *
 * A handler may also fork. The child of this fork continues in this function with its parent's id
 * in `pid`. fork() has zeroed ptx_private.attempt, so the child recognizes this and begins again.
 * However, the child first stores its parent's pid and then loads the attempt. One fault remains:
 * if a handler interrupts the child between these two instructions and records an event, the event
 * has the parent's pid.
 */
void ptx_process_child(void)
{
	int saved = errno;
	bool has_forked;

	if (!has_begun) {
		/*
		 * This is no child: the constructor of another library runs before the constructor
		 * of this library.
		 */
		ptx_process_init();
		return;
	}
	/* this is no child: set_up_program() has called a function that traces */
	if (last_pid == 0) {
		set_up_program();
		errno = saved;
		return;
	}
	do {
		uint32_t attempt, pid, unknown = 0;

		if (!ptx_process_is_child())
			break;
		/*
		 * fork() zeroes ptx_private, so after a later fork() the number of the attempt is 0
		 * in the child.
		 */
		attempt = atomic_fetch_add_explicit(&attempts, 1, memory_order_relaxed) + 1;
		atomic_store_explicit(&ptx_private.attempt, attempt, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		pid = become_child();
		/* This fails if a signal handler or another thread has stored the id already. */
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
 * Called in the fork handler if the process block is not zero. Either the kernel has not zeroed the
 * block, or a signal handler that records events has set up the child already. In the second case,
 * and only then, last_pid is the child's id.
 */
static void process_wipe(void)
{
	uint32_t pid = ptx_ids_thread();
	sigset_t all, old;

	/* ptx_ids_thread() returns 0 if it does not know where this C library keeps the id. */
	if (!pid)
		pid = ptx_proc_own();
	if (last_pid == pid)
		return;
	sigfillset(&all);
	/*
	 * All signals are blocked, so that no signal handler records an event between the next two
	 * steps.
	 */
	sigprocmask(SIG_BLOCK, &all, &old);
	memset(&ptx_private_block, 0, sizeof ptx_private_block);
	ptx_descriptors_note_own();
	ptx_process_child();
	sigprocmask(SIG_SETMASK, &old, NULL);
}

/* If a child was made without the fork handler, its first event sets it up instead. */
void ptx_process_forked(void)
{
	if (!ptx_process_is_child())
		process_wipe();
	ptx_descriptors_note_own();
	ptx_process_child();
}
