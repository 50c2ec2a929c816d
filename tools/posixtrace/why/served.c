/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * served.c - finds the requests of servers with a process or a thread for each client, and those
 * that an event loop does not answer itself.
 */
#include "why/served.h"

#include <errno.h>
#include <stdlib.h>

#include "why/connections.h"

/* ------------------------------------------------------------------ requests */

/* A request that the thread handles now. */
struct handled {
	/* to_ns is the end of the last write, or equals from_ns if no write was found yet */
	struct served served;
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

/*
 * Calls take() for each request that a thread handles by itself. A request may come in several
 * reads, and its answer in several writes. A thread that accepts clients is examined only if it
 * serves one client after the other. Otherwise the times of its requests overlap, and turns_worst()
 * examines the thread.
 */
static void each_of_thread(const struct history *history, uint32_t thread,
			   void (*take)(void *arg, const struct served *served), void *arg)
{
	const struct history_thread *of = &history->thread[thread];
	struct handled handled = { .served.thread = thread };
	const struct call *before = NULL;

	if (of->is_server && !of->is_serial)
		return;
	for (size_t i = of->piece; i < of->piece + of->pieces; i++) {
		const struct call *call = &history->call[history->piece[i].call];
		const bool has_answer = handled.served.to_ns > handled.served.from_ns;

		/* A later read of the descriptor is from another client. */
		if (history_has_accepted(call))
			end_served(&handled, take, arg);
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
			handled.served.client = (struct served_client){
				call->client, (int32_t)call->key };
			handled.served.from_ns = handled.served.to_ns = call->end_ns;
		}
	}
	end_served(&handled, take, arg);
}

/* ------------------------------------------------------------------ requests of event loops */

/* The request of a connection that an event loop has read. */
struct pending {
	/* to_ns is the end of the last write, or equals from_ns if no write was found yet */
	struct served served;
	bool is_open;
};

/* The requests of all event loops. */
struct loops {
	const struct history *history;
	struct pending *pending; /* by the index of the accepted end of the connection */
	bool *is_inner;          /* by thread: its last wait was not ended by a socket */
};

/*
 * Returns whether a read shows that the process itself woke the loop, by a thread of its pool, a
 * child or a timer.
 */
static bool is_inner_read(const struct call *call)
{
	return call->cause == CAUSE_READ && !call->error &&
	       (call->fd_kind == FD_PIPE || call->fd_kind == FD_EVENT || call->fd_kind == FD_PAIR ||
		call->fd_kind == FD_TIMER || call->fd_kind == FD_SIGNAL);
}

/* Ends a request. Calls take() if it has an answer. */
static void end_pending(struct pending *pending,
			void (*take)(void *arg, const struct served *served), void *arg)
{
	if (pending->is_open && pending->served.to_ns > pending->served.from_ns)
		take(arg, &pending->served);
	pending->is_open = false;
}

/* Notes that a call has read data of a request, or has written data of an answer. */
static void follow_pending(const struct loops *loops, struct pending *pending,
			   const struct call *call,
			   void (*take)(void *arg, const struct served *served), void *arg)
{
	const struct history_thread *thread = &loops->history->thread[call->thread];
	struct served *served = &pending->served;

	if (call->error || call->is_empty)
		return;
	if (call->cause == CAUSE_WRITE && pending->is_open) {
		/*
		 * The loop itself has answered: in the turn in which it read the request, or in a
		 * turn in which an upstream server woke it.
		 */
		if (served->to_ns == served->from_ns && call->thread == served->thread &&
		    !loops->is_inner[call->thread]) {
			pending->is_open = false;
			return;
		}
		served->thread = call->thread;
		served->to_ns = call->end_ns;
	} else if (call->cause == CAUSE_READ &&
		   (!pending->is_open || served->to_ns > served->from_ns)) {
		end_pending(pending, take, arg);
		pending->is_open = thread->is_server && !thread->is_serial;
		*served = (struct served){
			.from_ns = call->end_ns, .to_ns = call->end_ns, .thread = call->thread,
			.client = { call->client, (int32_t)call->key },
		};
	}
}

/*
 * Calls take() for each request that an event loop does not answer itself. Returns 0 or ENOMEM.
 */
