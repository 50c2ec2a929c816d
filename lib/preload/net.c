/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/net.c - family net: sockets are made, bound, connected, accepted. */
#include <sys/socket.h>

#include "preload/address.h"
#include "preload/shim.h"

struct socket_data {
	int32_t fd, error;
	int32_t domain;
	uint32_t type;
	int32_t protocol, other;
};

static void made(struct socket_data *data, int result, const void *caller)
{
	data->error = result < 0 ? errno : 0;
	shim_put(NET_SOCKET, data, sizeof *data, caller);
}

SHIM_NEXT(socket, shim_no_number);

SHIM_WRAPPER int socket(int domain, int type, int protocol)
{
	int fd = next(socket)(domain, type, protocol);

	if (shim_on(NET_SOCKET)) {
		struct socket_data data = { fd, 0, domain, (uint32_t)type, protocol, -1 };

		made(&data, fd, shim_caller());
	}
	return fd;
}

SHIM_NEXT(socketpair, shim_no_number);

SHIM_WRAPPER int socketpair(int domain, int type, int protocol, int fds[2])
{
	int result = next(socketpair)(domain, type, protocol, fds);

	if (shim_on(NET_SOCKET)) {
		struct socket_data data = { -1, 0, domain, (uint32_t)type, protocol, -1 };

		if (result == 0) {
			data.fd = fds[0];
			data.other = fds[1];
		}
		made(&data, result, shim_caller());
	}
	return result;
}

struct named {
	uint64_t time;
	int32_t fd, error;
	char address[SHIM_ADDRESS_TEXT];
};

/* What the kernel could not read, we do not. */
static size_t readable(char *to, const struct sockaddr *address, socklen_t bytes, int error)
{
	bool is_read = error != EFAULT && error != ECANCELED && error != EINVAL && error != EBADF &&
		       error != ENOTSOCK;

	return shim_address(to, is_read ? address : NULL, bytes);
}

#define NAMED(name, type) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(int fd, __CONST_SOCKADDR_ARG address, socklen_t bytes) \
	{ \
		if (!shim_on(type)) \
			return next(name)(fd, address, bytes); \
		struct named data; \
		data.fd = fd; \
		data.error = ECANCELED; \
		SHIM_CALL(type, data); \
		call.len = offsetof(struct named, address); \
		int result = next(name)(fd, address, bytes); \
		data.error = result < 0 ? errno : 0; \
		call.len += readable(data.address, address.__sockaddr__, bytes, data.error); \
		return result; \
	}

NAMED(connect, NET_CONNECT)
NAMED(bind, NET_BIND)

struct accepted {
	uint64_t time;
	int32_t fd, error;
	int32_t accepted;
	char address[SHIM_ADDRESS_TEXT];
};

/*
 * Whose connection it is is told only if the program wants to know it too. room is what there was
 * for the address; afterwards it says how long the address is, which may be more.
 */
static void accepts(struct shim_call *call, struct accepted *data, const struct sockaddr *address,
		    socklen_t room, const socklen_t *bytes)
{
	bool is_told = data->accepted >= 0 && address && bytes;

	data->error = data->accepted < 0 ? errno : 0;
	call->len += shim_address(data->address, is_told ? address : NULL,
				  !is_told ? 0 : *bytes < room ? *bytes : room);
}

#define ACCEPT(name, params, args) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on(NET_ACCEPT)) \
			return next(name) args; \
		struct accepted data; \
		data.fd = fd; \
		data.error = ECANCELED; \
		data.accepted = -1; \
		socklen_t room = shim_address_room(address.__sockaddr__, bytes); \
		SHIM_CALL(NET_ACCEPT, data); \
		call.len = offsetof(struct accepted, address); \
		data.accepted = next(name) args; \
		accepts(&call, &data, address.__sockaddr__, room, bytes); \
		return data.accepted; \
	}

ACCEPT(accept, (int fd, __SOCKADDR_ARG address, socklen_t *bytes), (fd, address, bytes))
ACCEPT(accept4, (int fd, __SOCKADDR_ARG address, socklen_t *bytes, int flags),
       (fd, address, bytes, flags))

#define ON_SOCKET(name, type) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(int fd, int value) \
	{ \
		int result = next(name)(fd, value); \
		if (shim_on(type)) { \
			const int32_t data[] = { fd, result < 0 ? errno : 0, value }; \
			shim_put(type, data, sizeof data, shim_caller()); \
		} \
		return result; \
	}

ON_SOCKET(listen, NET_LISTEN)
ON_SOCKET(shutdown, NET_SHUTDOWN)
