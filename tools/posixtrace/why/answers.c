/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* answers.c - follows the connections that programs make, and the requests on them. */
#include "why/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "why/connections.h"
#include "why/lives.h"

#define LINKS_MOST 1024 /* the most open connections that are followed at the same time */
#define LOOK_AT    512  /* the most requests that a search examines */
#define REQUESTS_MOST (UINT32_C(1) << 22)

/* A connection that a program made. A descriptor belongs to a process, not to a thread. */
struct link {
	pid_t pid;
	uint64_t fd;
	uint32_t text, thread;
	uint32_t object;  /* of the connection */
	uint32_t asker;   /* the thread that sent the request, or made the connection */
	int64_t since_ns; /* valid if is_waiting */
	bool is_waiting;
	int64_t connecting_ns; /* begin of a connect that is not complete; INT64_MIN: none */
	bool is_new;      /* connect() did not wait, and nothing was written yet */
	/*
	 * The program has read from the connection, or a thread polled directly after it wrote a
	 * request. A program that only writes, for example to a log server, does neither, so it
	 * waits for no answer.
	 */
	bool has_read;
	/*
	 * A program that watches a connection by epoll waits for an answer only after it has sent a
	 * request. Before, it may keep the connection for a later request.
	 */
	bool is_watched, has_sent;
	bool is_peers_request; /* the peer sent the first message, as a client does to a server */
};

/*
 * The last poll of a thread that found something and could wait. The calls after it show whether
 * it found that a connection is complete.
 */
struct polled {
	int64_t end_ns;
	bool is_set;
	bool is_open; /* no call has shown yet what the poll found */
};

/* The connections that are open. */
struct links {
	struct history *history;
	struct link *link;
	size_t count;
	/* for each thread: the descriptor + 1 if its last call wrote a request, otherwise 0 */
	uint64_t *wrote;
	struct polled *polled; /* of each thread */
	uint32_t *server; /* by the index of a connection's accepted end: the thread that used it
			   * last, + 1; 0: none */
	int err;
};

/* Returns where links.server has the thread of a connection, or NULL. */
static uint32_t *server_of(const struct links *links, uint32_t object)
{
	const uint32_t end = object & ~CONNECTIONS_BIT;

	return (object & CONNECTIONS_BIT) && end < links->history->ends ? &links->server[end] :
									   NULL;
}

/*
 * Returns whether the thread that sent a request also answers it, as a program that tests its own
 * server does. Such a thread does not wait for the answer, but for whatever delays its own work.
 */
static bool is_own_request(const struct links *links, const struct link *link)
{
	const uint32_t *server = server_of(links, link->object);

	return server && *server == link->asker + 1;
}

/*
 * Returns the connection of a descriptor of a thread's process, or NULL if the process did not make
 * it.
 */
static struct link *find_link(const struct links *links, uint32_t thread, uint64_t fd)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->link[i].fd == fd &&
		    lives_same(links->history, links->link[i].thread, thread))
			return &links->link[i];
	return NULL;
}

/* Ends the wait on a connection, and keeps its request. */
static void end_request(struct links *links, struct link *link, int64_t to_ns, enum answer_end end,
			int32_t error)
{
	struct history *history = links->history;

	link->is_waiting = false;
	if (to_ns <= link->since_ns || link->is_new || is_own_request(links, link) ||
	    history->requests == REQUESTS_MOST ||
	    !(link->has_read || (link->is_watched && link->has_sent)))
		return;
	if (!vec_grow(&history->request, history->requests, 1)) {
		links->err = ENOMEM;
		return;
	}
	history->request[history->requests++] = (struct answer){
		.from_ns = link->since_ns,
		.to_ns = to_ns,
		.pid = link->pid,
		.thread = link->thread,
		.asker = link->asker,
		.text = link->text,
		.object = link->object,
		.fd = (int32_t)link->fd,
		.end = end,
		.error = error,
	};
}

/*
 * If a connect() of the connection is not complete, ends the wait for it. Without a poll, the next
 * use of the descriptor ends this wait, because the log does not show earlier that the connection
 * is complete.
 */
