/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * connections.h - finds the two ends of each connection: the socket that a recorded process
 * connected, and the socket that a recorded process accepted.
 *
 * No event has both ends. But the socket that listens accepts connections in the order in which
 * they were made, and most programs bind() it to an address that connect() names. So the first
 * accept() after a connect() to this address is the other end, if no other connect() to the address
 * overlaps it. If the log has the client's own address, this address decides.
 */
#ifndef POSIXTRACE_WHY_CONNECTIONS_H
#define POSIXTRACE_WHY_CONNECTIONS_H

#include "why/history.h"

/* This bit marks the identity of a connection's end. The other bits are its index. */
#define CONNECTIONS_BIT (UINT32_C(1) << 30)

/* Returns the length of an address without its port. A path has no port, and so no length. */
size_t connections_host_len(const char *address);

/* Returns whether an address leaves the choice of its port to the kernel: its port is 0. */
bool connections_is_any_port(const char *address);

/* Returns whether an address is one of the loopback interface, which only this machine reaches. */
bool connections_is_loopback(const char *address);

/*
 * Adds an end and returns its identity, which all calls on its descriptors have as their object; 0:
 * past the limit, or without memory.
 */
uint32_t connections_add(struct history *history, const struct connection_end *end);

/*
 * Returns whether a call of connect() continues a connection that was begun before. Programs make
 * such a call to ask whether the connection is complete. Notes the end of a connection that has
 * failed.
 */
bool connections_continue(struct history *history, uint32_t object, const struct call *call);

/*
 * Notes the address of the client, if it is not known: the own address of a socket that connected,
 * or the peer's address of one that accepted. text is its index + 1.
 */
void connections_name(struct history *history, uint32_t object, uint32_t text);

/* Notes that a program has transferred data on an end, or closed a descriptor of it. */
void connections_use(struct history *history, uint32_t object);
void connections_close(struct history *history, uint32_t object, int64_t time_ns);

/*
 * Finds the pairs of ends, and gives both ends of a pair the same object in all calls. To be called
 * after the last event, before a search for the other end of a connection. Returns 0 or ENOMEM.
 */
int connections_pair(struct history *history);

/*
 * Returns whether a call of connect() made the connection that a call of accept() has returned: 1
 * yes, 0 no, -1 unknown. The arguments are the objects of the two calls, after connections_pair().
 */
int connections_fit(const struct history *history, uint32_t connected, uint32_t accepted);

/*
 * Returns whether a datagram that one call sent may be the one that the other call received, by the
 * addresses of the two sockets: 1 yes, 0 no, -1 unknown. The calls are on sockets of which at least
 * one has no connection.
 */
int connections_datagram(const struct history *history, const struct call *received,
			 const struct call *sent);

/* Returns the object that both ends of a pair have. Any other object remains the same. */
uint32_t connections_joined(struct history *history, uint32_t object);

#endif
