/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * metrics_serve.c - sends the metrics of the agent by HTTP, if the configuration has the key
 * "listen".
 *
 * For each connection, the agent reads one request, answers it, and closes the connection. The
 * agent reads only the method and the path of a request. The agent never waits for a client: it
 * reads and sends what is possible now, and continues when poll(2) reports the connection. So slow
 * clients delay neither the agent nor each other. Their number, their time and the memory of their
 * answers are limited. If there are too many clients, the oldest one loses its connection, so that
 * a program that opens connections and sends nothing cannot keep other clients away.
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

#define REQUEST_BYTES 8192
#define LIMIT_NS      INT64_C(5000000000) /* the time that a client has for its whole connection */
#define ANSWER_MOST   ((size_t)8 << 20)   /* the memory of all answers, if there are several */
#define REST_MOST     65536               /* bytes behind a request that the agent reads */

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
 * or -1 after it printed an error. While the same error remains, it is printed once.
 */
static int open_listener(struct metrics *metrics, const char *address)
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
	if (err != metrics->listen_err)
		say("listen %s: %s%s", address, strerror(err),
		    err == EADDRINUSE ?
			    "; choose another address, or end the program that uses it" :
		    err == EACCES ?
			    "; ports below 1024 need the capability CAP_NET_BIND_SERVICE" : "");
	metrics->listen_err = err;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A connection. The clients are in the order of their arrival. */
struct metrics_client {
	int fd;
	/* CLOCK_MONOTONIC: the latest time at which the agent closes the connection */
	int64_t end_ns;
	char request[REQUEST_BYTES];
	size_t received;
	char *answer; /* NULL: the request is not complete */
	size_t len, sent;
	size_t rest; /* number of bytes that were read behind the request */
};

/* Closes a connection and removes the client from the list. */
static void drop_client(struct metrics *metrics, size_t index)
{
	struct metrics_client *client = metrics->client[index];

	close(client->fd);
	free(client->answer);
	free(client);
	metrics->clients--;
	memmove(&metrics->client[index], &metrics->client[index + 1],
		(metrics->clients - index) * sizeof(*metrics->client));
}

void metrics_close(struct metrics *metrics)
{
	while (metrics->clients)
		drop_client(metrics, metrics->clients - 1);
	if (metrics->listener >= 0)
		close(metrics->listener);
	free(metrics->address);
	metrics->listener = -1;
	metrics->address = NULL;
}

/*
 * If the port is open already and a new configuration has the same address, the port remains open.
 * After a failure, the next call tries again.
 */
int metrics_listen(struct agent *agent)
{
	struct metrics *metrics = &agent->metrics;
	const char *address = agent->config->listen;

	if (address && metrics->address && !strcmp(address, metrics->address))
		return TOOL_OK;
	metrics_close(metrics);
	if (!address)
		return TOOL_OK;
	metrics->listener = open_listener(metrics, address);
	if (metrics->listener < 0)
		return TOOL_FAILURE;
	metrics->address = strdup(address);
	metrics->listen_err = 0;
	say_address(metrics->listener);
	return TOOL_OK;
}

/* ------------------------------------------------------------------ a client */

/*
 * If the answers of all clients need too much memory, drops the oldest clients that have an answer,
 * but never the newest client.
 */
static void limit_answers(struct metrics *metrics)
{
	size_t bytes = 0;

	for (size_t i = 0; i < metrics->clients; i++)
		bytes += metrics->client[i]->len;
	for (size_t i = 0; i + 1 < metrics->clients && bytes > ANSWER_MOST;) {
		bytes -= metrics->client[i]->len;
		if (metrics->client[i]->answer)
			drop_client(metrics, i);
		else
			i++;
	}
}

/* Makes the answer: the status, the head, and the body. The answer to HEAD has no body. */
static void make_answer(struct metrics_client *client, const char *status, const char *body,
			size_t len, bool has_body)
{
	int bytes = asprintf(&client->answer,
			     "HTTP/1.1 %s\r\nContent-Type: text/plain; version=0.0.4; "
			     "charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
			     status, len, has_body ? body : "");

	if (bytes < 0)
		client->answer = NULL;
	client->len = bytes < 0 ? 0 : (size_t)bytes;
}

/* Answers a request. Only the method and the path of the request matter. */
static void answer_request(struct agent *agent, struct metrics_client *client)
{
	static const char missing[] = "The metrics are at /metrics.\n";
	static const char refused[] = "Only GET is supported.\n";
	const char *request = client->request;
	bool gets = !strncmp(request, "GET ", 4), heads = !strncmp(request, "HEAD ", 5);
	const char *path = request + (gets ? 4 : 5);
	const char *rest = path + strcspn(path, " ?\r\n");
	size_t len;
	char *text;

	if (!gets && !heads) {
		make_answer(client, "405 Method Not Allowed", refused, strlen(refused), true);
		return;
	}
	if (rest - path != strlen("/metrics") || strncmp(path, "/metrics", strlen("/metrics"))) {
		make_answer(client, "404 Not Found", missing, strlen(missing), gets);
		return;
	}
	/* The text is made for each request, so that its values are current. */
	text = metrics_text(agent, &len);
	if (text)
		make_answer(client, "200 OK", text, len, gets);
	free(text);
}