static void end_connect(struct links *links, struct link *link, int64_t to_ns, enum answer_end end,
			bool is_shown)
{
	struct history *history = links->history;
	const int64_t from_ns = link->connecting_ns;

	link->connecting_ns = INT64_MIN;
	if (from_ns == INT64_MIN || to_ns <= from_ns || !link->text ||
	    history->connects == REQUESTS_MOST)
		return;
	if (!vec_grow(&history->connect, history->connects, 1)) {
		links->err = ENOMEM;
		return;
	}
	history->connect[history->connects++] = (struct answer){
		.from_ns = from_ns, .to_ns = to_ns, .pid = link->pid, .thread = link->thread,
		.asker = link->asker, .text = link->text, .object = link->object,
		.fd = (int32_t)link->fd, .is_connect = true, .is_shown = is_shown, .end = end,
	};
}

static void close_link(struct links *links, struct link *link, int64_t time_ns)
{
	if (!link)
		return;
	end_connect(links, link, time_ns, ANSWER_CLOSED, false);
	if (link->is_waiting)
		end_request(links, link, time_ns, ANSWER_CLOSED, 0);
	*link = links->link[--links->count];
}

/*
 * Notes a new connection. The program waits from the connect on, because the peer may write first.
 * If the connect was complete immediately, is_new is true: the program may keep the connection for
 * a later request and need not wait. The connection replaces an older one with the same descriptor,
 * because the kernel uses the number of a closed descriptor again. A connect that failed makes no
 * connection.
 */
static void open_link(struct links *links, pid_t pid, const struct call *call)
{
	struct link *link = find_link(links, call->thread, call->key);

	/* A further connect() on the same socket asks whether the connection is complete. */
	if (link && call->error == EALREADY)
		return;
	if (link)
		end_connect(links, link, call->begin_ns, ANSWER_READ, false);
	if (link && call->error == EISCONN)
		return;
	if (call->error && !call->is_begun) {
		close_link(links, link, call->end_ns);
		return;
	}
	if (!link) {
		if (links->count == LINKS_MOST)
			return;
		if (!vec_grow(&links->link, links->count, 1)) {
			links->err = ENOMEM;
			return;
		}
		link = &links->link[links->count++];
	}
	*link = (struct link){
		.pid = pid, .fd = call->key, .text = call->peer ? call->peer : call->text,
		.object = call->object, .thread = call->thread, .asker = call->thread,
		.since_ns = call->begin_ns,
		.is_waiting = true, .is_new = !call->is_begun,
		.connecting_ns = call->is_begun ? call->begin_ns : INT64_MIN,
	};
}

/* Returns whether the error of a send means that the connection has ended. */
static bool is_broken(int32_t error)
{
	return error == EPIPE || error == ECONNRESET || error == ECONNREFUSED || error == ETIMEDOUT;
}

/* Handles a call that sends. A call that failed has sent no request. */
static void send_request(struct links *links, struct link *link, const struct call *call)
{
	if (call->error) {
		if (link->is_waiting && is_broken(call->error))
			end_request(links, link, call->end_ns, ANSWER_BROKEN, call->error);
		return;
	}
	if (!link->is_waiting || link->is_new) {
		link->since_ns = call->begin_ns;
		/* A socket without a connection may send each request to another peer. */
		link->text = call->peer ? call->peer : link->text;
	}
	link->is_waiting = true;
	link->is_new = false;
	link->has_sent = true;
	link->asker = call->thread;
	links->wrote[call->thread] = link->fd + 1;
}

/*
 * Returns whether a call shows that a connection is complete, or has failed: the call sends or
 * receives, asks for the peer or for the result of connect(), or is another connect(). Some errors
 * show that the connection is not complete.
 */
static bool shows_complete(const struct call *call)
{
	const char *name = call->type->name;

	switch (call->error) {
	case EAGAIN:
	case EALREADY:
	case EINPROGRESS:
	case EINTR:
	case ENOTCONN:
		return false;
	}
	return call->cause == CAUSE_READ || call->cause == CAUSE_WRITE ||
	       !strcmp(name, "net.getsockopt") || !strcmp(name, "net.getpeername") ||
	       !strcmp(name, "net.connect");
}

