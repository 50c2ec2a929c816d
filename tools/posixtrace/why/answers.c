/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* answers.c - follows the connections of servers to their upstreams. */
#include "why/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* connections that are open at the same time; the answers of others are not known */
#define LINKS_MOST 1024

/* A connection that a server made. A descriptor belongs to a process, not to a thread. */
struct link {
	pid_t pid;
	uint64_t fd;
	uint32_t text;
	int64_t since_ns; /* valid if is_waiting */
	bool is_waiting;
	bool is_new;      /* it was connected at once, and nothing was written to it yet */
};

/* The connections that are open. */
struct links {
	struct link *link;
	size_t count;
};

/* Returns the connection of a descriptor, NULL if the server did not make it. */
static struct link *find_link(const struct links *links, pid_t pid, uint64_t fd)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->link[i].fd == fd && links->link[i].pid == pid)
			return &links->link[i];
	return NULL;
}

/*
 * Notes a new connection, on which the server waits from the connect on, because the upstream may
 * write first. If it is connected at once, the server need not wait: it may keep the connection for
 * a later request. The number of a descriptor is used again, so the connection may replace an older
 * one. Returns 0 or ENOMEM.
 */
static int open_link(struct links *links, pid_t pid, const struct call *call)
{
	struct link *link = find_link(links, pid, call->key);

	if (!link) {
		if (links->count == LINKS_MOST)
			return 0;
		if (!vec_grow(&links->link, links->count, 1))
			return ENOMEM;
		link = &links->link[links->count++];
	}
	*link = (struct link){ pid, call->key, call->text, call->begin_ns, true, !call->is_begun };
	return 0;
}

static void close_link(struct links *links, struct link *link)
{
	if (link)
		*link = links->link[--links->count];
}

int answers_each(const struct history *history,
		 void (*take)(void *arg, const struct answer *answer), void *arg)
{
	struct links links = { .count = 0 };
	int err = 0;

	for (size_t i = 0; i < history->calls && !err; i++) {
		const struct call *call = &history->call[i];
		const struct history_thread *thread = &history->thread[call->thread];
		struct link *link;

		if (!thread->is_server || call->cause < CAUSE_READ || call->cause > CAUSE_PEER)
			continue;
		if (call->cause == CAUSE_PEER && !strcmp(call->type->name, "net.connect")) {
			err = open_link(&links, thread->pid, call);
			continue;
		}
		/* A new descriptor has the number of a closed one. The log may lack the close. */
		if (!strcmp(call->type->name, "net.accept"))
			close_link(&links, find_link(&links, thread->pid, call->other));
		link = find_link(&links, thread->pid, call->key);
		if (!link)
			continue;
		if (call->cause == CAUSE_WRITE && (!link->is_waiting || link->is_new)) {
			link->since_ns = call->begin_ns;
			link->is_waiting = true;
			link->is_new = false;
		} else if (call->cause == CAUSE_READ && link->is_waiting && call->other) {
			/* A read without data, which other is 0 for, has no answer. */
			link->is_waiting = link->is_new = false;
			if (call->end_ns > link->since_ns)
				take(arg, &(const struct answer){ link->since_ns, call->end_ns,
								  call->thread, link->text });
		} else if (!strcmp(call->type->name, "io.close")) {
			close_link(&links, link);
		}
	}
	free(links.link);
	return err;
}

static void answers_take(void *arg, const struct answer *answer)
{
	struct answer *worst = arg;

	if (answers_ns(answer) > answers_ns(worst))
		*worst = *answer;
}

int answers_worst(const struct history *history, struct answer *worst)
{
	*worst = (struct answer){ .from_ns = 0 };
	return answers_each(history, answers_take, worst);
}
