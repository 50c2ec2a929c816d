/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/find.c - how a controller finds or makes the arena of the process that it traces (the
 * target). meet/DESIGN 2 explains the races between controllers and a target that starts.
 *
 * The functions run under the lock of peer_arenas.h, in a thread of the controller and never in a
 * trace point. So they may allocate memory, sleep for about a second and read /proc. The target's
 * pidfd is open meanwhile. So if the target still lives at the end, its process id has belonged to
 * the same process in each step.
 *
 * The first search is among the descriptors of the target, because a process has the file of its
 * arena open. If an error may have hidden the arena, the search fails. The controller must not make
 * a second arena then, because the target would not use it. If the target has no arena, the
 * controller makes one, and leaves a link for the target (rendezvous.h).
 */
#include "meet/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/proc.h"
#include "meet/family.h"
#include "meet/link_owner.h"
#include "meet/openers.h"
#include "meet/peer_arenas.h"
#include "meet/rendezvous.h"

/*
 * The controller repeats a search after a sleep (nap) of SETTING_UP_NAP_NS: at most SETTING_UP_NAPS
 * times if a child has not set up its arena, and at most SETTLING_NAPS times if a process is
 * choosing between two arenas.
 */
#define SETTING_UP_NAP_NS 1000000
#define SETTING_UP_NAPS   50
#define SETTLING_NAPS     1000 /* longer than a process needs, unless it was stopped */

/*
 * Maps an error that occurred when a process was examined to the errors of ptx_target_find(). ESRCH
 * means that the process has ended. EMFILE, ENFILE and ENOMEM concern this process itself, and
 * EPROTONOSUPPORT means an arena of another version. These errors are returned unchanged. All other
 * errors mean that the process cannot be examined.
 */
static int map_error(int err)
{
	switch (err) {
	case 0:
	case ESRCH:
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EPROTONOSUPPORT:
		return err;
	case EACCES:
	case EPERM:
		return EPERM;
	default:
		return ENOTSUP;
	}
}

/*
 * Returns the error for a living process whose folder in /proc cannot be read. If /proc is mounted
 * with hidepid=invisible, it does not show a process that the caller may not trace.
 * get_robust_list(2) shows whether this is the reason, because the kernel checks the same
 * permission for that call as for hidepid. If the caller may trace the process, the folder is
 * missing for another reason. kill(2) cannot be used instead, because the kernel checks other
 * permissions for kill(2).
 */
static int map_folder_error(pid_t pid, int err)
{
	void *head;
	size_t bytes;

	if (err == ENOENT && syscall(SYS_get_robust_list, pid, &head, &bytes) != 0 &&
	    (errno == EPERM || errno == ESRCH))
		return errno;
	return map_error(err);
}

/* NOT_YET: the target has not chosen this arena yet. ITS: the target uses this arena. */
enum match { NOT_ITS, NOT_YET, ITS };

/*
 * Returns whether the target uses an arena that it has open. `pid` is the target's id in its own
 * namespace. The target does not use an arena that it has not found yet (WAITS), or that it has
 * left (LEFT).
 */
static enum match find_match(const struct ptx_arena *arena, uint32_t pid)
{
	/*
	 * The acquire order pairs with the release in ptx_arena_begin(), so `pid` of the control
	 * page is valid.
	 */
	const uint32_t owner = atomic_load_explicit(&arena->control->owner, memory_order_acquire);

	/* The arena was made for another process. The target uses the arena if it is a member. */
	if (arena->control->pid != pid)
		return ptx_family_has(arena->control, pid) ? ITS : NOT_ITS;
	switch (owner) {
	case PTX_ARENA_CHOSEN:
		return ITS;
	case PTX_ARENA_SETTLING:
		return NOT_YET;
	default:
		return NOT_ITS;
	}
}

/*
 * Returns 0 if this process may read the links in the target's folder of descriptors, else EPERM.
 * The kernel permits this only if all user and group ids are the same and the target is dumpable,
 * as for ptrace(2). Listing the folder needs fewer rights. Without this check, the search would
 * mistake a link that it may not read for the descriptor of some other file. The function reads the
 * link to the program (exe), because a target may have no descriptor.
 */
static int check_links_readable(const char *files)
{
	char path[PTX_OPENER_PATH + sizeof "/../exe"], program;

	snprintf(path, sizeof path, "%s/../exe", files);
	/* Only the error matters, so a buffer of one byte is enough. */
	return readlink(path, &program, sizeof program) < 0 && (errno == EACCES || errno == EPERM) ?
		       EPERM :
		       0;
}

