/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/net.c - family net: sockets are created, bound, connected and accepted.
 *
 * The events of socket(), socketpair(), listen() and shutdown() are recorded after the call and
 * have no duration.
 */
#include <string.h>
#include <sys/socket.h>

#include "preload/address.h"
#include "preload/call.h"
#include "preload/shim.h"
#include "preload/text.h"

/* The fields of net.socket. `other` is the second descriptor of socketpair(). */
struct socket_data {
	int32_t fd, error;
	int32_t domain;
	uint32_t type;
	int32_t protocol, other;
};

/* Records the creation of a socket. */
static void put_socket(struct socket_data *data, int result, const void *caller)
{
	data->error = result < 0 ? errno : 0;
	shim_put(NET_SOCKET, data, sizeof *data, caller);
}

SHIM_NEXT(socket, shim_no_number);

/* socket(2). */
SHIM_WRAPPER int socket(int domain, int type, int protocol)
{
	/*
	 * The event is recorded after the call, when the descriptor is known. next() and shim_on()
	 * do not change errno, so errno is still that of the call.
	 */
	int fd = next(socket)(domain, type, protocol);

	if (shim_on(NET_SOCKET)) {
		struct socket_data data = { fd, 0, domain, (uint32_t)type, protocol, -1 };

		put_socket(&data, fd, shim_caller());
	}
	return fd;
}

SHIM_NEXT(socketpair, shim_no_number);

/* socketpair(2). */
SHIM_WRAPPER int socketpair(int domain, int type, int protocol, int fds[2])
{
	/* The two descriptors are in memory of the program; they are read only after success. */
	int result = next(socketpair)(domain, type, protocol, fds);

	if (shim_on(NET_SOCKET)) {
		struct socket_data data = { -1, 0, domain, (uint32_t)type, protocol, -1 };

		if (result == 0) {
			data.fd = fds[0];
			data.other = fds[1];
		}
		put_socket(&data, result, shim_caller());
	}
	return result;
}

/* The fields of net.connect and net.bind. */
struct named {
	uint64_t time;
	int32_t fd, error;
	char address[SHIM_ADDRESS_TEXT];
};

/*
 * Formats an address that the program passes to a call, before the call. Returns the length of the
 * text, with its NUL. If the address is in unreadable memory, or if a quiet process cannot
 * determine that, the text is empty.
 */
static size_t put_readable(char *to, const struct sockaddr *address, socklen_t bytes)
{
	/*
	 * At most this number of bytes is formatted, so no more bytes need be readable. The kernel
	 * refuses a call with a greater length before it reads the address.
	 */
	const size_t most = sizeof(struct sockaddr_storage);
	bool is_readable = shim_can_read(address, bytes < most ? bytes : most);

	return shim_address(to, is_readable ? address : NULL, bytes);
}

/*
 * Formats the address after a call that succeeded in a quiet process, if nothing showed before the
 * call that the address was readable. Returns the length of the text.
 */
static size_t put_missing(char *to, const struct sockaddr *address, socklen_t bytes, size_t len,
			  int error)
{
	return *to || error || !shim_is_quiet() ? len : shim_address(to, address, bytes);
}

/*
 * connect() and bind(). The address is formatted before the call: the thread that accepts a
 * connection may free the memory. before_ is a statement that runs before the call.
 */
#define NAMED(name, type, before_) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(int fd, __CONST_SOCKADDR_ARG address, socklen_t bytes) \
	{ \
		if (!shim_on(type)) \
			return next(name)(fd, address, bytes); \
		/* Only the part up to call.len is recorded. */ \
		struct named data; \
		data.fd = fd; \
		data.error = ECANCELED; \
		size_t len = put_readable(data.address, address.__sockaddr__, bytes); \
		before_; \
		SHIM_CALL(type, data); \
		call.len = offsetof(struct named, address) + len; \
		int result = next(name)(fd, address, bytes); \
		data.error = result < 0 ? errno : 0; \
		call.len = offsetof(struct named, address) + \
			   put_missing(data.address, address.__sockaddr__, bytes, len, \
				       data.error); \
		return result; \
	}

/*
 * Records that connect() begins. If connect() waits until the program is killed, it has no other
 * event. `address` is a text of `bytes` bytes.
 */
static void begin_connect(int fd, const char *address, size_t bytes, const void *caller)
{
	struct {
		int32_t fd;
		char address[SHIM_ADDRESS_TEXT];
	} data;

	if (!*shim_switch[NET_CONNECTING] || !shim_records(NET_CONNECTING))
		return;
	data.fd = fd;
	memcpy(data.address, address, bytes);
	shim_put(NET_CONNECTING, &data, offsetof(__typeof__(data), address) + bytes, caller);
}