/*
 * Reads what the client has sent. When the empty line that ends the head of the request has
 * arrived, makes the answer. Returns false if the connection must be closed.
 */
static bool read_request(struct agent *agent, struct metrics_client *client)
{
	static const char large[] = "The head of the request is too large.\n";
	size_t room = REQUEST_BYTES - 1 - client->received;
	ssize_t n = recv(client->fd, client->request + client->received, room, MSG_DONTWAIT);

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	client->received += (size_t)n;
	client->request[client->received] = '\0';
	if (strstr(client->request, "\r\n\r\n") || strstr(client->request, "\n\n"))
		answer_request(agent, client);
	else if (client->received == REQUEST_BYTES - 1)
		make_answer(client, "431 Request Header Fields Too Large", large, strlen(large),
			    true);
	else
		return true;
	return client->answer;
}

/*
 * Sends as many bytes as the connection accepts now. After the last byte, shuts down its own side;
 * drop_rest() then reads until the client closes the connection. If the agent closed a connection
 * with unread bytes, the kernel would reset the connection, and the client could lose the answer.
 * Returns false if the connection must be closed.
 */
static bool send_answer(struct metrics_client *client)
{
	ssize_t n = send(client->fd, client->answer + client->sent, client->len - client->sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	client->sent += (size_t)n;
	return client->sent < client->len || !shutdown(client->fd, SHUT_WR);
}

/*
 * Reads and drops the bytes that the client sends behind its request. Returns false at the end of
 * the connection, after an error, or after REST_MOST bytes.
 */
static bool drop_rest(struct metrics_client *client)
{
	char rest[4096];
	ssize_t n = recv(client->fd, rest, sizeof(rest), MSG_DONTWAIT);

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	client->rest += (size_t)n;
	return client->rest < REST_MOST;
}

/*
 * Does for a client what is possible now. Returns false if the connection must be closed. The
 * answer is sent right after it was made, because the connection of most clients accepts it at
 * once.
 */
static bool serve_client(struct agent *agent, struct metrics_client *client)
{
	if (client->answer && client->sent == client->len)
		return drop_rest(client);
	if (!client->answer && !read_request(agent, client))
		return false;
	return !client->answer || send_answer(client);
}

/* Accepts a client. If there are too many clients, drops the oldest one. */
static void accept_client(struct agent *agent)
{
	struct metrics *metrics = &agent->metrics;
	struct metrics_client *client;
	int fd;

	if (metrics->clients == METRICS_CLIENTS)
		drop_client(metrics, 0);
	fd = agent_accept(agent, metrics->listener);
	client = fd < 0 ? NULL : calloc(1, sizeof(*client));
	if (!client) {
		if (fd >= 0)
			close(fd);
		return;
	}
	client->fd = fd;
	client->end_ns = until_now_ns() + LIMIT_NS;
	metrics->client[metrics->clients++] = client;
}

/* ------------------------------------------------------------------ all clients */

size_t metrics_poll(const struct agent *agent, struct pollfd poller[METRICS_POLLS])
{
	const struct metrics *metrics = &agent->metrics;

	/* Without a listener there are no clients: metrics_close() closes all of them. */
	if (metrics->listener < 0)
		return 0;
	poller[0] = (struct pollfd){ .fd = agent->keeps_waiting ? -1 : metrics->listener,
				     .events = POLLIN };
	for (size_t i = 0; i < metrics->clients; i++) {
		const struct metrics_client *client = metrics->client[i];

		poller[i + 1] = (struct pollfd){
			.fd = client->fd,
			.events = client->answer && client->sent < client->len ? POLLOUT : POLLIN
		};
	}
	return metrics->clients + 1;
}

int64_t metrics_end_ns(const struct metrics *metrics)
{
	/* The first client is the oldest. */
	return metrics->clients ? metrics->client[0]->end_ns : INT64_MAX;
}

/*
 * The client with the index i belongs to poller[i + 1]. Removing a client changes the indexes of
 * the later clients only, so the loop runs backwards. limit_answers() and accept_client() may
 * remove any client, so they are called after the loop.
 */
void metrics_serve(struct agent *agent, const struct pollfd poller[METRICS_POLLS])
{
	struct metrics *metrics = &agent->metrics;
	int64_t now_ns = until_now_ns();

	for (size_t i = metrics->clients; i-- > 0;) {
		struct metrics_client *client = metrics->client[i];
		bool is_kept = now_ns < client->end_ns;

		if (is_kept && poller[i + 1].revents)
			is_kept = serve_client(agent, client);
		if (!is_kept)
			drop_client(metrics, i);
	}
	limit_answers(metrics);
	if (poller[0].revents && !agent->keeps_waiting)
		accept_client(agent);
}
