/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meet/link_owner.h"

#include <pthread.h>
#include <stdlib.h>

struct ptx_link_owner {
	struct ptx_rendezvous_target target;
	unsigned streams, inherited;
	struct ptx_link_owner *next;
};

static struct ptx_link_owner *link_owners;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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

static void drop(struct ptx_link_owner *link_owner)
{
	struct ptx_link_owner **link = &link_owners;

	while (*link != link_owner)
		link = &(*link)->next;
	*link = link_owner->next;
	free(link_owner);
}

struct ptx_link_owner *ptx_link_owner_leave(const struct ptx_arena *arena,
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
	/* Each time anew: somebody may have removed them. */
	if (link_owner && fd >= 0) {
		ptx_rendezvous_leave(target, fd, false);
		if (inherited)
			ptx_rendezvous_leave(target, fd, true);
	}
	pthread_mutex_unlock(&lock);
	return link_owner;
}

void ptx_link_owner_take_back(struct ptx_link_owner *link_owner, bool inherited)
{
	if (!link_owner)
		return;
	pthread_mutex_lock(&lock);
	if (inherited && --link_owner->inherited == 0)
		ptx_rendezvous_remove(&link_owner->target, true);
	if (--link_owner->streams == 0) {
		ptx_rendezvous_remove(&link_owner->target, false);
		drop(link_owner);
	}
	pthread_mutex_unlock(&lock);
}

void ptx_link_owner_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	link_owners = NULL;
}
