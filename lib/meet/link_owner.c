/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meet/link_owner.c - counts how many streams of this process need the links that this process has
 * made for a target.
 *
 * A target finds its arena by the links of its controllers (rendezvous.h). A controller has one
 * link for each target, for all its streams of this target, and a second link if one of these
 * streams is inherited. The controller removes a link when the last stream that needs it ends. The
 * links of a controller that is killed remain until another controller makes a link
 * (rendezvous_clean() in rendezvous.c).
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
	 * The number of streams that trace the target, and the number of these streams that
	 * children inherit. The lock protects both.
	 */
	unsigned streams, inherited;
	struct ptx_link_owner *next;
};

/* A child inherits the list and empties it, because it must not remove its parent's links. */
static struct ptx_link_owner *link_owners;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Returns the entry for the target. If there is none, makes a new entry. Returns NULL if there is
 * no memory. The caller holds the lock. The start time is compared, too, because processes may have
 * the same id one after the other. The pid namespace is compared, because processes of two
 * namespaces may have the same id at the same time.
 */
static struct ptx_link_owner *owner_for(const struct ptx_rendezvous_target *target)
{
	struct ptx_link_owner *link_owner = link_owners;

	while (link_owner &&
	       (link_owner->target.pid != target->pid ||
		link_owner->target.start != target->start ||
		link_owner->target.space != target->space ||
		link_owner->target.uid != target->uid))
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
 * If the folder is missing, or the program has closed the arena's descriptor, there are no links.
 * The only effect is that a program that the target executes may not find its arena. So errors of
 * the folder are not reported.
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
		ptx_rendezvous_link(&link_owner->target, fd, false);
		if (inherited)
			ptx_rendezvous_link(&link_owner->target, fd, true);
	}
	pthread_mutex_unlock(&lock);
	return link_owner;
}

/*
 * `link_owner` may be NULL, because ptx_link_owner_add() returns NULL if there is no memory.
 * `inherited` must be the same as in that call.
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
 * The mutex is initialized again, because a thread of the parent may have held it at the fork. The
 * entries are not freed, because that thread may have been changing the list.
 */
void ptx_link_owner_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	link_owners = NULL;
}
