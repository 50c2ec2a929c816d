/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * metrics_serve.c - sends the metrics of the agent by HTTP, if the configuration has the key
 * "listen".
 *
 * For each connection, the agent reads one request, answers it, and closes the connection. The time
 * of a client is short, because the agent does no other work meanwhile. The agent reads only the
 * method and the path of a request.
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
#define LIMIT_NS      INT64_C(200000000) /* the time that a client has for its whole connection */

/*
 * Prints the address in numbers. If the configuration has port 0, the message shows the port that
 * the kernel chose.
 */
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

/*
 * Opens a socket that listens at the address, which key_listen() has checked. Returns the socket,
 * or -1 after it printed an error.
 */
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
	say("listen %s: %s%s", address, strerror(err),
	    err == EADDRINUSE ? "; choose another address, or end the program that uses it" :
	    err == EACCES ? "; ports below 1024 need the capability CAP_NET_BIND_SERVICE" : "");
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * If the port is open already and a new configuration has the same address, the port remains open.
 */
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

/* A client, and the latest time at which the agent closes its connection. */
struct client {
	int fd;
	int64_t end_ns; /* CLOCK_MONOTONIC */
};

/*
 * Waits until the socket is ready. Returns false if the time of the client is over. The limit
 * applies to the whole connection. With a limit for each wait, a client that sends or reads one
 * byte from time to time could occupy the agent for any time.
 */
static bool await_client(const struct client *client, short events)
{
	struct pollfd poller = { .fd = client->fd, .events = events };
	int64_t left_ns = client->end_ns - until_now_ns();

	return left_ns > 0 && poll(&poller, 1, (int)((left_ns + 999999) / 1000000)) == 1;
}

/* Reads a request up to the empty line that ends its head. Returns false if the empty line did not
 * arrive in time.
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

/* Sends the bytes. If the client does not read them in time, it gets only a part of them. */
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

/* Sends the status, the head and the body. The answer to a request HEAD has no body. */
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

/* Answers a request. Only the method and the path of the request matter. */
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
	/* The text is made for each request, so that its values are current. */
	text = metrics_text(agent, &len);
	if (text)
		send_answer(client, "200 OK", text, len, gets);
	free(text);
}

/*
 * The agent needs at most a fifth of a second for a client, no matter how the client sends and
 * reads.
 */
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
