/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/address.c - formats socket addresses without stdio, which allocates and locks.
 *
 * The address is memory of the program. It is copied once, up to the size of the largest known
 * struct, and then formatted from the copy.
 */
#ifndef PTX_PRELOAD_ADDRESS_H
/*
 * The tool includes this file, too. The tool has another include path, so it includes the headers
 * before this file.
 */
# include "preload/address.h"
# include "preload/text.h"
# define SHIM_ADDRESS_OF_PROGRAM
#endif

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <linux/netlink.h>
#include <linux/vm_sockets.h>

#ifdef SHIM_ADDRESS_OF_PROGRAM
/*
 * If the length cannot be read, the program's call will fail with EFAULT. The shim must not crash
 * before that.
 */
socklen_t shim_address_room(const struct sockaddr *address, const socklen_t *bytes)
{
	/* A length that is not aligned may be in two pages. */
	return address && bytes && shim_is_readable(bytes) &&
			       ((uintptr_t)bytes % sizeof(*bytes) == 0 ||
				shim_is_readable((const char *)(bytes + 1) - 1)) ?
		       *bytes :
		       0;
}
#endif

/*
 * Each of the functions put_*() writes a text without a NUL and returns a pointer to its end. The
 * destination has SHIM_ADDRESS_TEXT bytes. This is enough, because each part of an address has a
 * known greatest length.
 */
static char *put_text(char *to, const char *text)
{
	size_t len = strlen(text);

	memcpy(to, text, len);
	return to + len;
}

/* `base` is 10 or 16. The digits are made in reverse order. */
static char *put_number(char *to, unsigned value, unsigned base)
{
	char digits[16], *p = digits;

	/* The digits are in lower case, as inet_ntop() writes them. */
	do
		*p++ = "0123456789abcdef"[value % base];
	while (value /= base);
	while (p > digits)
		*to++ = *--p;
	return to;
}

/*
 * Address and port are in network byte order. memcpy() is used, because the part of the struct may
 * be unaligned.
 */
static char *put_ipv4(char *to, const struct sockaddr_in *address)
{
	unsigned char part[4];

	memcpy(part, &address->sin_addr, sizeof part);
	for (int i = 0; i < 4; i++) {
		to = put_number(to, part[i], 10);
		*to++ = i < 3 ? '.' : ':';
	}
	return put_number(to, ntohs(address->sin_port), 10);
}

/* The groups are not shortened to "::", so that equal addresses have equal texts. */
static char *put_ipv6(char *to, const struct sockaddr_in6 *address)
{
	const unsigned char *part = address->sin6_addr.s6_addr;

	*to++ = '[';
	/* 8 groups of 16 bits, as they are in the packet. */
	for (int i = 0; i < 16; i += 2) {
		to = put_number(to, (unsigned)part[i] << 8 | part[i + 1], 16);
		*to++ = i < 14 ? ':' : ']';
	}
	*to++ = ':';
	return put_number(to, ntohs(address->sin6_port), 10);
}

/*
 * A path may lack its NUL. An abstract name begins with a NUL and may contain further NULs. Each
 * NUL of an abstract name is shown as '@'.
 */
static char *put_unix(char *to, const struct sockaddr_un *address, size_t bytes)
{
	size_t len = bytes - offsetof(struct sockaddr_un, sun_path);

	to = put_text(to, "unix:");
	/* The caller's length may exceed the struct. */
	if (len > sizeof address->sun_path)
		len = sizeof address->sun_path;
	for (size_t i = 0; i < len; i++) {
		/* This NUL ends a path. In an abstract name a NUL is part of the name. */
		if (!address->sun_path[i] && address->sun_path[0])
			break;
		*to++ = address->sun_path[i] ? address->sun_path[i] : '@';
	}
	return to;
}

/*
 * The port of the kernel is 0. The groups of messages are a hexadecimal mask, which is omitted if
 * it is 0.
 */
static char *put_netlink(char *to, const struct sockaddr_nl *address)
{
	to = put_number(put_text(to, "netlink:"), address->nl_pid, 10);
	return address->nl_groups ? put_number(put_text(to, "/0x"), address->nl_groups, 16) : to;
}

/* Writes the number of the machine, which is 2 for the host, and the port. */
static char *put_vsock(char *to, const struct sockaddr_vm *address)
{
	to = put_number(put_text(to, "vsock:"), address->svm_cid, 10);
	*to++ = ':';
	return put_number(to, address->svm_port, 10);
}

/*
 * The longest text is that of a path with "unix:" and its NUL; SHIM_ADDRESS_TEXT has room for it.
 */
size_t shim_address(char *to, const struct sockaddr *address, socklen_t bytes)
{
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
		struct sockaddr_un local;
		struct sockaddr_nl netlink;
		struct sockaddr_vm vsock;
	/* Bytes that the caller did not give are 0. */
	} copy = { .any = { 0 } };
	char *end = to;

	/*
	 * If an address is too short for a family, the text is empty. The sender of a datagram has
	 * such an address if its socket has no name.
	 */
	if (address && bytes >= sizeof copy.any.sa_family) {
		memcpy(&copy, address, bytes < sizeof copy ? bytes : sizeof copy);
		if (copy.any.sa_family == AF_INET && bytes >= sizeof copy.ipv4) {
			end = put_ipv4(to, &copy.ipv4);
		} else if (copy.any.sa_family == AF_INET6 && bytes >= sizeof copy.ipv6) {
			end = put_ipv6(to, &copy.ipv6);
		} else if (copy.any.sa_family == AF_NETLINK && bytes >= sizeof copy.netlink) {
			end = put_netlink(to, &copy.netlink);
		} else if (copy.any.sa_family == AF_VSOCK && bytes >= sizeof copy.vsock) {
			end = put_vsock(to, &copy.vsock);
		/*
		 * A path may be shorter than the struct; its length comes from the kernel or from
		 * the program.
		 */
		} else if (copy.any.sa_family == AF_UNIX) {
			end = put_unix(to, &copy.local, bytes < sizeof copy ? bytes : sizeof copy);
		/*
		 * The shim does not support this family, or the address is shorter than its struct.
		 */
		} else {
			end = put_text(to, "family ");
			end = put_number(end, copy.any.sa_family, 10);
		}
	}
	*end = '\0';
	return (size_t)(end - to) + 1;
}