/*
 * A non-blocking connect() records EINPROGRESS; the shim does not see when the connection is
 * established.
 */
NAMED(connect, NET_CONNECT,
      begin_connect(fd, data.address, len, shim_caller()))
SHIM_ALIAS(__connect, connect);
NAMED(bind, NET_BIND, (void)0)

/* The fields of net.accept. */
struct accepted {
	uint64_t time;
	int32_t fd, error;
	int32_t accepted;
	uint32_t flags;
	char address[SHIM_ADDRESS_TEXT];
};

/*
 * Completes the event of accept(). The peer's address is recorded only if the program requests it.
 * `room` is the size of the program's memory. After the call *bytes is the length of the address,
 * which may be greater than `room`.
 */
static void finish_accept(struct shim_call *call, struct accepted *data,
			  const struct sockaddr *address,
		    socklen_t room, const socklen_t *bytes)
{
	bool is_filled = data->accepted >= 0 && address && bytes;

	/*
	 * accept() waits until there is a client. The duration of the event is mostly this
	 * wait.
	 */
	data->error = data->accepted < 0 ? errno : 0;
	call->len += shim_address(data->address, is_filled ? address : NULL,
				  !is_filled ? 0 : *bytes < room ? *bytes : room);
}

/* accept(2) and accept4(2). `room` is read before the call, which overwrites it. */
#define ACCEPT(name, params, args, flags_) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name params \
	{ \
		if (!shim_on(NET_ACCEPT)) \
			return next(name) args; \
		struct accepted data; \
		data.fd = fd; \
		data.error = ECANCELED; \
		/* If the call does not return, `accepted` is -1 in the event. */ \
		data.accepted = -1; \
		data.flags = (flags_); \
		socklen_t room = shim_address_room(address.__sockaddr__, bytes); \
		SHIM_CALL(NET_ACCEPT, data); \
		call.len = offsetof(struct accepted, address); \
		data.accepted = next(name) args; \
		finish_accept(&call, &data, address.__sockaddr__, room, bytes); \
		return data.accepted; \
	}

ACCEPT(accept, (int fd, __SOCKADDR_ARG address, socklen_t *bytes), (fd, address, bytes), 0)
ACCEPT(accept4, (int fd, __SOCKADDR_ARG address, socklen_t *bytes, int flags),
       (fd, address, bytes, flags), (uint32_t)flags)

/*
 * getsockname() and getpeername(). The event has the address that the call returns. The result of
 * getsockname() shows a reader of the log which port the kernel chose.
 */
#define NAME_OF(name, type) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPED(name, type); \
	SHIM_WRAPPER int name(int fd, __SOCKADDR_ARG address, socklen_t *bytes) \
	{ \
		if (!shim_on(type)) \
			return next(name)(fd, address, bytes); \
		struct named data; \
		data.fd = fd; \
		data.error = ECANCELED; \
		/* The kernel will replace the size of the memory by the size of the address. */ \
		socklen_t room = shim_address_room(address.__sockaddr__, bytes); \
		SHIM_CALL(type, data); \
		call.len = offsetof(struct named, address); \
		int result = next(name)(fd, address, bytes); \
		data.error = result < 0 ? errno : 0; \
		call.len += shim_address(data.address, result ? NULL : address.__sockaddr__, \
					 result ? 0 : *bytes < room ? *bytes : room); \
		return result; \
	}

/*
 * getsockname() returns the socket's own address. After bind() to port 0 this is the only way to
 * determine the port.
 */
NAME_OF(getsockname, NET_GETSOCKNAME)
/* getpeername() with the error ENOTCONN is the usual way to detect that a connection has ended. */
NAME_OF(getpeername, NET_GETPEERNAME)

/* listen() and shutdown(): both have a descriptor and a number. */
#define ON_SOCKET(name, type) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER int name(int fd, int value) \
	{ \
		/* Both calls are short, and cannot be cancelled. */ \
		int result = next(name)(fd, value); \
		if (shim_on(type)) { \
			const int32_t data[] = { fd, result < 0 ? errno : 0, value }; \
			shim_put(type, data, sizeof data, shim_caller()); \
		} \
		return result; \
	}

/* `value` is the backlog of listen() and the direction of shutdown(). */
ON_SOCKET(listen, NET_LISTEN)
ON_SOCKET(shutdown, NET_SHUTDOWN)