/*
 * Searches for the process's arena among its descriptors. The caller holds the lock. Here and
 * below, `pid` is the number of the process in /proc. Returns:
 *	0		*result is the arena that the process uses
 *	EAGAIN		the process has only arenas open that it does not use, such as its parent's
 *			arena before it has set up its own
 *	EINPROGRESS	the process is setting up *result, and will use this arena unless it finds
 *			another arena
 *	ENXIO		the process has no arena open; it may not use this library
 *	EPROTONOSUPPORT	the process has an arena of another version open, and none of this version,
 *			so it would never use an arena of this version
 *	others		the errors of map_error()
 */
static int search_descriptors(pid_t pid, uint32_t inner_pid, struct ptx_arena **result)
{
	char files[PTX_OPENER_PATH], path[sizeof files + sizeof(struct dirent)];
	struct dirent *entry;
	bool has_foreign = false;
	DIR *folder;
	int err, failure = 0;

	ptx_openers_files((uint32_t)pid, files, sizeof files);
	err = check_links_readable(files);
	if (err)
		return err;
	err = ENXIO;
	folder = opendir(files);
	if (!folder)
		return map_error(errno);
	/*
	 * If a file cannot be opened, it may be the target's arena. In this case the search fails.
	 * The search continues after each file that is not the arena that the target uses.
	 */
	while (err && !failure) {
		struct ptx_arena *arena;

		/*
		 * readdir() reports an error only by errno. After an error the list is incomplete,
		 * and the result must not be ENXIO.
		 */
		errno = 0;
		entry = readdir(folder);
		if (!entry) {
			failure = map_error(errno);
			break;
		}
		if (entry->d_name[0] == '.' ||
		    !ptx_openers_is_candidate(dirfd(folder), entry->d_name))
			continue;
		snprintf(path, sizeof path, "%s/%s", files, entry->d_name);
		failure = map_error(ptx_peer_arenas_at(path, &arena));
		if (failure == EPROTONOSUPPORT) {
			has_foreign = true;
			failure = 0;
		}
		if (!arena)
			continue;
		switch (find_match(arena, inner_pid)) {
		case ITS:
			*result = arena;
			err = 0;
			break;
		case NOT_YET:
			*result = arena;
			err = EINPROGRESS;
			break;
		case NOT_ITS:
			err = err == ENXIO ? EAGAIN : err;
		}
	}
	closedir(folder);
	/* If the arena was found, another file that could not be opened does not matter. */
	if (err && failure)
		return failure;
	return has_foreign && (err == ENXIO || err == EAGAIN) ? EPROTONOSUPPORT : err;
}

/*
 * Does the same as search_descriptors(), but waits until the process has chosen its arena. If the
 * process does not choose, because it was stopped between two steps, the controller chooses for the
 * process: the arena becomes CHOSEN. The process also makes its choice by a compare-and-swap of the
 * member `owner`. So only one of the two exchanges succeeds, and both processes use its result. The
 * caller holds the lock.
 */
static int find_search(pid_t pid, uint32_t inner_pid, struct ptx_arena **result)
{
	_Atomic uint32_t never = 0;
	uint32_t settling = PTX_ARENA_SETTLING;
	int err = search_descriptors(pid, inner_pid, result);

	for (int i = 0; err == EINPROGRESS && i < SETTLING_NAPS; i++) {
		ptx_futex_nap(&never, 0, SETTING_UP_NAP_NS);
		err = search_descriptors(pid, inner_pid, result);
	}
	if (err != EINPROGRESS)
		return err;
	/*
	 * If the exchange fails, the process has made its choice meanwhile. If the state is CHOSEN,
	 * the process uses this arena. Otherwise it has left this arena for another arena, and the
	 * result is EAGAIN.
	 */
	return atomic_compare_exchange_strong_explicit(&(*result)->control->owner, &settling,
						       PTX_ARENA_CHOSEN, memory_order_acq_rel,
						       memory_order_acquire) ||
			       settling == PTX_ARENA_CHOSEN
		       ? 0
		       : EAGAIN;
}

/*
 * Finds the arena to which a link of another controller for the target leads. The caller holds the
 * lock. *left becomes NULL if there is no such arena. If this process may not follow a link, the
 * link belongs to a controller with more rights, and the target cannot follow it either. Returns 0
 * or an error of map_error().
 */
static int find_linked_arena(const struct ptx_rendezvous_target *link_target,
			     struct ptx_arena **left)
{
	char path[PTX_RENDEZVOUS_PATH];
	struct ptx_rendezvous walk;
	struct ptx_arena *arena = NULL;
	int err = 0;

