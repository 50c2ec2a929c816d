/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/find.c - how a controller finds or makes the arena of the process that it traces. DESIGN 2
 * has the argument for the races between controllers and a target that starts.
 *
 * Everything happens under the lock of peer_arenas.h, in a thread of the controller and never in a
 * trace point: so it may allocate, sleep for about a second and read /proc. The target's pidfd is
 * open meanwhile. So if the target still lives at the end, its id has meant the same process in
 * each step.
 *
 * An error that might hide the target's arena ends the search: the controller must not make a
 * second arena, because the target would not look for streams there.
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
 * The controller sleeps for a millisecond between two looks at a process. It looks again up to 50
 * times if a child has not set up its arena, and up to 1,000 times if a process chooses between two
 * arenas.
 */
#define SETTING_UP_NAP_NS 1000000
#define SETTING_UP_NAPS   50
#define SETTLING_NAPS     1000 /* longer than a process needs, unless it was stopped */

/*
 * Maps an error of a look at a process to the errors of ptx_target_find(). ESRCH means that the
 * process has ended. Errors such as a full table of descriptors or too little memory concern this
 * process itself, so the function returns them unchanged. It also returns EPROTONOSUPPORT
 * unchanged, which means an arena of another version. All other errors mean that the process cannot
 * be looked at.
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
 * Returns the error that explains why the folder of a living process in /proc cannot be looked at.
 * With hidepid=invisible there is no folder of a process that the caller may not trace.
 * get_robust_list(2) shows whether this is the case, because the kernel checks the same permission
 * for that call as for hidepid. kill(2) cannot be used for this: it does not check all ids, nor
 * whether the process is dumpable. If the caller may trace the process, the folder is missing for
 * another reason.
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

/* Whether an arena that the target has open is the arena in which the target is traced. */
enum match { NOT_ITS, NOT_YET, ITS };

/*
 * An arena that the target has open may also wait for it (WAITS), or be one that it has left
 * (LEFT). The result is not ITS for either: the target does not use an arena that still waits for
 * it, and it no longer uses an arena that it has left.
 */
static enum match find_match(const struct ptx_arena *arena, uint32_t pid)
{
	/* acquire: pid was stored before `owner`, so it is loaded after `owner`. */
	const uint32_t owner = atomic_load_explicit(&arena->control->owner, memory_order_acquire);

	/* A process uses the arena of another process if it is a member there. */
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
 * Returns 0 if the kernel lets this process look at the files of the target, else EPERM. A process
 * with the target's effective user id may list the folder of descriptors. The links in that folder
 * may be read only if all user and group ids are the same and the target is dumpable, as for
 * ptrace(2). Without this check, each link that the kernel refuses would look like a descriptor
 * that is no arena. The function tries the link to the program (exe), because a target may have no
 * descriptor.
 */
static int check_links_readable(const char *files)
{
	char path[PTX_OPENER_PATH + sizeof "/../exe"], program;

	snprintf(path, sizeof path, "%s/../exe", files);
	/* One byte is enough, as only the error matters. */
	return readlink(path, &program, sizeof program) < 0 && (errno == EACCES || errno == EPERM) ?
		       EPERM :
		       0;
}

/*
 * Looks for the process's arena among its descriptors. The caller holds the lock. Here and below,
 * pid is its number in /proc. Returns EAGAIN if the process has only arenas open that are not its
 * own, such as its parent's before it has set up its own. Returns EINPROGRESS if the process is
 * setting up *result and will use that arena unless it finds another arena. Returns ENXIO if the
 * process has no arena open; perhaps it does not use this library. Returns EPROTONOSUPPORT if it
 * has an arena of another version open and none of this version: it would never look at an arena of
 * this version.
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
	 * If a descriptor cannot be opened, it may be the target's arena. Then the search fails,
	 * unless another descriptor is certainly that arena.
	 *
	 * The result is the arena that is certainly the target's, if there is one. So the search
	 * continues after a descriptor that leads to no such arena.
	 */
	while (err && !failure) {
		struct ptx_arena *arena;

		/*
		 * readdir() reports an error only by errno. If the list is incomplete, the result
		 * must not be "no arena".
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
	/* If an arena was found, a descriptor that could not be opened does not matter. */
	if (err && failure)
		return failure;
	return has_foreign && (err == ENXIO || err == EAGAIN) ? EPROTONOSUPPORT : err;
}

/*
 * Under lock. Does the same as search_descriptors(), but waits until the process has chosen its
 * arena. If the process does not choose, because it was stopped between two steps, the controller
 * chooses for it: the arena becomes CHOSEN. The process makes its choice by a compare-and-swap of
 * the same word. So if the process continues at this moment, only one of the two exchanges
 * succeeds, and both use that choice.
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
	 * If the exchange fails, the process has made its choice in the meantime. If the state is
	 * CHOSEN, it uses this arena. Otherwise it has left this arena for another arena, and the
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
 * Finds the arena to which another controller's link for the process leads. Under lock. A link that
 * this process may not follow belongs to a controller with more rights; the traced process cannot
 * follow it either.
 */
static int find_linked_arena(const struct ptx_rendezvous_target *link_target,
			     struct ptx_arena **left)
{
	char path[PTX_RENDEZVOUS_PATH];
	struct ptx_rendezvous walk;
	struct ptx_arena *arena = NULL;
	int err = 0;

