/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/vm_sockets.h>

#include "preload/probe.h"

static void messages(int near, int far)
{
	char buffer[50] = "x";
	struct iovec part = { buffer, 30 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct mmsghdr several[2] = { { .msg_hdr = message }, { .msg_hdr = message } };

	MUST(send(near, buffer, 20, 0) == 20);
	MUST(recv(far, buffer, 50, 0) == 20);
	MUST(sendmsg(near, &message, 0) == 30);
	MUST(recvmsg(far, &message, 0) == 30);
	MUST(sendmmsg(near, several, 2, 0) == 2);
	MUST(recv(far, buffer, 50, MSG_WAITALL) == 50);
}

/* Messages whose structs have addresses. */
static void addressed(void)
{
	char byte = 'x';
	struct iovec part = { &byte, 1 };
	struct sockaddr_in to = { .sin_family = AF_INET }, from;
	socklen_t bytes = sizeof(to);
	struct mmsghdr several[2] = { { .msg_hdr = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_name = &from, .msg_namelen = 4 } } };
	struct msghdr *message = &several[0].msg_hdr;
	int near = socket(AF_INET, SOCK_DGRAM, 0), far = socket(AF_INET, SOCK_DGRAM, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(bind(far, (struct sockaddr *)&to, sizeof(to)) == 0);
	MUST(getsockname(far, (struct sockaddr *)&to, &bytes) == 0);
	printf("datagram %d\n", ntohs(to.sin_port));
	message->msg_name = &to;
	message->msg_namelen = sizeof(to);
	several[1] = several[0];
	MUST(sendmsg(near, message, 0) == 1);
	MUST(sendmmsg(near, several, 2, 0) == 2);
	bytes = sizeof(from);
	MUST(getsockname(near, (struct sockaddr *)&from, &bytes) == 0);
	printf("sender %d\n", ntohs(from.sin_port));
	message->msg_name = &from;
	MUST(recvmsg(far, message, 0) == 1);
	message->msg_namelen = 4;
	MUST(recvmmsg(far, several, 1, 0, NULL) == 1);
	message->msg_name = NULL;
	MUST(recvmsg(far, message, 0) == 1);
	MUST(recvmsg(far, NULL, 0) == -1 && errno == EFAULT);
	/* A datagram of 0 bytes has both addresses, too. */
	part.iov_len = 0;
	message->msg_name = &to;
	message->msg_namelen = sizeof(to);
	MUST(sendmsg(near, message, 0) == 0);
	message->msg_name = &from;
	MUST(recvmsg(far, message, 0) == 0);
	/* The kernel does not use the struct. */
	message->msg_name = (void *)1;
	MUST(sendmmsg(near, several, 0, 0) == 0);
	MUST(close(near) == 0 && close(far) == 0);
}

static void waiting(int fd)
{
	struct pollfd poll_fd = { fd, POLLIN, 0 };
	struct pollfd *volatile nowhere = (struct pollfd *)1; /* volatile: against a warning */
	struct pollfd second_ready[2] = { { -1, POLLIN, 0 }, { fd, POLLOUT, 0 } };
	struct timespec short_time = { 0, 3000000 };
	struct timeval short_too = { 0, 4000 };
	struct timespec endless = { INT64_MAX / 2, 1 };
	struct epoll_event event = { .events = EPOLLOUT };
	int epoll = epoll_create1(0);
	fd_set set;

	MUST(poll(&poll_fd, 1, 2) == 0 || poll_fd.revents);
	ppoll(&poll_fd, 1, &short_time, NULL);
	poll_fd.events = POLLOUT;
	MUST(ppoll(&poll_fd, 1, &endless, NULL) == 1);
	printf("near %d\n", fd);
	MUST(poll(second_ready, 2, -1) == 1);
	MUST(poll(NULL, 0, 0) == 0);
	MUST(poll(nowhere, 1, 0) == -1 && errno == EFAULT);
	errno = 4711;
	FD_ZERO(&set);
	FD_SET(fd, &set);
	MUST(select(fd + 1, NULL, &set, NULL, &short_too) == 1);
	MUST(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
	MUST(epoll_wait(epoll, &event, 1, -1) == 1);
	MUST(close(epoll) == 0);
}

static int net(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = 0 };
	struct sockaddr_un local = { .sun_family = AF_UNIX, .sun_path = "/no/such/socket" };
	struct sockaddr_in from;
	socklen_t bytes = sizeof address, room;
	int listener, near, far, pair[2], datagrams;

	(void)argc, (void)argv;
	errno = 4711;
	listener = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(listener >= 0 && bind(listener, (struct sockaddr *)&address, bytes) == 0);
	MUST(listen(listener, 7) == 0);
	MUST(getsockname(listener, (struct sockaddr *)&address, &bytes) == 0);
	printf("port %d\n", ntohs(address.sin_port));
	near = socket(AF_INET, SOCK_STREAM, 0);
	MUST(near >= 0 && connect(near, (struct sockaddr *)&address, sizeof address) == 0);
	room = sizeof from;
	far = accept4(listener, (struct sockaddr *)&from, &room, SOCK_CLOEXEC);
	MUST(far >= 0 && room == sizeof from);
	printf("peer %d\n", ntohs(from.sin_port));
	messages(near, far);
	waiting(near);
	MUST(shutdown(near, SHUT_WR) == 0);
	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	datagrams = socket(AF_INET, SOCK_DGRAM, 0);
	MUST(datagrams >= 0 && sendto(datagrams, "x", 1, 0, (struct sockaddr *)&address,
				      sizeof address) == 1);
	MUST(errno == 4711);
	addressed();
	MUST(connect(pair[0], (struct sockaddr *)&local, sizeof local) == -1);
	MUST(connect(datagrams, (const struct sockaddr *)(uintptr_t)8, 16) == -1 &&
	     errno == EFAULT);
	MUST(bind(datagrams, (struct sockaddr *)&six, sizeof six) == -1);
	MUST(recvfrom(listener, NULL, 0, MSG_DONTWAIT, NULL, NULL) == -1);
	return 0;
}

/*
 * The shim does not read an address that the kernel does not read, and does not trust one that it
 * does read.
 */
static int net_faults(int argc, char **argv)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	/* The last one begins in a readable page. */
	const uintptr_t bad[3] = { 8, (uintptr_t)-4096, (uintptr_t)map + page - 1 };
	struct sockaddr_un from, name = { .sun_family = AF_UNIX };
	socklen_t bytes = sizeof name;
	int pair[2], listener = socket(AF_UNIX, SOCK_STREAM, 0),
		     client = socket(AF_UNIX, SOCK_STREAM, 0);
	char byte;

	(void)argc, (void)argv;
	MUST(map != MAP_FAILED && mprotect(map + page, page, PROT_NONE) == 0);
	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
	MUST(bind(listener, (struct sockaddr *)&name, sizeof name.sun_family) == 0 &&
	     !listen(listener, 7));
	MUST(getsockname(listener, (struct sockaddr *)&name, &bytes) == 0);
	for (int i = 0; i < 3; i++) {
		MUST(send(pair[0], "x", 1, 0) == 1 && send(pair[0], "x", 1, 0) == 1);
		MUST(recvfrom(pair[1], &byte, 1, 0, NULL, (socklen_t *)bad[i]) == 1);
		MUST(recvfrom(pair[1], &byte, 1, 0, (struct sockaddr *)&from,
			      (socklen_t *)bad[i]) == -1 &&
		     errno == EFAULT);
		MUST(accept(pair[0], (struct sockaddr *)&from, (socklen_t *)bad[i]) == -1);
	}
	MUST(connect(client, (struct sockaddr *)&name, bytes) == 0);
	MUST(accept(listener, NULL, (socklen_t *)bad[0]) >= 0);
	return 0;
}

/* Addresses of other families: the calls fail, and their events have the addresses. */
static int net_families(int argc, char **argv)
{
	struct sockaddr_nl netlink = { .nl_family = AF_NETLINK, .nl_pid = 7 };
	struct sockaddr_vm vsock = { .svm_family = AF_VSOCK, .svm_cid = 2, .svm_port = 1024 };
	struct sockaddr packet = { .sa_family = AF_PACKET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)argc, (void)argv;
	MUST(connect(fd, (struct sockaddr *)&netlink, sizeof netlink) == -1);
	netlink.nl_groups = 0x11;
	MUST(connect(fd, (struct sockaddr *)&netlink, sizeof netlink) == -1);
	MUST(connect(fd, (struct sockaddr *)&netlink, sizeof netlink - 1) == -1);
	MUST(connect(fd, (struct sockaddr *)&vsock, sizeof vsock) == -1);
	MUST(connect(fd, &packet, sizeof packet) == -1);
	close(fd);
	return 0;
}

const struct probe probes_net[] = {
	{ "net", net }, { "net-faults", net_faults }, { "net-families", net_families }, { 0 }
};
