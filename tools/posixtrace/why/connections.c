/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* connections.c - compares the addresses and times of the ends of connections. */
#include "why/connections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define PENDING_MOST 256 /* connects without an accept; each accept is compared with all of them */

size_t connections_host_len(const char *address)
{
	const char *colon = *address == '/' || *address == '@' ? NULL : strrchr(address, ':');

	return colon ? (size_t)(colon - address) : 0;
}

bool connections_is_any_port(const char *address)
{
	const size_t len = strlen(address);

	return len > 2 && !strcmp(address + len - 2, ":0");
}

/* Returns a hash of the port or path of an address. */
static uint64_t hash_port(const char *address)
{
	const char *port = address + connections_host_len(address);

	return hash_bytes(HASH_BEGIN, port, strlen(port));
}

static bool is_any_host(const char *address)
{
	return !strncmp(address, "0.0.0.0:", 8) || !strncmp(address, "[::]:", 5) ||
	       !strncmp(address, "[0:0:0:0:0:0:0:0]:", 18);
}

bool connections_is_loopback(const char *address)
{
	return !strncmp(address, "127.", 4) || !strncmp(address, "[::1]:", 6) ||
	       !strncmp(address, "[0:0:0:0:0:0:0:1]:", 18);
}

static bool is_own_host(const char *address)
{
	return connections_is_loopback(address) || is_any_host(address);
}

uint32_t connections_add(struct history *history, const struct connection_end *end)
{
	const char *server = history_text_at(history, end->server);
	struct connection_end *added;

	if (history->ends >= HISTORY_CALLS)
		return 0;
	if (!vec_grow(&history->end, history->ends, 1)) {
		history->err = ENOMEM;
		return 0;
	}
	added = &history->end[history->ends];
	*added = *end;
	added->mate = HISTORY_NONE;
	added->port = hash_port(server);
	added->host = (uint32_t)connections_host_len(server);
	added->is_any = is_any_host(server);
	added->is_own = is_own_host(server);
	return CONNECTIONS_BIT | (uint32_t)history->ends++;
}

/* Returns the end of a connection that an object identifies, or NULL if it identifies none. */
static struct connection_end *end_of(const struct history *history, uint32_t object)
{
	const uint32_t index = object & ~CONNECTIONS_BIT;

	return (object & CONNECTIONS_BIT) && index < history->ends ? &history->end[index] : NULL;
}

bool connections_continue(struct history *history, uint32_t object, const struct call *call)
{
	struct connection_end *end = end_of(history, object);

	if (!end || !end->is_begun || end->closed_ns || end->server != call->text)
		return false;
	if (call->error && !call->is_begun && call->error != EALREADY && call->error != EISCONN)
		end->closed_ns = call->end_ns;
	return true;
}

void connections_name(struct history *history, uint32_t object, uint32_t text)
{
	struct connection_end *end = end_of(history, object);

	if (end && !end->client)
		end->client = text;
}

void connections_use(struct history *history, uint32_t object)
{
	struct connection_end *end = end_of(history, object);

	if (end)
		end->is_used = true;
}

void connections_close(struct history *history, uint32_t object, int64_t time_ns)
{
	struct connection_end *end = end_of(history, object);

	/*
	 * A copy of the descriptor may remain open. So closed_ns is used only if the connection had
	 * no transfer.
	 */
	if (end && !end->closed_ns)
		end->closed_ns = time_ns;
}

/* ------------------------------------------------------------------ pairs */

/* An end of a connection, and the time by which the ends are sorted. */
struct point {
	int64_t time_ns;
	uint32_t end;
};