	/*
	 * Any process of the user may leave a link to any file. The arena behind a link is used
	 * only if it was made for the target's process id or has the target as a member.
	 */
	ptx_rendezvous_begin_for(&walk, link_target);
	while (!arena && !err && ptx_rendezvous_next_path(&walk, path)) {
		err = map_error(ptx_peer_arenas_at(path, &arena));
		/*
		 * The search continues if a link cannot be followed (EPERM), or if a controller
		 * with another version of this library has left it. Other errors end the search.
		 */
		if (err == EPERM || err == EPROTONOSUPPORT)
			err = 0;
		if (arena && arena->control->pid != link_target->pid &&
		    !ptx_family_has(arena->control, link_target->pid))
			arena = NULL;
	}
	ptx_rendezvous_end(&walk);
	*left = arena;
	return err;
}

/*
 * Finds or makes an arena for a process that seems to have no arena. The process itself may make an
 * arena at the same time (process.c), and so may another controller. If several controllers make an
 * arena, the arena with the first link is used. After the link exists, the function searches again,
 * because the process may have made an arena before it could find the link. The caller holds the
 * lock. After an error the function removes its link, and the unlock closes the unused arena.
 * Returns 0 or an error of ptx_target_find().
 */
static int make_arena_or_search(pid_t pid, struct ptx_rendezvous_target *link_target,
				struct ptx_target *target)
{
	struct ptx_arena *waiting = NULL, *other;
	int err = find_linked_arena(link_target, &other);

	if (err)
		return err;
	if (!other) {
		other = waiting = ptx_peer_arenas_make(target->pid);
		if (!waiting)
			return ENOMEM;
		/*
		 * If another controller has made the link with the shared name, both controllers
		 * use the arena of the other controller.
		 */
		if (!ptx_rendezvous_link_first(link_target, waiting->fd)) {
			err = find_linked_arena(link_target, &other);
			if (err)
				return err;
			if (!other) {
				/*
				 * The other controller has ended since, and its link leads to no
				 * file.
				 */
				other = waiting;
				ptx_rendezvous_link(link_target, waiting->fd, false);
			}
		}
	}
	target->arena = other;
	atomic_thread_fence(memory_order_seq_cst); /* the link must exist before the search */
	err = find_search(pid, target->pid, &other);
	if (err == 0 && other != target->arena) {
		if (target->arena == waiting)
			ptx_rendezvous_remove(link_target, false);
		target->arena = other;
	}
	/* After ENXIO and EAGAIN the target has no arena of its own, and will find the link. */
	if (err == 0 || err == ENXIO || err == EAGAIN)
		return 0;
	if (target->arena == waiting)
		ptx_rendezvous_remove(link_target, false);
	return err;
}

/*
 * Returns true if the process has ended and its parent has waited for it, so that its process id
 * may belong to another process. The kernel does not deliver signal 0.
 */
static bool has_ended(int process)
{
	return syscall(SYS_pidfd_send_signal, process, 0, NULL, 0) != 0 && errno == ESRCH;
}

/*
 * Finds or makes the arena of the target. The caller holds the lock. EAGAIN of find_search() means
 * that the process has only its parent's arena open. It is a child that has not made its own arena
 * yet, or that makes none because it records no event. So the function waits up to 50 ms for the
 * child's arena. Returns 0 or an error of ptx_target_find().
 */
static int find_arena(pid_t pid, struct ptx_rendezvous_target *link_target,
		      struct ptx_target *target)
{
	_Atomic uint32_t never = 0;
	int err = find_search(pid, target->pid, &target->arena);

	for (int i = 0; err == EAGAIN && i < SETTING_UP_NAPS; i++) {
		ptx_futex_nap(&never, 0, SETTING_UP_NAP_NS);
		err = find_search(pid, target->pid, &target->arena);
	}
	/*
	 * After ENXIO and EAGAIN it is certain that the process has no arena of its own. After any
	 * other error it may have an arena.
	 */
	return err == ENXIO || err == EAGAIN ? make_arena_or_search(pid, link_target, target) : err;
}

/*
 * Opens a pidfd. If `pid` is the id of a thread and not of a process, the kernel returns EINVAL, or
 * ENOENT since Linux 6.16.
 */
static int open_process(pid_t pid, int *process)
{
	*process = (int)syscall(SYS_pidfd_open, pid, 0);
	if (*process >= 0)
		return 0;
	return errno == EINVAL || errno == ENOENT ? ESRCH : map_error(errno);
}

/*
 * Determines two ids of the process: its number in /proc, and its id in its own pid namespace. If
 * this process, /proc and the target have different pid namespaces, these ids differ from `pid`.
 * *same_ids becomes true if the target is in the pid namespace of this process. Returns 0 or an
 * error of ptx_target_find().
 */