static int each_of_loops(const struct history *history,
			 void (*take)(void *arg, const struct served *served), void *arg)
{
	struct loops loops = {
		.history = history,
		.pending = calloc(history->ends + 1, sizeof(*loops.pending)),
		.is_inner = calloc(history->threads + 1, sizeof(*loops.is_inner)),
	};
	const bool has_memory = loops.pending && loops.is_inner;

	for (size_t i = 0; has_memory && i < history->calls; i++) {
		const struct call *call = &history->call[i];
		const uint32_t end = call->object & ~CONNECTIONS_BIT;

		/* A poll with the time limit 0 is no wait. */
		if (call->cause == CAUSE_POLL && !call->is_try)
			loops.is_inner[call->thread] = call->is_in_vain;
		else if (is_inner_read(call))
			loops.is_inner[call->thread] = true;
		else if (call->fd_kind == FD_CLIENT && (call->object & CONNECTIONS_BIT) &&
			 end < history->ends)
			follow_pending(&loops, &loops.pending[end], call, take, arg);
	}
	for (size_t i = 0; has_memory && i < history->ends; i++)
		end_pending(&loops.pending[i], take, arg);
	free(loops.pending);
	free(loops.is_inner);
	return has_memory ? 0 : ENOMEM;
}

int served_each(const struct history *history,
		void (*take)(void *arg, const struct served *served), void *arg)
{
	for (uint32_t i = 0; i < history->threads; i++)
		each_of_thread(history, i, take, arg);
	return each_of_loops(history, take, arg);
}

static void keep_worst(void *arg, const struct served *served)
{
	struct served *worst = arg;

	if (served_ns(served) > served_ns(worst))
		*worst = *served;
}

int served_worst(const struct history *history, struct served *worst)
{
	*worst = (struct served){ .client.fd = -1 };
	return served_each(history, keep_worst, worst);
}

/* ------------------------------------------------------------------ the client of a time */

#define LOOK_BACK 64 /* the most pieces before a time in which its client is searched */

/* The work for one client: a stretch of the time that served_client() divides. */
struct stretch {
	struct served_client client; /* fd -1: the thread works for no client */
	int64_t from_ns, to_ns;
	bool has_answer;             /* to_ns is the end of the last write to the client */
};

/* Begins the work for a client if a call has read its data. Otherwise notes an answer. */
static void follow_stretch(struct stretch *stretch, const struct call *call)
{
	const int32_t fd = (int32_t)call->key;

	if (call->fd_kind != FD_CLIENT || call->error)
		return;
	if (call->cause == CAUSE_WRITE && fd == stretch->client.fd) {
		stretch->to_ns = call->end_ns;
		stretch->has_answer = true;
	} else if (call->cause == CAUSE_READ && !call->is_empty &&
		   (fd != stretch->client.fd || stretch->has_answer)) {
		*stretch = (struct stretch){ .client = { call->client, fd },
					     .from_ns = call->end_ns };
	}
}

/*
 * Returns whether a stretch, which ends at end_ns if it has no answer, has more than half of the
 * time from from_ns to to_ns.
 */
static bool is_most(const struct stretch *stretch, int64_t end_ns, int64_t from_ns, int64_t to_ns)
{
	const int64_t begin = stretch->from_ns > from_ns ? stretch->from_ns : from_ns;
	const int64_t last = stretch->has_answer ? stretch->to_ns : end_ns;
	const int64_t end = last < to_ns ? last : to_ns;

	return stretch->client.fd >= 0 && end > begin && to_ns > from_ns &&
	       (uint64_t)end - (uint64_t)begin > ((uint64_t)to_ns - (uint64_t)from_ns) / 2;
}

struct served_client served_client(const struct history *history, uint32_t thread,
				   int64_t from_ns, int64_t to_ns, bool goes_on)
{
	const struct history_thread *of = &history->thread[thread];
	const size_t first = history_piece_at(history, of, from_ns), end = of->piece + of->pieces;
	const size_t back = first - of->piece < LOOK_BACK ? of->piece : first - LOOK_BACK;
	struct stretch stretch = { .client.fd = -1 };

	for (size_t i = goes_on ? back : first; i < end; i++) {
		const struct call *call = &history->call[history->piece[i].call];
		const struct stretch before = stretch;

		if (call->begin_ns >= to_ns)
			break;
		follow_stretch(&stretch, call);
		/* The work for the previous client ends when the thread reads from this client. */
		if (stretch.from_ns != before.from_ns &&
		    is_most(&before, call->begin_ns, from_ns, to_ns))
			return before.client;
	}
	return is_most(&stretch, to_ns, from_ns, to_ns) ? stretch.client :
	       (struct served_client){ .fd = -1 };
}
