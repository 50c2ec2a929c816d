/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * endpoint.h - TCP connections by name. "tcp:HOST:PORT" connects to a host. "listen:[HOST:]PORT"
 * waits for one connection: at this machine's loopback address without HOST, at every address with
 * "*". A host that contains colons is written in brackets.
 *
 * The connection is neither encrypted nor authenticated; a user who needs that tunnels it through
 * ssh(1).
 */
#ifndef POSIXTRACE_BASE_ENDPOINT_H
#define POSIXTRACE_BASE_ENDPOINT_H

#include <stdbool.h>

/* Returns true if name has the prefix of a connection. Any other name is that of a file. */
bool endpoint_is(const char *name);

/*
 * Opens the connection and stores its socket in *fd. For "listen:" it prints the address and blocks
 * until a client connects. Returns TOOL_OK, or another status after it printed the error.
 */
int endpoint_open(const char *name, int *fd);

#endif
