/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "live/address.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <linux/netlink.h>
#include <linux/vm_sockets.h>

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_un local;
	struct sockaddr_nl netlink;
	struct sockaddr_vm vsock;
	struct sockaddr_storage room;
};

/* Writes the name of a local socket. Each NUL of an abstract name becomes an @. */
static void local_text(const struct sockaddr_un *local, socklen_t bytes, char *text, size_t size)
{
	const socklen_t begin = offsetof(struct sockaddr_un, sun_path);
	char name[sizeof(local->sun_path) + 1];
	size_t len = bytes > begin ? bytes - begin : 0;

	if (!len)
		return;
	if (len > sizeof(local->sun_path))
		len = sizeof(local->sun_path);
	for (size_t i = 0; i < len; i++) {
		if (!local->sun_path[i] && local->sun_path[0])
			len = i;
		else
			name[i] = local->sun_path[i] ? local->sun_path[i] : '@';
	}
	name[len] = '\0';
	snprintf(text, size, "unix:%s", name);
}

/* The groups are not shortened to "::", as in the events of the preload library. */
static void six_text(const struct sockaddr_in6 *six, char *text, size_t size)
{
	const uint8_t *part = six->sin6_addr.s6_addr;
	unsigned group[8];

	for (int i = 0; i < 8; i++)
		group[i] = (unsigned)part[2 * i] << 8 | part[2 * i + 1];
	snprintf(text, size, "[%x:%x:%x:%x:%x:%x:%x:%x]:%u", group[0], group[1], group[2],
		 group[3], group[4], group[5], group[6], group[7], ntohs(six->sin6_port));
}

/* Writes no text for a port 0 (netlink: port 0 and no groups): the socket has no address. */
static void address_text(const union address *address, socklen_t bytes, char *text, size_t size)
{
	char host[INET_ADDRSTRLEN] = "";

	switch (address->any.sa_family) {
	case AF_INET:
		if (address->four.sin_port &&
		    inet_ntop(AF_INET, &address->four.sin_addr, host, sizeof(host)))
			snprintf(text, size, "%s:%u", host, ntohs(address->four.sin_port));
		break;
	case AF_INET6:
		if (address->six.sin6_port)
			six_text(&address->six, text, size);
		break;
	case AF_UNIX:
		local_text(&address->local, bytes, text, size);
		break;
	case AF_NETLINK:
		if (address->netlink.nl_groups)
			snprintf(text, size, "netlink:%u/0x%x", address->netlink.nl_pid,
				 address->netlink.nl_groups);
		else if (address->netlink.nl_pid)
			snprintf(text, size, "netlink:%u", address->netlink.nl_pid);
		break;
	case AF_VSOCK:
		if (address->vsock.svm_port != VMADDR_PORT_ANY)
			snprintf(text, size, "vsock:%u:%u", address->vsock.svm_cid,
				 address->vsock.svm_port);
		break;
	}
}

void address_own(int fd, char *text, size_t size)
{
	union address address = { .room.ss_family = AF_UNSPEC };
	socklen_t bytes = sizeof(address);

	*text = '\0';
	if (!getsockname(fd, &address.any, &bytes))
		address_text(&address, bytes, text, size);
}

void address_peer(int fd, char *text, size_t size)
{
	union address address = { .room.ss_family = AF_UNSPEC };
	socklen_t bytes = sizeof(address);

	*text = '\0';
	if (!getpeername(fd, &address.any, &bytes))
		address_text(&address, bytes, text, size);
}
