/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nagle.c - counts the small writes before each read of a TCP connection. */
#include "why/nagle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "log/field.h"

/* With the usual size of a packet, TCP sends this number of bytes, or more, without waiting. */
#define SMALL_BYTES 1448
/*
 * Linux delays an acknowledgement by 40 ms. If the log has the peer, a wait of the peer for
 * DELAY_NS is enough, because a part of the delay may be before the wait. Otherwise the whole wait
 * must be about as long as such a delay and the time of the network: from ALONE_NS to
 * ALONE_MOST_NS.
 */
#define DELAY_NS      UINT64_C(30000000)
#define ALONE_NS      UINT64_C(38000000)
#define ALONE_MOST_NS UINT64_C(50000000)
#define LOOK_AT 4 /* the most calls before the peer's answer that are examined */

/* Values of the fields of net.socket and net.setsockopt, on all processors of Linux. */
enum { DOMAIN_INET = 2, DOMAIN_INET6 = 10, TYPE_BITS = 15, TYPE_STREAM = 1 };
#define OPTION_NODELAY UINT64_C(0x600000001)
#define OPTION_CORK    UINT64_C(0x600000003)

static bool is_socket(const void *array, uint32_t index, const void *key)
{
	const struct tcp_socket *socket = (const struct tcp_socket *)array + index, *wanted = key;

	return socket->pid == wanted->pid && socket->fd == wanted->fd;
}

/* Returns the socket of a descriptor, or NULL. Adds it if 'make' is true. */
static struct tcp_socket *socket_of(struct history *history, pid_t pid, int32_t fd, bool make)
{
	const struct tcp_socket wanted = { .pid = pid, .fd = fd };
	const uint64_t hash = hash_number((uint64_t)(unsigned)pid, (uint64_t)(unsigned)fd);
	const uint32_t index = table_find(&history->of_tcp, hash, is_socket, history->tcp, &wanted);

	if (index != TABLE_NONE)
		return &history->tcp[index];
	if (!make || fd < 0 || history->tcps >= HISTORY_CALLS)
		return NULL;
	if (!vec_grow(&history->tcp, history->tcps, 1) ||
	    !table_add(&history->of_tcp, hash, (uint32_t)history->tcps)) {
		history->err = ENOMEM;
		return NULL;
	}
	history->tcp[history->tcps] = wanted;
	return &history->tcp[history->tcps++];
}

static int64_t field_of(const struct log_type *type, const struct posix_trace_event_np *event,
			const char *name)
{
	return field_integer(type->schema, name, event, -1);
}

/* Begins to follow a socket, or forgets an earlier socket with this descriptor. */
static void begin_socket(struct history *history, pid_t pid, int32_t fd, bool is_tcp,
			 bool has_nodelay)
{
	struct tcp_socket *socket = socket_of(history, pid, fd, is_tcp);

	if (socket)
		*socket = (struct tcp_socket){
			.pid = pid, .fd = fd, .is_tcp = is_tcp, .has_nodelay = has_nodelay };
}

/* Counts a write, or examines a read. A read that finds no data continues the wait. */
static void note_transfer(struct tcp_socket *socket, struct call *call)
{
	if (call->cause == CAUSE_WRITE && !call->error) {
		socket->writes = call->result < SMALL_BYTES ? socket->writes + 1 : 0;
	} else if (call->cause == CAUSE_READ && (call->result || call->is_empty)) {
		call->is_small = !socket->has_nodelay && socket->writes >= 2 && call->result;
		socket->writes = 0;
	}
}

void nagle_note(struct history *history, const struct plan *plan, const struct log_type *type,
		const struct posix_trace_event_np *event, pid_t pid, struct call *call)
{
	struct tcp_socket *socket;
	int64_t domain;
	uint64_t option;

	if (!strcmp(type->name, "net.socket")) {
		domain = field_of(type, event, "domain");
		begin_socket(history, pid, (int32_t)field_of(type, event, "fd"),
			     (domain == DOMAIN_INET || domain == DOMAIN_INET6) &&
			     (field_of(type, event, "type") & TYPE_BITS) == TYPE_STREAM, false);
		return;
	}
	if (plan->closed >= 0) {
		begin_socket(history, pid, (int32_t)classify_number(type, event, plan->closed),
			     false, false);
		return;
	}
	/* The number of an object of System V is no descriptor. */
	if (!history->tcps || plan->key < 0 || plan->has_id)
		return;
	socket = socket_of(history, pid, (int32_t)call->key, false);
	if (!socket || !socket->is_tcp)
		return;
	if (!strcmp(type->name, "net.setsockopt")) {
		option = (uint64_t)field_of(type, event, "option");
		/* A program that uses TCP_CORK holds back data on purpose. */
		if (!call->error && (option == OPTION_NODELAY || option == OPTION_CORK))
			socket->has_nodelay = option == OPTION_CORK ||
					      field_of(type, event, "value");
	} else if (!strcmp(type->name, "net.accept")) {
		/* An accepted socket inherits the options of the socket that listens. */
		begin_socket(history, pid, (int32_t)field_of(type, event, "accepted"), true,
			     socket->has_nodelay);
	} else {
		note_transfer(socket, call);
	}
}

/* Returns the time between two times. In a hostile log, from_ns may be later than to_ns. */
static uint64_t nagle_ns(int64_t from_ns, int64_t to_ns)
{
	return to_ns > from_ns ? (uint64_t)to_ns - (uint64_t)from_ns : 0;
}

/*
 * Returns whether a peer waited for data after a time, in one of its last calls before its answer,
 * and stores the end of this wait. Data that TCP does not delay arrives in microseconds, so the
 * peer does not wait for DELAY_NS.
 */
static bool peer_waited(const struct history *history, const struct call *answer,
			int64_t since_ns, int64_t *until_ns)
{
	const struct history_thread *thread = &history->thread[answer->thread];
	size_t i = history_piece_at(history, thread, answer->begin_ns);

	for (unsigned n = 0; n < LOOK_AT && i-- > thread->piece; n++) {
		const struct call *call = &history->call[history->piece[i].call];
		const int64_t from_ns = call->begin_ns > since_ns ? call->begin_ns : since_ns;

		if (call->end_ns <= since_ns)
			return false;
		if ((call->cause == CAUSE_READ || call->cause == CAUSE_POLL) &&
		    nagle_ns(from_ns, call->end_ns) >= DELAY_NS) {
			*until_ns = call->end_ns;
			return true;
		}
	}
	return false;
}

bool nagle_delayed(const struct history *history, const struct call *call, const struct call *read,
		   const struct call *answer, struct nagle_delay *delay)
{
	const uint64_t waited_ns = nagle_ns(call->begin_ns, call->end_ns);

	if (!read || !read->is_small || waited_ns < DELAY_NS)
		return false;
	*delay = (struct nagle_delay){ .until_ns = call->end_ns };
	if (!answer)
		return waited_ns >= ALONE_NS && waited_ns <= ALONE_MOST_NS;
	delay->is_measured = true;
	return peer_waited(history, answer, call->begin_ns, &delay->until_ns) &&
	       delay->until_ns <= call->end_ns;
}

void nagle_fini(struct history *history)
{
	free(history->tcp);
	table_fini(&history->of_tcp);
}
