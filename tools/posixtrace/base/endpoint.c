/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* endpoint.c - opens TCP connections by name, as a client or as a server for one client. */
#include "base/endpoint.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/say.h"
#include "base/tool.h"

static const char connect_to[] = "tcp:", wait_at[] = "listen:";

bool endpoint_is(const char *name)
{
	return !strncmp(name, connect_to, strlen(connect_to)) ||
	       !strncmp(name, wait_at, strlen(wait_at));
}

bool endpoint_split(struct endpoint_address *address, const char *from)
{
	size_t len = strlen(from);
	char *colon;

	if (len >= sizeof(address->text))
		return false;
	memcpy(address->text, from, len + 1);
	colon = strrchr(address->text, ':');
	address->host = colon ? address->text : NULL;
	address->port = colon ? colon + 1 : address->text;
	if (!colon)
		return *address->port;
	*colon = '\0';
	if (*address->host == '[' && colon[-1] == ']') {
		address->host++;
		colon[-1] = '\0';
	}
	return *address->host && *address->port;
}

/*
 * Returns false if the text is a number with more than five digits or above 65535. The check is
 * needed because getaddrinfo() accepts greater numbers and uses their low 16 bits. The function
 * accepts every name of a service, because getaddrinfo() checks the name.
 */
static bool is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return text[digits] || (digits <= 5 && atoi(text) <= 65535);
}

static int endpoint_fail(const char *name, int err)
{
	say("%s: %s", name, strerror(err));
	return TOOL_FAILURE;
}

/* Connects to one address. Returns 0 and the socket, or an error number. */
static int connect_one(const struct addrinfo *a, int *fd)
{
	int err;

	*fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
	if (*fd < 0)
		return errno;
	if (!connect(*fd, a->ai_addr, a->ai_addrlen))
		return 0;
	err = errno;
	close(*fd);
	return err;
}

/* Listens at one address. Returns 0 and the socket, or an error number. */
static int listen_one(const struct addrinfo *a, int *fd)
{
	const int on = 1, off = 0;
	int err;

	*fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
	if (*fd < 0)
		return errno;
	/*
	 * Without SO_REUSEADDR, bind() would fail in a second run of the tool as long as the kernel
	 * keeps the connection of the first run in TIME_WAIT.
	 */
	setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* "listen:*:PORT" also accepts IPv4 clients. */
	if (a->ai_family == AF_INET6)
		setsockopt(*fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (!bind(*fd, a->ai_addr, a->ai_addrlen) && !listen(*fd, 1))
		return 0;
	err = errno;
	close(*fd);
	return err;
}

/*
 * Prints the numeric address and port at which the tool waits. If the user asked for port 0, the
 * message shows the port that the kernel chose.
 */
static void say_where(int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	char host[ENDPOINT_HOST_BYTES], port[16];

	if (!getsockname(fd, (struct sockaddr *)&address, &len) &&
	    !getnameinfo((struct sockaddr *)&address, len, host, sizeof(host), port, sizeof(port),
			 NI_NUMERICHOST | NI_NUMERICSERV))
		say("waits for a connection at %s%s%s:%s", address.ss_family == AF_INET6 ? "[" : "",
		    host, address.ss_family == AF_INET6 ? "]" : "", port);
}

/*
 * Accepts one connection and closes the listener, so that a second client is refused immediately.
 * If a client closes its connection before accept4() returns it, the function waits for another
 * client.
 */
static int accept_one(int listener, int *fd)
{
	int err;

	do {
		*fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		err = *fd < 0 ? errno : 0;
	} while (err == EINTR || err == ECONNABORTED);
	close(listener);
	return err;
}

int endpoint_open(const char *name, int *fd)
{
	bool waits = !strncmp(name, wait_at, strlen(wait_at));
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *list;
	struct endpoint_address address;
	const int on = 1;
	int err;

	if (!endpoint_split(&address, strchr(name, ':') + 1) || (!waits && !address.host)) {
		say("%s: expected %s", name, waits ? "listen:[HOST:]PORT" : "tcp:HOST:PORT");
		return TOOL_USAGE;
	}
	if (!is_port(address.port)) {
		say("%s: a port is at most 65535", name);
		return TOOL_USAGE;
	}
	/*
	 * Without a host the tool listens at the local address only, because the connection has no
	 * authentication.
	 */
	if (waits && !address.host)
		address.host = "127.0.0.1";
	if (waits && !strcmp(address.host, "*"))
		address.host = NULL; /* getaddrinfo() with AI_PASSIVE: every address */
	hints.ai_flags = waits ? AI_PASSIVE : 0;
	err = getaddrinfo(address.host, address.port, &hints, &list);
	if (err) {
		say("%s: %s", name, err == EAI_SYSTEM ? strerror(errno) : gai_strerror(err));
		return TOOL_FAILURE;
	}
	/*
	 * A host may have several addresses. The loop tries them in the resolver's order until one
	 * works.
	 */
	err = ENOENT;
	for (const struct addrinfo *a = list; a && err; a = a->ai_next)
		err = waits ? listen_one(a, fd) : connect_one(a, fd);
	freeaddrinfo(list);
	if (!err && waits) {
		say_where(*fd);
		err = accept_one(*fd, fd);
	}
	if (err)
		return endpoint_fail(name, err);
	/*
	 * With SO_KEEPALIVE the kernel notices a peer that vanished without a FIN. With TCP_NODELAY
	 * the kernel sends small frames immediately.
	 */
	setsockopt(*fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return TOOL_OK;
}