static int read_ids(int process, pid_t pid, struct ptx_proc_ids *ids, bool *same_ids)
{
	struct ptx_proc_ids own;
	int err = ptx_proc_ids(PTX_PROC_SELF, &own);

	if (err)
		return map_error(err);
	err = ptx_proc_ids_of(process, ids);
	/*
	 * An older kernel does not report the ids for a pidfd. If there is only one pid namespace,
	 * the function uses `pid` instead. The caller checks at the end whether the process has
	 * ended meanwhile.
	 */
	if (err == EIO && own.spaces == 1)
		err = ptx_proc_ids((uint32_t)pid, ids);
	/*
	 * The target is in the pid namespace of this process or in a namespace below it. If both
	 * are at the same depth, both are in the same namespace.
	 */
	*same_ids = !err && ids->spaces == own.spaces;
	return map_folder_error(pid, err);
}

/*
 * Finds the target's ids, identity and arena, and fills `link_target`, from which the names of its
 * links are made. The owner of the process's folder in /proc is the user in whose runtime folder
 * the target searches for links. The caller holds the lock. Returns 0 or an error of
 * ptx_target_find().
 */
static int find_process(int process, pid_t pid, struct ptx_rendezvous_target *link_target,
			struct ptx_target *target)
{
	struct ptx_proc_ids ids = { 0 };
	char path[PTX_PROC_PATH];
	struct stat owner;
	int err = read_ids(process, pid, &ids, &target->same_ids);

	if (err)
		return err;
	target->pid = ids.inner;
	target->number = ids.number;
	if (stat(ptx_proc_path(path, ids.number, ""), &owner) != 0)
		return map_folder_error(pid, errno);
	ptx_identity_of(process, ids.number, &target->identity);
	target->space = ptx_proc_space(ids.number);
	/* The start time is part of each link's name, so without it no rendezvous is possible. */
	if (target->identity.start == 0)
		return ENOTSUP;
	*link_target = (struct ptx_rendezvous_target){
		.uid = owner.st_uid,
		.pid = target->pid,
		.start = target->identity.start,
		.space = target->space,
	};
	return find_arena((pid_t)ids.number, link_target, target);
}

/*
 * Finds a target that is another process. The unlock at the end closes the arenas that were opened
 * meanwhile and have no users. Returns 0 or an error of ptx_target_find().
 */
static int find_other_process(pid_t pid, struct ptx_target *target)
{
	struct ptx_rendezvous_target link_target = { 0 };
	int process, err = open_process(pid, &process);

	if (err)
		return err;
	ptx_peer_arenas_lock();
	err = find_process(process, pid, &link_target, target);
	/* If the process is gone, `pid` may have meant another process during the search. */
	if (has_ended(process)) {
		if (!err)
			ptx_rendezvous_remove(&link_target, false);
		err = ESRCH;
	}
	if (!err) {
		/*
		 * The controller leaves a link even if the target uses the arena already, because a
		 * program that the target executes needs the link.
		 */
		target->link_owner =
			ptx_link_owner_add(target->arena, &link_target, target->inherited);
		/*
		 * The count of users keeps the arena open after the unlock. This process's own
		 * arena is never closed, so its users are not counted.
		 */
		if (target->arena != &ptx_arena_self)
			target->arena->users++;
	}
	ptx_peer_arenas_unlock();
	close(process);
	return err;
}

/*
 * Leaves a link to this process's own arena. Children that close the arena's descriptor find the
 * arena by this link. Returns NULL if the start time of this process is unknown. Children then find
 * the arena only by the descriptor.
 */
static struct ptx_link_owner *link_for_children(uint32_t pid)
{
	struct ptx_rendezvous_target link_target = {
		.uid = geteuid(),
		.pid = pid,
		.start = ptx_identity_start(PTX_PROC_SELF),
		.space = ptx_proc_space(PTX_PROC_SELF),
	};

	return link_target.start ? ptx_link_owner_add(&ptx_arena_self, &link_target, true) : NULL;
}

/* `pid` is an id of this process's pid namespace. A process may name itself by 0 or by its id. */
int ptx_target_find(pid_t pid, bool inherited, struct ptx_target *target)
{
	if (pid < 0)
		return ESRCH;
	*target = (struct ptx_target){ .inherited = inherited };
	if (pid != 0 && (uint32_t)pid != ptx_proc_own())
		return find_other_process(pid, target);
	target->arena = &ptx_arena_self;
	target->pid = target->number = ptx_proc_own();
	/* no identity is needed, because in its own arena only this process has this id */
	target->same_ids = true;
	if (inherited)
		target->link_owner = link_for_children(target->pid);
	return 0;
}

/*
 * Called when the stream has ended. Removes this process's links for the target if no other stream
 * needs them, and closes the arena if no other stream uses it.
 */
void ptx_target_release(struct ptx_target *target)
{
	ptx_link_owner_remove(target->link_owner, target->inherited);
	if (target->arena == &ptx_arena_self)
		return;
	ptx_peer_arenas_lock();
	target->arena->users--;
	ptx_peer_arenas_unlock();
}
