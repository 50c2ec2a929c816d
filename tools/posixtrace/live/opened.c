/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opened.c - finds the files, pipes and sockets that a process has open. */
#include "live/opened.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/until.h"
#include "base/vec.h"
#include "live/address.h"
#include "log/opened.h"

#define DESCRIPTORS 16384 /* the most that are recorded, so that their events fit into a stream */
#define NAME_BYTES  1024
#define KIND_BYTES  32

/* A listening socket of the process. A connection with the same address was accepted from it. */
struct listener {
	int domain;
	char address[ADDRESS_BYTES];
};

struct look {
	struct capture *capture;
	pid_t pid;
	int process;          /* pidfd; -1: sockets have no addresses */
	int64_t begin_ns;
	struct listener *listener;
	size_t listeners;
};

/* A socket of the process. */
struct socket {
	int domain, type;
	bool listens;
	char own[ADDRESS_BYTES], peer[ADDRESS_BYTES];
};

/* Reads what a socket is. Returns false if the kernel refuses it. */
static bool read_socket(const struct look *look, int fd, struct socket *found)
{
	socklen_t size = sizeof(int);
	int copy = look->process < 0 ? -1 :
		   (int)syscall(SYS_pidfd_getfd, look->process, fd, 0), listens = 0;
	bool good;

	*found = (struct socket){ .domain = 0 };
	if (copy < 0)
		return false;
	good = !getsockopt(copy, SOL_SOCKET, SO_DOMAIN, &found->domain, &size) &&
	       !getsockopt(copy, SOL_SOCKET, SO_TYPE, &found->type, &size);
	if (good) {
		getsockopt(copy, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
		found->listens = listens != 0;
		address_own(copy, found->own, sizeof(found->own));
		address_peer(copy, found->peer, sizeof(found->peer));
	}
	close(copy);
	return good;
}

/* The port of an address of the Internet, or the whole address. */
static const char *port_of(const struct socket *socket, const char *address)
{
	const char *port = socket->domain == AF_UNIX ? NULL : strrchr(address, ':');

	return port ? port : address;
}

/*
 * Returns whether the process accepted this connection. A server may listen at any address of the
 * machine, so only the ports are compared.
 */
static bool is_accepted(const struct look *look, const struct socket *socket)
{
	for (size_t i = 0; *socket->own && i < look->listeners; i++)
		if (look->listener[i].domain == socket->domain &&
		    !strcmp(port_of(socket, look->listener[i].address),
			    port_of(socket, socket->own)))
			return true;
	return false;
}

static const char *protocol_of(const struct socket *socket)
{
	const bool is_internet = socket->domain == AF_INET || socket->domain == AF_INET6;

	return is_internet && socket->type == SOCK_STREAM ? "tcp" :
	       is_internet && socket->type == SOCK_DGRAM  ? "udp" :
	       socket->domain == AF_UNIX		  ? "unix" :
	       socket->domain == AF_NETLINK		  ? "netlink" : "socket";
}

/* The texts of an event, one behind the other, each with its NUL. */
struct texts {
	char text[KIND_BYTES + NAME_BYTES + 2 * ADDRESS_BYTES];
	size_t used;
};

static void add_text(struct texts *texts, const char *text, size_t most)
{
	const size_t len = strnlen(text, most - 1);

	memcpy(texts->text + texts->used, text, len);
	texts->text[texts->used + len] = '\0';
	texts->used += len + 1;
}

/* Records one descriptor. client and peer are empty if there are none. */
static void note_one(const struct look *look, int32_t fd, bool closes_at_exec, const char *kind,
		     const char *name, const char *client, const char *peer)
{
	struct __attribute__((packed)) {
		int32_t pid, fd;
		uint64_t looked_ns;
		uint8_t closes_at_exec;
		char text[sizeof(((struct texts *)0)->text)];
	} data = { .pid = (int32_t)look->pid, .fd = fd, .closes_at_exec = closes_at_exec };
	struct texts texts = { .used = 0 };

	add_text(&texts, kind, KIND_BYTES);
	add_text(&texts, name, NAME_BYTES);
	add_text(&texts, client, ADDRESS_BYTES);
	add_text(&texts, peer, ADDRESS_BYTES);
	memcpy(data.text, texts.text, texts.used);
	data.looked_ns = (uint64_t)(until_now_ns() - look->begin_ns);
	capture_note(look->capture, OPENED_EVENT, OPENED_SCHEMA, &data,
		     offsetof(typeof(data), text) + texts.used);
}

/* The names have the form of those that later calls give to sockets (log/descriptors.c). */
static void note_socket(const struct look *look, int32_t fd, bool closes_at_exec)
{
	char name[8 + 2 * ADDRESS_BYTES + 8];
	struct socket socket;
	bool accepted;

	if (!read_socket(look, fd, &socket)) {
		note_one(look, fd, closes_at_exec, "socket", "socket", "", "");
		return;
	}
	accepted = !socket.listens && is_accepted(look, &socket);
	snprintf(name, sizeof(name), "%s%s%s%s%s", protocol_of(&socket), *socket.own ? " " : "",
		 socket.own, !*socket.peer ? "" : accepted ? " <- " : " -> ", socket.peer);
	note_one(look, fd, closes_at_exec,
		 socket.listens ? "listener" : accepted ? "accepted" : protocol_of(&socket), name,
		 accepted ? socket.peer : "", accepted ? "" : socket.peer);
}

/* Returns whether execve(2) would close the descriptor. */
static bool closes_at_exec(pid_t pid, int fd)
{
	char path[64], text[512];

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, fd);
	return procfile_read(path, text, sizeof(text)) &&
	       procfile_number(text, "flags:", 8, 0) & O_CLOEXEC;
}

