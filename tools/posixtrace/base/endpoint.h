/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * endpoint.h - TCP connections by name. "tcp:HOST:PORT" connects to a host. "listen:[HOST:]PORT"
 * waits for one connection. Without HOST it waits at this machine's loopback address, and with "*"
 * as HOST at every address. A host that contains colons is written in brackets.
 *
 * The connection is neither encrypted nor authenticated. A user who needs encryption or
 * authentication tunnels the connection through ssh(1).
 */
#ifndef POSIXTRACE_BASE_ENDPOINT_H
#define POSIXTRACE_BASE_ENDPOINT_H

#include <stdbool.h>

#define ENDPOINT_HOST_BYTES 256 /* a DNS name has at most 253 characters */

/*
 * The parts of HOST:PORT. "host" and "port" point into "text". "host" is NULL if only a port was
 * given.
 */
struct endpoint_address {
	char text[ENDPOINT_HOST_BYTES + 16];
	const char *host, *port;
};

/*
 * Divides HOST:PORT, [HOST]:PORT or PORT. The port begins behind the last colon, because an IPv6
 * address contains colons too. The brackets do not become part of the host. Returns false if a part
 * is empty or the text is too long.
 */
bool endpoint_split(struct endpoint_address *address, const char *from);

/* Returns true if "name" has the prefix of a connection. Any other name is the name of a file. */
bool endpoint_is(const char *name);

/*
 * Opens the connection and stores its socket in *fd. For "listen:" the function prints the address
 * and blocks until a client connects. Returns TOOL_OK, or another status after it printed the
 * error.
 */
int endpoint_open(const char *name, int *fd);

#endif