static int by_time(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/*
 * Returns whether a connect may reach the socket of an accept. If this socket accepts connections
 * to each address of its machine, the connect must be to the machine itself: to its loopback
 * address, or to the address from which the client connects.
 */
static bool reaches_server(const struct history *history, const struct connection_end *connect,
			   const struct connection_end *accept)
{
	const char *client = history_text_at(history, accept->client);

	if (!connect->server || !accept->server || connect->port != accept->port)
		return false;
	if (connect->server == accept->server)
		return true;
	return accept->is_any && (connect->is_own ||
				  (!strncmp(history_text_at(history, connect->server), client,
					    connect->host) && client[connect->host] == ':'));
}

/*
 * Compares the client's own address with the address that accept() returned: 2 if they are equal, 0
 * if they differ, 1 if one of them is not known. If the client has bound its socket to each address
 * of its machine, only the ports are compared, and equal ports give 1.
 */
static int clients_fit(const struct history *history, const struct connection_end *connect,
		       const struct connection_end *accept)
{
	const char *own = history_text_at(history, connect->client);
	const char *client = history_text_at(history, accept->client);

	/* A client that has not bound a local socket has no address: the text is empty. */
	if (!*own || !*client)
		return 1;
	if (is_any_host(own))
		return hash_port(own) == hash_port(client);
	return connect->client == accept->client ? 2 : 0;
}

/*
 * Returns whether a connect and an accept may be of one connection: 2 if the client's own address
 * proves it, 1 if the address of the server permits it, 0 if not.
 */
static int ends_fit(const struct history *history, const struct connection_end *connect,
		    const struct connection_end *accept)
{
	return reaches_server(history, connect, accept) ? clients_fit(history, connect, accept) :
							  0;
}

int connections_fit(const struct history *history, uint32_t connected, uint32_t accepted)
{
	const struct connection_end *connect = end_of(history, connected);
	const struct connection_end *accept = end_of(history, accepted);

	if (!connect || !accept)
		return -1;
	/* Both ends of a pair have the object of the accepted end. */
	if (connect == accept)
		return 1;
	if (connect->is_accepted || accept->mate != HISTORY_NONE ||
	    (connect->server && accept->server && !reaches_server(history, connect, accept)))
		return 0;
	return clients_fit(history, connect, accept) ? -1 : 0;
}

/* Returns whether a connect was given up before an accept, so that it has no other end. */
static bool is_given_up(const struct connection_end *connect, int64_t time_ns)
{
	return connect->is_begun && !connect->is_used && connect->closed_ns &&
	       connect->closed_ns <= time_ns;
}

/*
 * Finds the connect of an accept among the connects that have no accept yet. If no client's own
 * address decides, the function chooses the oldest connect that fits, because the socket that
 * listens accepts connections in this order. If another connect that fits overlaps the oldest one
 * in time, the order of the two is not known, and neither gets a pair.
 */
static void pair_accept(struct history *history, uint32_t *pending, size_t *count, uint32_t index)
{
	struct connection_end *accept = &history->end[index];
	struct connection_end *found = NULL;
	size_t at = 0;
	int best = 0;

	for (size_t i = 0; i < *count; i++) {
		struct connection_end *connect = &history->end[pending[i]];
		const int fit = ends_fit(history, connect, accept);

		if (fit == 1 && best == 1 && connect->from_ns < found->to_ns)
			found->is_ambiguous = connect->is_ambiguous = true;
		if (fit <= best || is_given_up(connect, accept->to_ns))
			continue;
		best = fit;
		found = connect;
		at = i;
	}
	if (!found)
		return;
	if (best == 2 || !found->is_ambiguous) {
		accept->mate = pending[at];
		found->mate = index;
	}
	memmove(&pending[at], &pending[at + 1], (*count - at - 1) * sizeof(*pending));
	--*count;
}

/*
 * Compares the own address of a socket with the address that the other side used for it: 1 equal, 0
 * not equal, -1 one of them is not known. The kernel chooses the port of a socket that is bound to
 * port 0.
 */
static int names_fit(const struct history *history, uint32_t own, uint32_t used)
{
	const char *a = history_text_at(history, own), *b = history_text_at(history, used);

	if (!*a || !*b || connections_is_any_port(a))
		return -1;
	return own == used || (is_any_host(a) && hash_port(a) == hash_port(b));
}

int connections_datagram(const struct history *history, const struct call *received,
			 const struct call *sent)
{
	const int to = names_fit(history, received->own, sent->peer);
	const int from = names_fit(history, sent->own, received->peer);

	return !to || !from ? 0 : to < 0 && from < 0 ? -1 : 1;
}

/* Both ends have the object of the accepted end. */
uint32_t connections_joined(struct history *history, uint32_t object)
{
	const struct connection_end *end = end_of(history, object);

	return end && !end->is_accepted && end->mate != HISTORY_NONE ?
	       CONNECTIONS_BIT | end->mate : object;
}

/* Only calls on descriptors have connections as their objects. */
static void join_objects(struct history *history)
{
	for (size_t i = 0; i < history->calls; i++) {
		struct call *call = &history->call[i];

		if (call->cause >= CAUSE_READ && call->cause <= CAUSE_PEER && !call->has_id)
			call->object = connections_joined(history, call->object);
	}
}

int connections_pair(struct history *history)
{
	struct point *point = calloc(history->ends + 1, sizeof(*point));
	uint32_t *pending = calloc(PENDING_MOST, sizeof(*pending));
	size_t count = 0;

	for (size_t i = 0; point && i < history->ends; i++)
		/* An accept may return before the connect does, but not before it begins. */
		point[i] = (struct point){ history->end[i].is_accepted ? history->end[i].to_ns :
					   history->end[i].from_ns, (uint32_t)i };
	if (point && history->ends)
		qsort(point, history->ends, sizeof(*point), by_time);
	for (size_t i = 0; point && pending && i < history->ends; i++) {
		if (history->end[point[i].end].is_accepted) {
			pair_accept(history, pending, &count, point[i].end);
			continue;
		}
		if (count == PENDING_MOST)
			memmove(pending, pending + 1, --count * sizeof(*pending));
		pending[count++] = point[i].end;
	}
	join_objects(history);
	free(point);
	free(pending);
	return point && pending ? 0 : ENOMEM;
}