	/*
	 * Links are texts that any process of the user may leave. The arena behind a link is used
	 * only if it was made for the target's id or has the target as a member.
	 */
	ptx_rendezvous_begin_for(&walk, link_target);
	while (!arena && !err && ptx_rendezvous_next_path(&walk, path)) {
		err = map_error(ptx_peer_arenas_at(path, &arena));
		/*
		 * A link that cannot be followed, or that a controller of another version has left,
		 * does not end the search. Other errors do.
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
 * Finds or makes an arena for a process that seems to have none. The process itself may create an
 * arena at this moment (process.c). Another controller may do so, too, and its link may be the
 * first link. So after the link exists, the function searches again: the process may have created
 * an arena before it could see the link. The caller holds the lock. On failure the function removes
 * its link, and the unlock closes the unused arena.
 */
static int make_arena_or_search(pid_t pid, const struct ptx_rendezvous_target *link_target,
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
		/* If another controller has the name PID.START.first, both use its arena. */
		if (!ptx_rendezvous_link_first(link_target, waiting->fd)) {
			err = find_linked_arena(link_target, &other);
			if (err)
				return err;
			if (!other) {
				/*
				 * The other controller has ended since, and its link
				 * leads nowhere.
				 */
				other = waiting;
				ptx_rendezvous_link(link_target, waiting->fd, false);
			}
		}
	}
	target->arena = other;
	atomic_thread_fence(memory_order_seq_cst); /* the link is made before the search */
	err = find_search(pid, target->pid, &other);
	if (err == 0 && other != target->arena) {
		if (target->arena == waiting)
			ptx_rendezvous_remove(link_target, false);
		target->arena = other;
	}
	/*
	 * After ENXIO and EAGAIN the target still has no arena of its own, and will find the link.
	 */
	if (err == 0 || err == ENXIO || err == EAGAIN)
		return 0;
	if (target->arena == waiting)
		ptx_rendezvous_remove(link_target, false);
	return err;
}

/*
 * Returns true if the process has ended and its parent has waited for it. Before that wait the
 * process still has its id. The signal 0 is not delivered.
 */
static bool has_ended(int process)
{
	return syscall(SYS_pidfd_send_signal, process, 0, NULL, 0) != 0 && errno == ESRCH;
}

/*
 * Under lock. EAGAIN means that the process has only its parent's arena. Such a process is a child
 * that has not made its own arena yet, or a child that never makes one because it has no event. The
 * process gets 50 ms to set up its own arena.
 */
static int find_arena(pid_t pid, const struct ptx_rendezvous_target *link_target,
		      struct ptx_target *target)
{
	_Atomic uint32_t never = 0;
	int err = find_search(pid, target->pid, &target->arena);