static bool is_close(const struct call *call)
{
	return !strcmp(call->type->name, "io.close") || !strcmp(call->type->name, "io.fclose");
}

/* Handles a call on a connection. */
static void use_link(struct links *links, struct link *link, const struct call *call)
{
	link->thread = call->thread;
	if (shows_complete(call))
		end_connect(links, link, call->begin_ns, call->error ? ANSWER_BROKEN : ANSWER_READ,
			    false);
	if (is_close(call)) {
		close_link(links, link, call->end_ns);
	} else if (link->is_peers_request) {
		return;
	} else if (call->cause == CAUSE_WRITE) {
		send_request(links, link, call);
	} else if (call->cause == CAUSE_READ || !strcmp(call->type->name, "io.splice")) {
		link->has_read = true;
		if (!link->is_waiting)
			return;
		/*
		 * Data that the first read from a new connection returns ends the wait, although
		 * the program has sent no request.
		 */
		if (call->result) {
			link->is_new = false;
			end_request(links, link, call->end_ns, ANSWER_READ, 0);
		} else if (call->is_empty ||
			   (call->error && call->error != EAGAIN && call->error != EINTR)) {
			end_request(links, link, call->end_ns, ANSWER_BROKEN, call->error);
		}
	} else if (!strcmp(call->type->name, "net.epoll_ctl")) {
		link->is_watched = true;
	}
}

/* Returns whether a connect() of the connection began before a poll ended, and is not complete. */
static bool is_pending(const struct link *link, const struct polled *polled)
{
	return link->connecting_ns != INT64_MIN && link->connecting_ns < polled->end_ns;
}

/*
 * No call has shown what the last poll of a thread found. So it may have found that any connection
 * is complete.
 */
static void end_polled(struct links *links, uint32_t thread)
{
	struct polled *polled = &links->polled[thread];

	for (size_t i = 0; polled->is_set && polled->is_open && i < links->count; i++)
		if (links->link[i].asker == thread && is_pending(&links->link[i], polled))
			end_connect(links, &links->link[i], polled->end_ns, ANSWER_READ, false);
	polled->is_set = false;
}

/*
 * Follows a poll. After a poll, some programs examine each descriptor by a poll that does not wait:
 * such a poll does not end the search for what the first one found.
 */
static void follow_poll(struct links *links, const struct call *call)
{
	struct polled *polled = &links->polled[call->thread];
	const bool has_found = !call->is_in_vain && !call->error;

	if (call->is_try && (polled->is_set || !has_found))
		return;
	end_polled(links, call->thread);
	*polled = (struct polled){ call->end_ns, has_found, has_found };
}

/*
 * Follows a call on a descriptor after a poll. If the call shows that a connection is complete, the
 * poll of the thread that made the connection found it. Another thread may make the call, to which
 * the first one gave the connection. If a thread reads from another descriptor or accepts a
 * connection, its poll need not have found more than that, so all connections remain as they are.
 * Other calls show nothing. 'link' is NULL if the descriptor has no connection.
 */
static void follow_use(struct links *links, struct link *link, const struct call *call)
{
	struct polled *own = &links->polled[call->thread];
	struct polled *polled = link ? &links->polled[link->asker] : own;

	if (polled->is_set && link && polled->end_ns <= call->begin_ns &&
	    is_pending(link, polled)) {
		if (is_close(call) && polled->is_open) {
			end_polled(links, link->asker);
		} else if (shows_complete(call)) {
			polled->is_open = false;
			end_connect(links, link, polled->end_ns, call->error &&
				    call->error != EISCONN ? ANSWER_BROKEN : ANSWER_READ, true);
		} else if (call->error) {
			/* The connection is not complete, so the poll found something else. */
			polled->is_set = false;
		}
	} else if ((!link || link->connecting_ns == INT64_MIN) && !call_uses_file(call) &&
		   (call->cause == CAUSE_READ || !strcmp(call->type->name, "net.accept"))) {
		own->is_set = false;
	}
}

