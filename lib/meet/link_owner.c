/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/link_owner.c - counts the streams of this process that need its links for a target.
 *
 * A process has one link for each target, however many of its streams trace the target, and a
 * second link if one of these streams is inherited. The process removes its links when the last
 * stream that needs them ends. The links of a process that is killed remain, until the next
 * controller that makes a link removes them (rendezvous_clean() in rendezvous.c).
 *
 * Called by threads of a controller, never in a trace point. The lock is held during system calls
 * in the runtime folder, which do not wait for other processes.
 */
#include "meet/link_owner.h"

#include <pthread.h>
#include <stdlib.h>

/* The links for one target. The structure is in the list while `streams` is not 0. */
struct ptx_link_owner {
	struct ptx_rendezvous_target target;
	/*
	 * The number of streams that trace the target, and how many of these streams its children
	 * inherit. Both are changed under the lock.
	 */
	unsigned streams, inherited;
	struct ptx_link_owner *next;
};

/*
 * The list is in memory that a child inherits. The child forgets the list, because it must not
 * remove its parent's links.
 */
static struct ptx_link_owner *link_owners;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Returns the entry for the target. If there is none, makes a new entry. Returns NULL if there is
 * no memory. The caller holds the lock. The start time is compared, too, because processes may have
 * the same id one after the other.
 */
static struct ptx_link_owner *owner_for(const struct ptx_rendezvous_target *target)
{
	struct ptx_link_owner *link_owner = link_owners;

	while (link_owner &&
	       (link_owner->target.pid != target->pid ||
		link_owner->target.start != target->start || link_owner->target.uid != target->uid))
		link_owner = link_owner->next;
	if (link_owner)
		return link_owner;
	link_owner = calloc(1, sizeof *link_owner);
	if (!link_owner)
		return NULL;
	link_owner->target = *target;
	link_owner->next = link_owners;
	link_owners = link_owner;
	return link_owner;
}

/* Removes the entry, which is in the list, and frees it. The caller holds the lock. */
static void link_owner_drop(struct ptx_link_owner *link_owner)
{
	struct ptx_link_owner **link = &link_owners;

	while (*link != link_owner)
		link = &(*link)->next;
	*link = link_owner->next;
	free(link_owner);
}

/*
 * The stream works without links if the folder is missing or the program has closed the arena's
 * descriptor: the only effect is that the target is no longer traced after it executes another
 * program. So errors of the folder are not reported.
 */
struct ptx_link_owner *ptx_link_owner_add(const struct ptx_arena *arena,
					  const struct ptx_rendezvous_target *target,
					  bool inherited)
{
	struct ptx_link_owner *link_owner;
	int fd = ptx_arena_fd(arena);

	pthread_mutex_lock(&lock);
	link_owner = owner_for(target);
	if (link_owner) {
		link_owner->streams++;
		link_owner->inherited += inherited;
	}
	/*
	 * The links are created again each time, because the user or a cleaner of /tmp may have
	 * removed them.
	 */
	if (link_owner && fd >= 0) {
		ptx_rendezvous_link(target, fd, false);
		if (inherited)
			ptx_rendezvous_link(target, fd, true);
	}
	pthread_mutex_unlock(&lock);
	return link_owner;
}

/*
 * link_owner may be NULL, since ptx_link_owner_add() may have had no memory. `inherited` has the
 * value that was given to that function.
 */
void ptx_link_owner_remove(struct ptx_link_owner *link_owner, bool inherited)
{
	if (!link_owner)
		return;
	pthread_mutex_lock(&lock);
	if (inherited && --link_owner->inherited == 0)
		ptx_rendezvous_remove(&link_owner->target, true);
	if (--link_owner->streams == 0) {
		ptx_rendezvous_remove(&link_owner->target, false);
		link_owner_drop(link_owner);
	}
	pthread_mutex_unlock(&lock);
}

/*
 * The lock is made anew, because a thread of the parent that does not exist here may hold it. The
 * entries are not freed: such a thread may have been changing the list, so a walk through it is not
 * safe.
 */
void ptx_link_owner_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	link_owners = NULL;
}