static bool begins_with(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

/* Records a descriptor by the link in /proc/PID/fd, for example "anon_inode:[eventfd]". */
static void note_link(const struct look *look, int32_t fd, const char *link)
{
	const bool closes = closes_at_exec(look->pid, fd);
	char name[NAME_BYTES];
	int len;

	if (begins_with(link, "socket:")) {
		note_socket(look, fd, closes);
	} else if (begins_with(link, "pipe:")) {
		note_one(look, fd, closes, "pipe", link, "", "");
	} else if (begins_with(link, "anon_inode:")) {
		/* The events of later calls name such an object by the call that made it. */
		link += strlen("anon_inode:") + (link[strlen("anon_inode:")] == '[');
		len = (int)strcspn(link, "]");
		snprintf(name, sizeof(name), "%.*s", len, link);
		if (!strcmp(name, "eventpoll"))
			snprintf(name, sizeof(name), "epoll");
		note_one(look, fd, closes, name, name, "", "");
	} else if (begins_with(link, "/memfd:")) {
		note_one(look, fd, closes, "memfd", link + 1, "", "");
	} else {
		note_one(look, fd, closes, *link == '/' ? "file" : "other", link, "", "");
	}
}

/* Keeps the address of a socket that listens. */
static void note_listener(struct look *look, int fd, const char *link)
{
	struct listener *listener;
	struct socket socket;

	if (!begins_with(link, "socket:") || !read_socket(look, fd, &socket) || !socket.listens ||
	    !*socket.own || !vec_grow(&look->listener, look->listeners, 1))
		return;
	listener = &look->listener[look->listeners++];
	listener->domain = socket.domain;
	memcpy(listener->address, socket.own, sizeof(socket.own));
}

/* Calls take() for each descriptor of the process, at most DESCRIPTORS of them. */
static void each_descriptor(struct look *look, void (*take)(struct look *, int, const char *))
{
	char path[64], link[NAME_BYTES];
	const struct dirent *entry;
	unsigned count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)look->pid);
	folder = opendir(path);
	while (folder && count < DESCRIPTORS && (entry = readdir(folder))) {
		ssize_t len;

		if (entry->d_name[0] == '.')
			continue;
		count++;
		len = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1);
		if (len <= 0)
			continue;
		link[len] = '\0';
		take(look, atoi(entry->d_name), link);
	}
	if (folder)
		closedir(folder);
}

static void take_link(struct look *look, int fd, const char *link)
{
	note_link(look, fd, link);
}

void opened_note(struct capture *capture)
{
	struct look look = {
		.capture = capture, .pid = capture->plan->pid, .begin_ns = until_now_ns(),
	};

	if (!capture->plan->looks_at_blocked || procfile_is_foreign())
		return;
	look.process = (int)syscall(SYS_pidfd_open, look.pid, 0);
	each_descriptor(&look, note_listener);
	each_descriptor(&look, take_link);
	if (look.process >= 0)
		close(look.process);
	free(look.listener);
}
