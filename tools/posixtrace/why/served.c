/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* served.c - finds the requests of servers with a process or a thread for each client. */
#include "why/served.h"

/* A request that the thread handles now. */
struct handled {
	struct served served; /* to_ns is the end of the last write; if it equals from_ns: none
			       * yet */
	uint64_t fd;
	bool is_open;
};

/* Ends the open request, if there is one. Calls take() if the request has an answer. */
static void end_served(struct handled *handled,
		       void (*take)(void *arg, const struct served *served), void *arg)
{
	if (handled->is_open && handled->served.to_ns > handled->served.from_ns)
		take(arg, &handled->served);
	handled->is_open = false;
}

/* A request may come in several reads, and its answer in several writes. */
void served_each(const struct history *history, uint32_t thread,
		 void (*take)(void *arg, const struct served *served), void *arg)
{
	const struct history_thread *of = &history->thread[thread];
	struct handled handled = { .served.thread = thread };
	const struct call *before = NULL;

	if (of->is_server)
		return;
	for (size_t i = of->piece; i < of->piece + of->pieces; i++) {
		const struct call *call = &history->call[history->piece[i].call];
		const bool has_answer = handled.served.to_ns > handled.served.from_ns;

		if (call->fd_kind != FD_CLIENT || call == before)
			continue;
		before = call;
		if (call->cause == CAUSE_WRITE && !call->error) {
			if (handled.is_open && handled.fd == call->key)
				handled.served.to_ns = call->end_ns;
		} else if (call->cause == CAUSE_READ) {
			if (has_answer || handled.fd != call->key)
				end_served(&handled, take, arg);
			if (handled.is_open || call->error || call->is_empty)
				continue;
			handled.is_open = true;
			handled.fd = call->key;
			handled.served.from_ns = handled.served.to_ns = call->end_ns;
		}
	}
	end_served(&handled, take, arg);
}

static void keep_worst(void *arg, const struct served *served)
{
	struct served *worst = arg;

	if (served_ns(served) > served_ns(worst))
		*worst = *served;
}

void served_worst(const struct history *history, struct served *worst)
{
	*worst = (struct served){ .from_ns = 0 };
	for (uint32_t i = 0; i < history->threads; i++)
		served_each(history, i, keep_worst, worst);
}