static void update_links(struct links *links, const struct call *call)
{
	const pid_t pid = links->history->thread[call->thread].pid;
	const uint64_t wrote = links->wrote[call->thread];
	struct link *link;
	uint32_t *server;

	links->wrote[call->thread] = 0;
	server = call->fd_kind == FD_CLIENT ? server_of(links, call->object) : NULL;
	if (server)
		*server = call->thread + 1;
	if (call->cause == CAUSE_POLL)
		follow_poll(links, call);
	if (call->cause == CAUSE_POLL && wrote &&
	    (link = find_link(links, call->thread, wrote - 1)))
		link->has_read = true;
	if (call->cause < CAUSE_READ || call->cause > CAUSE_PEER || call->cause == CAUSE_POLL)
		return;
	link = find_link(links, call->thread, call->key);
	follow_use(links, link, call);
	if (call->cause == CAUSE_PEER && !strcmp(call->type->name, "net.connect")) {
		open_link(links, pid, call);
		return;
	}
	/*
	 * The new descriptor may have the number of a closed descriptor. The log may lack the call
	 * that closed it.
	 */
	if (!strcmp(call->type->name, "net.accept")) {
		close_link(links, find_link(links, call->thread, call->accepted), call->begin_ns);
		link = find_link(links, call->thread, call->key);
	}
	/*
	 * If a socket has no connection, each of its messages has a peer. The first message shows
	 * which side asks. If the peer asks, this process is a server: it waits for requests and
	 * not for answers.
	 */
	if (!link && call->peer && !call->error &&
	    (call->cause == CAUSE_WRITE || call->cause == CAUSE_READ)) {
		open_link(links, pid, call);
		link = find_link(links, call->thread, call->key);
		if (link && call->cause == CAUSE_READ) {
			link->is_peers_request = true;
			link->is_waiting = false;
		}
	}
	if (link)
		use_link(links, link, call);
}

/*
 * Ends the requests that have no answer at the end of the log. A thread whose last call was the
 * request probably waits for the answer in a call that has not returned.
 */
static void end_links(struct links *links)
{
	for (size_t i = 0; i < links->count && !links->err; i++) {
		struct link *link = &links->link[i];

		end_polled(links, link->asker);
		end_connect(links, link, lives_last_ns(links->history, link->thread),
			    ANSWER_NEVER, false);
		link->has_read |= links->wrote[link->thread] == link->fd + 1;
		if (link->is_waiting)
			end_request(links, link, lives_last_ns(links->history, link->thread),
				    ANSWER_NEVER, 0);
	}
}