	for (int i = 0; err == EAGAIN && i < SETTING_UP_NAPS; i++) {
		ptx_futex_nap(&never, 0, SETTING_UP_NAP_NS);
		err = find_search(pid, target->pid, &target->arena);
	}
	/*
	 * After these two errors the search was complete: the process has no arena of its own.
	 * After any other error it may have one.
	 */
	return err == ENXIO || err == EAGAIN ? make_arena_or_search(pid, link_target, target) : err;
}

/*
 * Opens a pidfd. If pid is the id of a thread that is no process, the kernel returns EINVAL, or
 * ENOENT from Linux 6.16 on.
 */
static int open_process(pid_t pid, int *process)
{
	*process = (int)syscall(SYS_pidfd_open, pid, 0);
	if (*process >= 0)
		return 0;
	return errno == EINVAL || errno == ENOENT ? ESRCH : map_error(errno);
}

/*
 * Determines two ids of the process: its number in /proc, and its id in its own name space. If the
 * name spaces differ, these ids may differ from pid. *same_ids becomes true if an id means the same
 * process for the target and for this process.
 */
static int read_ids(int process, pid_t pid, struct ptx_proc_ids *ids, bool *same_ids)
{
	struct ptx_proc_ids own;
	int err = ptx_proc_ids(PTX_PROC_SELF, &own);

	if (err)
		return map_error(err);
	err = ptx_proc_ids_of(process, ids);
	/*
	 * An older kernel does not report the ids for a pidfd. Without name spaces pid is enough:
	 * the caller checks at the end whether the process has ended meanwhile.
	 */
	if (err == EIO && own.spaces == 1)
		err = ptx_proc_ids((uint32_t)pid, ids);
	/*
	 * The process is in this process's name space or in one below it. If it is at the same
	 * depth, it is in the same name space.
	 */
	*same_ids = !err && ids->spaces == own.spaces;
	return map_folder_error(pid, err);
}

/*
 * Under lock. Fills in the target's ids and identity, and `link_target`, from which the names of
 * its links are made. The user is the owner of the process's folder in /proc: the target looks for
 * links in that user's runtime folder.
 */
static int find_process(int process, pid_t pid, struct ptx_rendezvous_target *link_target,
			struct ptx_target *target)
{
	struct ptx_proc_ids ids = { 0 };
	char path[PTX_PROC_PATH];
	struct stat owner, space;
	int err = read_ids(process, pid, &ids, &target->same_ids);

	if (err)
		return err;
	target->pid = ids.inner;
	if (stat(ptx_proc_path(path, ids.number, ""), &owner) != 0)
		return map_folder_error(pid, errno);
	ptx_identity_of(process, ids.number, &target->identity);
	if (stat(ptx_proc_path(path, ids.number, "ns/pid"), &space) == 0)
		target->space = (uint32_t)space.st_ino;
	/* The start time is part of each link's name, so without it no rendezvous is possible. */
	if (target->identity.start == 0)
		return ENOTSUP;
	*link_target =
		(struct ptx_rendezvous_target){ owner.st_uid, target->pid, target->identity.start };
	return find_arena((pid_t)ids.number, link_target, target);
}

/* The unlock at the end closes the arenas that were opened meanwhile and have no users. */
static int find_other_process(pid_t pid, struct ptx_target *target)
{
	struct ptx_rendezvous_target link_target = { 0 };
	int process, err = open_process(pid, &process);

	if (err)
		return err;
	ptx_peer_arenas_lock();
	err = find_process(process, pid, &link_target, target);
	/* If the process is gone, the result of the search cannot be used. */
	if (has_ended(process)) {
		if (!err)
			ptx_rendezvous_remove(&link_target, false);
		err = ESRCH;
	}
	if (!err) {
		/*
		 * The link is left even if the target has the arena already: the target needs the
		 * link when it executes a program.
		 */
		target->link_owner =
			ptx_link_owner_add(target->arena, &link_target, target->inherited);
		/*
		 * The count of users keeps the arena open after the unlock. This process's own
		 * arena is never closed, so it needs no count.
		 */
		if (target->arena != &ptx_arena_self)
			target->arena->users++;
	}
	ptx_peer_arenas_unlock();
	close(process);
	return err;
}

/*
 * Children that close the arena's descriptor find the arena by this link. The function returns NULL
 * if the start time is unknown. Children then find the arena by the descriptor only.
 */
static struct ptx_link_owner *link_for_children(uint32_t pid)
{
	struct ptx_rendezvous_target link_target = {
		.uid = geteuid(),
		.pid = pid,
		.start = ptx_identity_start(PTX_PROC_SELF),
	};

	return link_target.start ? ptx_link_owner_add(&ptx_arena_self, &link_target, true) : NULL;
}

/* pid is an id of this process's name space. A process may name itself by 0 or by its id. */
int ptx_target_find(pid_t pid, bool inherited, struct ptx_target *target)
{
	if (pid < 0)
		return ESRCH;
	*target = (struct ptx_target){ .inherited = inherited };
	if (pid != 0 && (uint32_t)pid != ptx_proc_own())
		return find_other_process(pid, target);
	target->arena = &ptx_arena_self;
	target->pid = ptx_proc_own();
	/* no identity is needed, because in its own arena only this process has this id */
	target->same_ids = true;
	if (inherited)
		target->link_owner = link_for_children(target->pid);
	return 0;
}

/*
 * Called with the target of a stream that has ended. Removes this process's links if no other
 * stream needs them, and closes the arena if this stream was its last user.
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
