/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * metrics_serve.c - the counts of the agent by HTTP, for "listen" of the configuration.
 *
 * One request is read, answered, and the connection closed. A client has a short time for its
 * request, because the agent does nothing else meanwhile. Nothing but the method and the path is
 * used of a request.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/endpoint.h"
#include "base/say.h"
#include "base/tool.h"

#define REQUEST_BYTES 4096
#define LIMIT_NS      INT64_C(200000000) /* for a client as a whole */

/* Prints the address in numbers, with the port that the kernel chose if 0 was given. */
static void say_address(int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	char host[64], port[16];

	if (!getsockname(fd, (struct sockaddr *)&address, &len) &&
	    !getnameinfo((struct sockaddr *)&address, len, host, sizeof(host), port, sizeof(port),
			 NI_NUMERICHOST | NI_NUMERICSERV))
		say("metrics: http://%s%s%s:%s/metrics", address.ss_family == AF_INET6 ? "[" : "",
		    host, address.ss_family == AF_INET6 ? "]" : "", port);
}

/* Opens a socket that listens. Returns it, or -1 after a message. address was checked when read. */
static int open_listener(const char *address)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV },
			*list = NULL;
	struct endpoint_address parts;
	const int on = 1;
	int fd = -1, err = EINVAL;

	if (endpoint_split(&parts, address) &&
	    !getaddrinfo(parts.host, parts.port, &hints, &list)) {
		fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		err = fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
				      bind(fd, list->ai_addr, list->ai_addrlen) || listen(fd, 16)
			      ? errno
			      : 0;
		freeaddrinfo(list);
	}
	if (!err)
		return fd;
	say("listen %s: %s", address, strerror(err));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A port that is open already remains open if a new configuration has the same address. */
int metrics_listen(struct agent *agent)
{
	struct metrics *metrics = &agent->metrics;
	const char *address = agent->config->listen;

	if (address && metrics->address && !strcmp(address, metrics->address))
		return TOOL_OK;
	if (metrics->listener >= 0)
		close(metrics->listener);
	free(metrics->address);
	metrics->listener = -1;
	metrics->address = NULL;
	if (!address)
		return TOOL_OK;
	metrics->listener = open_listener(address);
	if (metrics->listener < 0)
		return TOOL_FAILURE;
	metrics->address = strdup(address);
	say_address(metrics->listener);
	return TOOL_OK;
}

/* A client, and the time at which the agent closes its connection. */
struct client {
	int fd;
	int64_t end_ns; /* CLOCK_MONOTONIC */
};

/*
 * Waits until the socket is ready. The limit is one for the whole connection: a client that sends
 * or reads a byte from time to time would get a new one for each byte otherwise.
 */
static bool await_client(const struct client *client, short events)
{
	struct pollfd poller = { .fd = client->fd, .events = events };
	int64_t left_ns = client->end_ns - until_now_ns();

	return left_ns > 0 && poll(&poller, 1, (int)((left_ns + 999999) / 1000000)) == 1;
}

/* Reads up to the empty line that ends the head of a request. Returns false if none came in time.
 */
static bool read_request(const struct client *client, char request[REQUEST_BYTES])
{
	size_t len = 0;

	while (len < REQUEST_BYTES - 1 && await_client(client, POLLIN)) {
		ssize_t n = recv(client->fd, request + len, REQUEST_BYTES - 1 - len, MSG_DONTWAIT);

		if (n <= 0)
			return false;
		len += (size_t)n;
		request[len] = '\0';
		if (strstr(request, "\r\n\r\n") || strstr(request, "\n\n"))
			return true;
	}
	return false;
}

/* Sends all bytes. A client that does not read them in time gets a part. */
static void send_all(const struct client *client, const char *bytes, size_t len)
{
	while (len && await_client(client, POLLOUT)) {
		ssize_t n = send(client->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n <= 0)
			return;
		bytes += n;
		len -= (size_t)n;
	}
}

/* Sends status, head and body. A request HEAD gets no body. */
static void send_answer(const struct client *client, const char *status, const char *body,
			size_t len, bool has_body)
{
	char head[256];
	int bytes = snprintf(head, sizeof(head),
			     "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; "
			     "charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
			     status, len);

	send_all(client, head, (size_t)bytes);
	if (has_body)
		send_all(client, body, len);
}

/* Answers a request by its first words. */
static void answer_request(struct agent *agent, const struct client *client, const char *request)
{
	static const char missing[] = "The metrics are at /metrics.\n";
	static const char refused[] = "Only GET is supported.\n";
	bool gets = !strncmp(request, "GET ", 4), heads = !strncmp(request, "HEAD ", 5);
	const char *path = request + (gets ? 4 : 5);
	const char *rest = path + strcspn(path, " ?\r\n");
	size_t len;
	char *text;

	if (!gets && !heads) {
		send_answer(client, "405 Method Not Allowed", refused, strlen(refused), true);
		return;
	}
	if (rest - path != strlen("/metrics") || strncmp(path, "/metrics", strlen("/metrics"))) {
		send_answer(client, "404 Not Found", missing, strlen(missing), gets);
		return;
	}
	/* The values are those of this moment: each client gets its own. */
	text = metrics_text(agent, &len);
	if (text)
		send_answer(client, "200 OK", text, len, gets);
	free(text);
}

/* A client costs the agent at most a fifth of a second, whatever it sends and reads. */
void metrics_serve(struct agent *agent)
{
	struct client client = { .fd = agent_accept(agent, agent->metrics.listener) };
	char request[REQUEST_BYTES];

	if (client.fd < 0)
		return;
	client.end_ns = until_now_ns() + LIMIT_NS;
	if (read_request(&client, request))
		answer_request(agent, &client, request);
	close(client.fd);
}