/* Orders requests by process, then by begin, then by end. */
static int by_process(const void *a, const void *b)
{
	const struct answer *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

int answers_collect(struct history *history)
{
	struct links links = { .history = history };

	links.wrote = calloc(history->threads + 1, sizeof(*links.wrote));
	links.server = calloc(history->ends + 1, sizeof(*links.server));
	links.polled = calloc(history->threads + 1, sizeof(*links.polled));
	links.err = links.wrote && links.server && links.polled ? 0 : ENOMEM;
	for (size_t i = 0; i < history->calls && !links.err; i++)
		update_links(&links, &history->call[i]);
	if (!links.err)
		end_links(&links);
	if (history->requests)
		qsort(history->request, history->requests, sizeof(*history->request), by_process);
	if (history->connects)
		qsort(history->connect, history->connects, sizeof(*history->connect), by_process);
	free(links.link);
	free(links.wrote);
	free(links.polled);
	free(links.server);
	return links.err;
}

void answers_each(const struct history *history,
		  void (*take)(void *arg, const struct answer *answer), void *arg)
{
	for (size_t i = 0; i < history->requests; i++)
		if (history->thread[history->request[i].thread].is_server)
			take(arg, &history->request[i]);
}

static void answers_take(void *arg, const struct answer *answer)
{
	struct answer *worst = arg;

	if (answers_ns(answer) > answers_ns(worst))
		*worst = *answer;
}

void answers_worst(const struct history *history, struct answer *worst)
{
	*worst = (struct answer){ .from_ns = 0 };
	answers_each(history, answers_take, worst);
}

/*
 * Returns the index after the last element of a process that begins at or before a time. The array
 * is sorted by process, then by begin.
 */
static size_t begun_until(const struct answer *array, size_t count, pid_t pid, int64_t from_ns)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct answer *at = &array[middle];

		if (at->pid < pid || (at->pid == pid && at->from_ns <= from_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Does the work of answers_during() for an array that is sorted by process, then by begin. Ignores
 * the request that began at the same time as the connection 'own', to the same peer: the program
 * has waited on this connection since its connect. 'own' may be NULL. If 'read' is not NULL, only
 * the request whose answer this call read is found, and all others are counted.
 */
static const struct answer *search_during(const struct answer *array, size_t count, pid_t pid,
					  uint32_t thread, int64_t from_ns, int64_t to_ns,
					  const struct answer *own, const struct call *read,
					  unsigned *others)
{
	const struct answer *found = NULL;
	size_t low = begun_until(array, count, pid, from_ns);

	*others = 0;
	for (unsigned n = 0; low-- > 0 && n < LOOK_AT && array[low].pid == pid; n++) {
		const struct answer *request = &array[low];

		if (request->to_ns < to_ns ||
		    (request->thread != thread && request->asker != thread) ||
		    (own && request->from_ns == own->from_ns && request->text == own->text))
			continue;
		if (read && (request->end != ANSWER_READ || request->to_ns != read->end_ns ||
			     request->fd != (int32_t)read->key)) {
			++*others;
			continue;
		}
		*others += found && !read;
		found = request;
	}
	return found;
}

const struct answer *answers_during(const struct history *history, uint32_t thread,
				    int64_t from_ns, int64_t to_ns, unsigned *others)
{
	return search_during(history->request, history->requests, history->thread[thread].pid,
			     thread, from_ns, to_ns, NULL, NULL, others);
}

const struct answer *answers_read(const struct history *history, const struct call *wait,
				  const struct call *read, unsigned *others)
{
	*others = 0;
	if (read->cause != CAUSE_READ || !read->peer || !read->result)
		return NULL;
	return search_during(history->request, history->requests,
			     history->thread[wait->thread].pid, wait->thread, wait->begin_ns,
			     wait->end_ns, NULL, read, others);
}

/*
 * A poll that waited for the connection 'found' may also have waited for the answers to requests on
 * other connections. Counts all of them in *others, unless *others counts connections already.
 * 'found' may be NULL.
 */
static void count_requests(const struct history *history, const struct call *poll,
			   const struct answer *found, unsigned *others)
{
	const pid_t pid = history->thread[poll->thread].pid;
	unsigned more;

	if (found && !*others && search_during(history->request, history->requests, pid,
					       poll->thread, poll->begin_ns, poll->end_ns, found,
					       NULL, &more))
		*others = more + 1;
}

/*
 * Does the work of answers_connecting() for a poll that found something. A connection that was not
 * complete at the end of the poll did not end it.
 */
static const struct answer *search_found(const struct history *history, const struct call *poll,
					 unsigned *others)
{
	const pid_t pid = history->thread[poll->thread].pid;
	const struct answer *found = NULL;
	size_t i = begun_until(history->connect, history->connects, pid, poll->begin_ns);
	bool is_pending = false;

	for (unsigned n = 0; i-- > 0 && n < LOOK_AT && history->connect[i].pid == pid; n++) {
		const struct answer *connect = &history->connect[i];

		if (connect->asker != poll->thread || connect->to_ns < poll->end_ns)
			continue;
		if (connect->to_ns > poll->end_ns) {
			is_pending = true;
			continue;
		}
		*others += found != NULL;
		found = connect;
	}
	/* The poll has found another descriptor, too, and the log does not show which was first. */
	*others += found && !*others && poll->result > 1;
	/* If no call shows what the poll found, it may also have found the answer to a request. */
	if (found && !found->is_shown)
		count_requests(history, poll, found, others);
	*others += !found && is_pending;
	return found;
}

const struct answer *answers_connecting(const struct history *history, const struct call *poll,
					unsigned *others)
{
	const pid_t pid = history->thread[poll->thread].pid;
	const struct answer *found;

	*others = 0;
	if (!poll->is_in_vain && !poll->error)
		return search_found(history, poll, others);
	found = search_during(history->connect, history->connects, pid, poll->thread,
			      poll->begin_ns, poll->end_ns, NULL, NULL, others);
	count_requests(history, poll, found, others);
	return found;
}
