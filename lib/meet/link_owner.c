/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meet/link_owner.h"

#include <pthread.h>
#include <stdlib.h>

struct ptx_notice {
	struct ptx_rendezvous_target target;
	unsigned streams, inherited;
	struct ptx_notice *next;
};

static struct ptx_notice *notices;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct ptx_notice *notice_for(const struct ptx_rendezvous_target *target)
{
	struct ptx_notice *notice = notices;

	while (notice &&
	       (notice->target.pid != target->pid || notice->target.start != target->start ||
		notice->target.uid != target->uid))
		notice = notice->next;
	if (notice)
		return notice;
	notice = calloc(1, sizeof *notice);
	if (!notice)
		return NULL;
	notice->target = *target;
	notice->next = notices;
	notices = notice;
	return notice;
}

static void drop(struct ptx_notice *notice)
{
	struct ptx_notice **link = &notices;

	while (*link != notice)
		link = &(*link)->next;
	*link = notice->next;
	free(notice);
}

struct ptx_notice *ptx_notice_leave(const struct ptx_arena *arena,
				    const struct ptx_rendezvous_target *target, bool inherited)
{
	struct ptx_notice *notice;
	int fd = ptx_arena_fd(arena);

	pthread_mutex_lock(&lock);
	notice = notice_for(target);
	if (notice) {
		notice->streams++;
		notice->inherited += inherited;
	}
	/* Each time anew: somebody may have removed them. */
	if (notice && fd >= 0) {
		ptx_rendezvous_leave(target, fd, false);
		if (inherited)
			ptx_rendezvous_leave(target, fd, true);
	}
	pthread_mutex_unlock(&lock);
	return notice;
}

void ptx_notice_take_back(struct ptx_notice *notice, bool inherited)
{
	if (!notice)
		return;
	pthread_mutex_lock(&lock);
	if (inherited && --notice->inherited == 0)
		ptx_rendezvous_remove(&notice->target, true);
	if (--notice->streams == 0) {
		ptx_rendezvous_remove(&notice->target, false);
		drop(notice);
	}
	pthread_mutex_unlock(&lock);
}

void ptx_notice_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	notices = NULL;
}
