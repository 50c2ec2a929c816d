/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/content.c - copies the bytes that a call has moved, and records the event with them.
 *
 * The call has succeeded, so its memory was mapped at that time. Another thread may have unmapped
 * the memory since: a thread that received a message may free the sender's memory immediately. The
 * kernel therefore makes the copy (kernel_copy.h).
 */
#include "preload/content.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "preload/kernel_copy.h"

#define PARTS 16 /* elements of a vector that are read; further elements are not recorded */

shim_start_data _Atomic unsigned posixtrace_shim_content;

/* A process can inherit a filter, so the shim must look for one at the start of the program. */
void shim_content_begin(unsigned bytes)
{
	if (bytes && !shim_may_copy())
		bytes = 0;
	atomic_store_explicit(&posixtrace_shim_content, bytes, memory_order_relaxed);
}

/*
 * Copies at most `bytes` bytes of the memory that a vector of the program describes. The vector
 * itself is memory of the program, which other threads may change or unmap. The function therefore
 * copies the vector first. It checks and uses only the lengths in the copy.
 */
static size_t copy_vector(void *to, size_t bytes, const struct iovec *vector, size_t parts)
{
	struct iovec part[PARTS];
	size_t used = 0, left = bytes;

	if (parts > PARTS)
		parts = PARTS;
	if (!parts || !shim_kernel_copy_all(part, parts * sizeof part[0], vector))
		return 0;
	/* The call has moved no more than `bytes` bytes. The rest of the vector was not used. */
	for (; used < parts && left; used++) {
		if (part[used].iov_len > left)
			part[used].iov_len = left;
		left -= part[used].iov_len;
	}
	return shim_kernel_copy(to, bytes - left, part, used);
}

/*
 * Like copy_vector(), for the vector of a message. The header of the message is memory of the
 * program, too, so it is copied first.
 */
static size_t copy_message(void *to, size_t bytes, const struct msghdr *message)
{
	struct msghdr header;

	if (!shim_kernel_copy_all(&header, sizeof header, message))
		return 0;
	return copy_vector(to, bytes, header.msg_iov, header.msg_iovlen);
}

/*
 * Copies the first bytes of a call into memory that has room for `bytes` bytes. For read() and
 * recv() these are the bytes that arrived. For write() and send() the memory is read after the
 * call. If another thread changes the memory meanwhile, the copy may differ from the bytes that the
 * kernel has read.
 */
static size_t copy_moved(unsigned char *to, size_t bytes, const struct shim_call *call)
{
	struct mmsghdr first;
	const struct iovec flat = { (void *)(uintptr_t)call->moved, bytes };

	if (!shim_may_copy())
		return 0;
	switch (call->form) {
	case SHIM_FLAT:
		return shim_kernel_copy(to, bytes, &flat, 1);
	case SHIM_VECTOR:
		return copy_vector(to, bytes, call->moved, call->parts);
	case SHIM_MESSAGE:
		return copy_message(to, bytes, call->moved);
	case SHIM_MESSAGES:
		/*
		 * The result of the call is the number of messages. The length of the first message
		 * is in its own struct.
		 */
		if (!shim_kernel_copy_all(&first, sizeof first, call->moved))
			return 0;
		if (bytes > first.msg_len)
			bytes = first.msg_len;
		return copy_message(to, bytes, call->moved);
	}
	return 0;
}

/*
 * A tracer that attaches or detaches may change the number of wanted bytes. The function reads this
 * number only once, so that the copied bytes fit into the room.
 *
 * This is a separate function, so that calls without data do not need stack for the data. alloca()
 * makes the room only as large as this call needs, because signal handlers may run on small stacks.
 *
 * The duration of the call does not include the copy. The event has at most a few hundred bytes in
 * addition to the copied bytes, which are at most SHIM_CONTENT_MAX.
 */
void shim_put_moved(const struct shim_call *call)
{
	const size_t wanted = atomic_load_explicit(&posixtrace_shim_content, memory_order_relaxed);
	/* For several messages the member `bytes` of `call` is the number of messages. */
	const bool is_short = call->form != SHIM_MESSAGES && call->bytes < wanted;
	const size_t room = is_short ? call->bytes : wanted;
	unsigned char *data = __builtin_alloca(call->len + sizeof(uint32_t) + room);
	const int saved = errno;
	uint32_t moved;

	memcpy(data, call->data, call->len);
	/* If `room` is 0, no bytes are wanted any more. */
	moved = room ? (uint32_t)copy_moved(data + call->len + sizeof moved, room, call) : 0;
	memcpy(data + call->len, &moved, sizeof moved);
	errno = saved;
	shim_put(call->type, data, call->len + (moved ? sizeof moved + moved : 0), call->caller);
}
