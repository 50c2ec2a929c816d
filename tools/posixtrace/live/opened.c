/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opened.c - finds the files, pipes and sockets that a process has open. */
#include "live/opened.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/procfile.h"
#include "base/until.h"
#include "live/address.h"
#include "live/process.h"
#include "log/opened.h"
#include "log/program.h"

#define DESCRIPTORS 16384 /* the most that are recorded, so that their events fit into a stream */
#define NAME_BYTES  1024
#define PROGRAM_BYTES 256  /* as in the preload library's event process.start */
#define KIND_BYTES  32
#define PORTS       65536

struct look {
	struct capture *capture;
	char proc[32];               /* the process's folder in /proc */
	/* true: the recorder's own descriptors, which the program gets at its start */
	bool is_own;
	int process;                 /* pidfd; -1: sockets have no addresses, unless is_own */
	int64_t begin_ns;
	bool has_ports;              /* listens is filled */
	uint8_t listens[PORTS / 8];  /* one bit for each TCP port at which a socket listens */
};

/* A socket of the process. */
struct socket {
	int domain, type;
	bool listens;
	char own[ADDRESS_BYTES], peer[ADDRESS_BYTES];
};

/* Reads the kind and the addresses of a socket. Returns false if the kernel refuses it. */
static bool read_socket(const struct look *look, int fd, struct socket *found)
{
	socklen_t size = sizeof(int);
	int copy = look->is_own ? fd : look->process < 0 ? -1 :
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
		address_own(copy, found->own);
		address_peer(copy, found->peer);
	}
	if (!look->is_own)
		close(copy);
	return good;
}

/*
 * Notes the ports at which sockets of the process's network namespace listen. The file has these
 * sockets before all others, so that the function need not read the connections.
 */
