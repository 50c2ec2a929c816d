/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/net_transfer.c - family net: messages are sent and received.
 *
 * read() and write() on sockets belong to family io. The data of messages is recorded only if the
 * user asked for it. The size, or the number of messages, is always recorded. The addresses of
 * sendto(), recvfrom() and the functions whose messages are structs are also always recorded.
 */
#include <sys/socket.h>

#include "preload/address.h"
#include "preload/content.h"
#include "preload/shim.h"
#include "preload/text.h"

/*
 * The fields of all message events. The events of types without an address end before the member
 * `address`.
 */
struct message {
	uint64_t time;
	int32_t fd, error;
	uint64_t size; /* bytes, or number of messages */
	int64_t result;
	uint64_t flags;
	char address[SHIM_ADDRESS_TEXT];
};

#define MESSAGE_BYTES offsetof(struct message, address)

/*
 * The wrapper of a function that sends or receives. room_ is evaluated before the call; it is the
 * room for the address, or the length of the text of a destination. after_ is a statement that runs
 * after the call and may add the address. form_ and at_ describe the memory of the message.
 */
#define MESSAGE(result_type, name, type, params, args, size_, room_, after_, form_, at_) \
	SHIM_NEXT(name, shim_no_number); \
	SHIM_WRAPPER result_type name params \
	{ \
		if (!shim_on_alone(type)) \
			return next(name) args; \
		/* Only the part up to call.len is recorded. */ \
		struct message data; \
		data.fd = fd; \
		data.error = ECANCELED; \
		data.size = (size_); \
		data.result = -1; \
		data.flags = (unsigned)flags; \
		socklen_t room = (room_); \
		SHIM_CALL(type, data); \
		call.len = MESSAGE_BYTES; \
		data.result = next(name) args; \
		data.error = data.result < 0 ? errno : 0; \
		/* Avoids a warning: calls without an address do not use it. */ \
		(void)room; \
		after_; \
		/* \
		 * With MSG_TRUNC, the bytes of a SOCK_STREAM are not stored, and the length of a \
		 * datagram may be greater than the memory. \
		 */ \
		if (!(flags & MSG_TRUNC)) \
			SHIM_MOVED(form_, at_, size_, data.result); \
		return (result_type)data.result; \
	}

/* With _FORTIFY_SOURCE, programs call these functions if the compiler knows the buffer's size. */
ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buffer, size_t size, size_t room, int flags,
		       __SOCKADDR_ARG address, socklen_t *bytes);

/*
 * These functions are for connected sockets and have no address. A result that is less than the
 * size is a partial transfer, as for read() and write().
 */
MESSAGE(ssize_t, send, NET_SEND, (int fd, const void *buffer, size_t size, int flags),
	(fd, buffer, size, flags), size, 0, (void)0, SHIM_FLAT, buffer)
SHIM_ALIAS(__send, send);
MESSAGE(ssize_t, recv, NET_RECV, (int fd, void *buffer, size_t size, int flags),
	(fd, buffer, size, flags), size, 0, (void)0, SHIM_FLAT, buffer)
MESSAGE(ssize_t, __recv_chk, NET_RECV, (int fd, void *buffer, size_t size, size_t limit, int flags),
	(fd, buffer, size, limit, flags), size, 0, (void)0, SHIM_FLAT, buffer)

/*
 * Formats the destination before the call, and returns the length of the text. As soon as the
 * message is sent, its receiver may free the memory of the address. The kernel reads at most a
 * struct sockaddr_storage. If the address cannot be read, the text is empty. It is also empty if
 * `address` is NULL, as on a connected socket.
 */
static socklen_t put_target(struct message *data, const struct sockaddr *address, socklen_t bytes)
{
	const size_t most = sizeof(struct sockaddr_storage);
	const bool is_readable = address && shim_can_read(address, bytes < most ? bytes : most);

	return (socklen_t)shim_address(data->address, is_readable ? address : NULL, bytes);
}

/*
 * Returns the length of the text that put_target() has written before the call. If the kernel has
 * not used the address, the text becomes empty.
 */
static size_t sent_to(struct message *data, size_t len, bool is_used)
{
	return is_used ? len : shim_address(data->address, NULL, 0);
}

