/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* address.c - asks the kernel for addresses of sockets. syscalls/address.c writes their texts. */
#include "live/address.h"

#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_nl netlink;
	struct sockaddr_vm vsock;
	struct sockaddr_storage room;
};

/*
 * Returns whether the kernel has given the socket an address. Without an address the port is 0, and
 * a local socket has no name.
 */
static bool is_given(const union address *address, socklen_t bytes)
{
	switch (address->any.sa_family) {
	case AF_INET:
		return address->four.sin_port;
	case AF_INET6:
		return address->six.sin6_port;
	case AF_UNIX:
		return bytes > offsetof(struct sockaddr_un, sun_path);
	case AF_NETLINK:
		return address->netlink.nl_pid || address->netlink.nl_groups;
	case AF_VSOCK:
		return address->vsock.svm_port != VMADDR_PORT_ANY;
	default:
		return false;
	}
}

void address_own(int fd, char text[ADDRESS_BYTES])
{
	union address address = { .room.ss_family = AF_UNSPEC };
	socklen_t bytes = sizeof(address);

	*text = '\0';
	if (!getsockname(fd, &address.any, &bytes) && is_given(&address, bytes))
		shim_address(text, &address.any, bytes);
}

void address_peer(int fd, char text[ADDRESS_BYTES])
{
	union address address = { .room.ss_family = AF_UNSPEC };
	socklen_t bytes = sizeof(address);

	*text = '\0';
	if (!getpeername(fd, &address.any, &bytes) && is_given(&address, bytes))
		shim_address(text, &address.any, bytes);
}