static void read_ports(struct look *look, const char *file)
{
	char path[64], line[256];
	unsigned port, state;
	FILE *sockets;

	snprintf(path, sizeof(path), "%s/net/%s", look->proc, file);
	sockets = fopen(path, "re");
	while (sockets && fgets(line, sizeof(line), sockets)) {
		if (sscanf(line, " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &port, &state) != 2)
			continue; /* the line with the titles */
		if (state != TCP_LISTEN)
			break;
		if (port < PORTS)
			look->listens[port / 8] |= (uint8_t)(1 << port % 8);
	}
	if (sockets)
		fclose(sockets);
}

/* Returns whether a socket listens at the port. The ports are read when they are first needed. */
static bool is_listening(struct look *look, unsigned port)
{
	if (!look->has_ports) {
		read_ports(look, "tcp");
		read_ports(look, "tcp6");
		look->has_ports = true;
	}
	return port && port < PORTS && look->listens[port / 8] & 1 << port % 8;
}

/*
 * Returns whether a client made this connection. The process that listens may be another one, for
 * example the parent of a worker, so the ports of the whole network namespace are compared. A
 * client of a local socket mostly has no name, and the server's end has the name of the listening
 * socket.
 */
static bool is_accepted(struct look *look, const struct socket *socket)
{
	const char *port = strrchr(socket->own, ':');

	if (socket->listens || socket->type == SOCK_DGRAM)
		return false;
	if (socket->domain == AF_UNIX)
		return *socket->own && !*socket->peer;
	return *socket->peer && port && is_listening(look, (unsigned)atoi(port + 1));
}

static const char *protocol_of(const struct socket *socket)
{
	const bool is_internet = socket->domain == AF_INET || socket->domain == AF_INET6;

	return is_internet && socket->type == SOCK_STREAM ? "tcp" :
	       is_internet && socket->type == SOCK_DGRAM  ? "udp" :
	       socket->domain == AF_UNIX		  ? "unix" :
	       socket->domain == AF_NETLINK		  ? "netlink" : "socket";
}

/* Copies a text of less than "most" bytes and its NUL. Returns the number of copied bytes. */
static size_t put_text(char *to, const char *text, size_t most)
{
	const size_t len = strnlen(text, most - 1);

	memcpy(to, text, len);
	to[len] = '\0';
	return len + 1;
}

/* Records one descriptor. client and peer are empty if there are none. */
static void note_one(const struct look *look, int32_t fd, bool closes_at_exec, const char *kind,
		     const char *name, const char *client, const char *peer)
{
	struct __attribute__((packed)) {
		int32_t pid, fd;
		uint64_t looked_ns;
		uint8_t inherited, closes_at_exec;
		char text[KIND_BYTES + NAME_BYTES + 2 * ADDRESS_BYTES];
	} data = { .pid = (int32_t)look->capture->inner_pid, .fd = fd,
		   .inherited = look->is_own, .closes_at_exec = closes_at_exec };
	size_t used = put_text(data.text, kind, KIND_BYTES);

	used += put_text(data.text + used, name, NAME_BYTES);
	used += put_text(data.text + used, client, ADDRESS_BYTES);
	used += put_text(data.text + used, peer, ADDRESS_BYTES);
	data.looked_ns = (uint64_t)(until_now_ns() - look->begin_ns);
	capture_note(look->capture, OPENED_EVENT, OPENED_SCHEMA, &data,
		     offsetof(typeof(data), text) + used);
}

/* The names have the form of those that later calls give to sockets (log/descriptors.c). */
static void note_socket(struct look *look, int32_t fd, bool closes_at_exec)
{
	char name[8 + 2 * ADDRESS_BYTES + 8];
	struct socket socket;
	bool accepted;

	if (!read_socket(look, fd, &socket)) {
		note_one(look, fd, closes_at_exec, "socket", "socket", "", "");
		return;
	}
	accepted = is_accepted(look, &socket);
	snprintf(name, sizeof(name), "%s%s%s%s%s", protocol_of(&socket), *socket.own ? " " : "",
		 socket.own, !*socket.peer ? "" : accepted ? " <- " : " -> ", socket.peer);
	note_one(look, fd, closes_at_exec,
		 socket.listens ? "listener" : accepted ? "accepted" : protocol_of(&socket), name,
		 accepted ? socket.peer : "", accepted ? "" : socket.peer);
}

/* Returns whether execve(2) would close the descriptor. */
static bool closes_at_exec(const struct look *look, int fd)
{
	char path[64], text[512];

	if (look->is_own)
		return fcntl(fd, F_GETFD) != 0;
	snprintf(path, sizeof(path), "%s/fdinfo/%d", look->proc, fd);
	return procfile_read(path, text, sizeof(text)) &&
	       procfile_number(text, "flags:", 8, 0) & O_CLOEXEC;
}

static bool begins_with(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

/*
 * Records a descriptor by the link in /proc/PID/fd, for example "anon_inode:[eventfd]". Omits the
 * shared memory of the library, which is no file of the program. Also omits those of the recorder's
 * own descriptors that execve(2) closes, because the program does not get them.
 */
static void note_link(struct look *look, int32_t fd, const char *link)
{
	const bool closes = closes_at_exec(look, fd);
	char name[NAME_BYTES];
	int len;

	if ((look->is_own && closes) || begins_with(link, PROCESS_ARENA))
		return;
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

/* Records each descriptor of the process, at most DESCRIPTORS of them. */
static void note_all(struct look *look)
{
	char path[64], link[NAME_BYTES];
	const struct dirent *entry;
	unsigned count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/fd", look->proc);
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
		note_link(look, (int32_t)atoi(entry->d_name), link);
	}
	if (folder)
		closedir(folder);
}

/*
 * Records which program the process executes. A process that records from its start has the event
 * process.start instead.
 */
static void note_program(struct capture *capture)
{
	const int32_t pid = (int32_t)capture->inner_pid;
	char data[sizeof(pid) + PROGRAM_BYTES];

	if (!process_executed(capture->plan->pid, data + sizeof(pid), PROGRAM_BYTES))
		return;
	memcpy(data, &pid, sizeof(pid));
	capture_note(capture, PROGRAM_ATTACHED, PROGRAM_ATTACHED_SCHEMA, data,
		     sizeof(pid) + strlen(data + sizeof(pid)) + 1);
}

/*
 * Like posixtrace_blocked, these events describe a process. So a trace that has only the program's
 * own events (looks_at_blocked is false) does not get them.
 */
void opened_note(struct capture *capture)
{
	struct look look = { .capture = capture, .begin_ns = until_now_ns() };

	if (!capture->plan->looks_at_blocked)
		return;
	note_program(capture);
	if (procfile_is_foreign())
		return;
	snprintf(look.proc, sizeof(look.proc), "/proc/%d", (int)capture->plan->pid);
	look.process = (int)syscall(SYS_pidfd_open, capture->plan->pid, 0);
	note_all(&look);
	if (look.process >= 0)
		close(look.process);
}

void opened_note_inherited(struct capture *capture, int64_t begin_ns)
{
	struct look look = { .capture = capture, .begin_ns = begin_ns, .process = -1,
			     .proc = "/proc/self", .is_own = true };

	if (capture->plan->looks_at_blocked)
		note_all(&look);
}
