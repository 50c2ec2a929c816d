/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opened.c - opens a file, a pipe, and both ends of connections before a trace begins: opened FILE
 * LOCAL [COPIES]. It prints a line, then uses each descriptor once for each byte of its input.
 * COPIES is the number of further descriptors of the file, which are not used.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void need(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

/* Stores a connection to a listening socket: the client's end, and the server's. */
static void connect_to(const struct sockaddr *address, socklen_t bytes, int listener, int *client,
		       int *server)
{
	*client = socket(address->sa_family, SOCK_STREAM, 0);
	need(connect(*client, address, bytes) == 0, "connect");
	*server = accept(listener, NULL, NULL);
	need(*server >= 0, "accept");
}

int main(int argc, char **argv)
{
	struct sockaddr_in internet = { .sin_family = AF_INET };
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	socklen_t bytes = sizeof(internet);
	int listener, client, server, near, far, ends[2], file, counter;
	char c;

	need((argc == 3 || argc == 4) && strlen(argv[2]) < sizeof(local.sun_path), "usage");
	internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	strcpy(local.sun_path, argv[2]);
	file = open(argv[1], O_RDWR | O_CLOEXEC);
	for (int i = argc > 3 ? atoi(argv[3]) : 0; i > 0; i--)
		need(dup(file) >= 0, "dup");
	counter = eventfd(0, 0);
	need(file >= 0 && counter >= 0 && pipe(ends) == 0, "descriptors");
	listener = socket(AF_INET, SOCK_STREAM, 0);
	need(bind(listener, (struct sockaddr *)&internet, sizeof(internet)) == 0, "bind");
	need(listen(listener, 1) == 0, "listen");
	need(getsockname(listener, (struct sockaddr *)&internet, &bytes) == 0, "getsockname");
	connect_to((struct sockaddr *)&internet, sizeof(internet), listener, &client, &server);
	/* Without IPv6 there is no address of IPv6, which is no failure of the test. */
	six.sin6_addr.s6_addr[15] = 1;
	bind(socket(AF_INET6, SOCK_DGRAM, 0), (struct sockaddr *)&six, sizeof(six));
	need(socket(AF_INET, SOCK_DGRAM, 0) >= 0, "a socket without an address");
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	need(bind(listener, (struct sockaddr *)&local, sizeof(local)) == 0, "bind");
	need(listen(listener, 1) == 0, "listen");
	connect_to((struct sockaddr *)&local, sizeof(local), listener, &near, &far);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) == 1) {
		need(write(file, "f", 1) == 1, "write");
		need(write(ends[1], "p", 1) == 1 && read(ends[0], &c, 1) == 1, "pipe");
		need(send(client, "c", 1, 0) == 1 && recv(server, &c, 1, 0) == 1, "tcp");
		need(send(near, "n", 1, 0) == 1 && recv(far, &c, 1, 0) == 1, "unix");
		need(eventfd_write(counter, 1) == 0, "eventfd");
	}
	return 0;
}