/*
 * Adds the sender's address, if the program requested it, and returns the length of its text.
 * `room` is the size of the program's memory; *bytes is the address's length, which may be greater
 * than `room`.
 */
static size_t received_from(struct message *data, const struct sockaddr *address, socklen_t room,
			    const socklen_t *bytes)
{
	bool is_filled = !data->error && address && bytes;

	return shim_address(data->address, is_filled ? address : NULL,
			    !is_filled ? 0 : *bytes < room ? *bytes : room);
}

/* These functions have an address, for sockets of datagrams. */
MESSAGE(ssize_t, sendto, NET_SENDTO,
	(int fd, const void *buffer, size_t size, int flags, __CONST_SOCKADDR_ARG address,
	 socklen_t bytes),
	(fd, buffer, size, flags, address, bytes), size,
	put_target(&data, address.__sockaddr__, bytes),
	call.len += sent_to(&data, room, !data.error), SHIM_FLAT, buffer)
MESSAGE(ssize_t, recvfrom, NET_RECVFROM,
	(int fd, void *buffer, size_t size, int flags, __SOCKADDR_ARG address, socklen_t *bytes),
	(fd, buffer, size, flags, address, bytes), size,
	shim_address_room(address.__sockaddr__, bytes),
	call.len += received_from(&data, address.__sockaddr__, room, bytes), SHIM_FLAT, buffer)
MESSAGE(ssize_t, __recvfrom_chk, NET_RECVFROM,
	(int fd, void *buffer, size_t size, size_t limit, int flags, __SOCKADDR_ARG address,
	 socklen_t *bytes),
	(fd, buffer, size, limit, flags, address, bytes), size,
	shim_address_room(address.__sockaddr__, bytes),
	call.len += received_from(&data, address.__sockaddr__, room, bytes), SHIM_FLAT, buffer)

/*
 * The messages of the functions below are described by structs of the program, which may be invalid
 * before the call. A struct mmsghdr begins with a struct msghdr, so `first` may point to either.
 * For a call that sends, formats the destination of the first message. Returns the length of the
 * text.
 */
static socklen_t message_destination(struct message *data, const void *first)
{
	struct msghdr header;

	if (!first || !shim_copy_input(&header, first, sizeof header))
		return put_target(data, NULL, 0);
	return put_target(data, header.msg_name, header.msg_namelen);
}

/*
 * For a call that receives, returns the number of bytes that the program has provided for the
 * address of the first message.
 */
static socklen_t message_room(const void *first)
{
	const struct msghdr *header = first;

	return first && shim_can_read(first, sizeof(*header)) && header->msg_name ?
	       header->msg_namelen : 0;
}

/*
 * Adds the sender of the first message, if the program requested it. On a connected socket the text
 * is usually empty. If the result is less than `least`, the kernel has not used the struct. Else
 * the kernel has written to the struct and to the address at the end of the call.
 */
static size_t message_sender(struct message *data, const void *first, socklen_t room, int least)
{
	const struct msghdr *header = data->result >= least && room ? first : NULL;

	return header ? shim_address(data->address, header->msg_name,
				     header->msg_namelen < room ? header->msg_namelen : room) :
			shim_address(data->address, NULL, 0);
}

/*
 * The wrappers of functions whose messages are structs. The event has the first message's address.
 * If the result is less than least_, there was no first message. The result of sendmsg() is a size,
 * which may be 0.
 */
#define SENDS(result_type, name, params, args, size_, least_, form_, at_) \
	MESSAGE(result_type, name, NET_SENDMSG, params, args, size_, \
		message_destination(&data, at_), \
		call.len += sent_to(&data, room, data.result >= (least_)), form_, at_)
#define RECEIVES(result_type, name, params, args, size_, least_, form_, at_) \
	MESSAGE(result_type, name, NET_RECVMSG, params, args, size_, message_room(at_), \
		call.len += message_sender(&data, at_, room, least_), form_, at_)

SENDS(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags), 1,
      0, SHIM_MESSAGE, message)
RECEIVES(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags), 1, 0,
	 SHIM_MESSAGE, message)
SENDS(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags),
      (fd, messages, count, flags), count, 1, SHIM_MESSAGES, messages)
RECEIVES(int, recvmmsg,
	 (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout),
	 (fd, messages, count, flags, timeout), count, 1, SHIM_MESSAGES, messages)
