/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/content.c - copies the bytes that a call has moved, and records the event with them.
 *
 * The call has succeeded, so its memory was mapped at that time. Another thread may have unmapped
 * the memory since: a thread that received a message may free the sender's memory immediately. The
 * kernel therefore makes the copy. If the memory is not mapped, process_vm_readv(2) returns an
 * error, but a load would end the program.
 */
#include "preload/content.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/self.h"

#define PARTS 16 /* elements of a vector that are read; further elements are not recorded */

shim_start_data _Atomic unsigned posixtrace_shim_content;

/*
 * Returns true if the status file of the process shows that the process has no seccomp filter.
 * Returns false if it has a filter, or if the file cannot be read.
 *
 * The function reads the file because a filter may forbid prctl(PR_GET_SECCOMP). A filter that the
 * process has inherited allows the calls that read a file: the dynamic linker has made these calls
 * for each library. The kernel escapes newlines in values, so that each line begins with a field's
 * name.
 */
static bool has_no_filter(void)
{
	static const char field[] = "\nSeccomp:\t";
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/status",
				    O_RDONLY | O_CLOEXEC);
	size_t matched = 0;
	char text[256], mode = '1';
	long n;

	if (fd < 0)
		return false;
	while (matched <= sizeof field - 1 &&
	       (n = syscall(SYS_read, fd, text, sizeof text)) > 0)
		for (long i = 0; i < n && matched <= sizeof field - 1; i++)
			if (matched == sizeof field - 1) {
				mode = text[i];
				matched++;
			} else {
				/*
				 * The only newline of `field` is its first byte, so only a newline
				 * can begin a new match.
				 */
				matched = text[i] == field[matched] ? matched + 1 : text[i] == '\n';
			}
	syscall(SYS_close, fd);
	return mode == '0';
}

/* A process can inherit a filter, so the shim must look for one at the start of the program. */
void shim_content_begin(unsigned bytes)
{
	if (bytes && !has_no_filter())
		bytes = 0;
	atomic_store_explicit(&posixtrace_shim_content, bytes, memory_order_relaxed);
}

/*
 * Copies the parts one after the other. Returns the number of bytes, 0 after an error. The kernel
 * copies up to the first page that it cannot read. The field in the event has its own length, so
 * the field may have fewer bytes than requested.
 */
static size_t copy_parts(void *to, size_t bytes, const struct iovec *part, size_t parts)
{
	const struct iovec here = { to, bytes };
	/*
	 * The call gets the number of this thread and not the number of the process, because the
	 * main thread may have ended. A process needs no permission to read its own memory.
	 */
	const long n = syscall(SYS_process_vm_readv, syscall(SYS_gettid), &here, 1UL, part, parts,
			       0UL);

	return n > 0 ? (size_t)n : 0;
}

/* Copies a struct of the program. Returns whether the whole struct was copied. */
static bool copy_struct(void *to, size_t bytes, const void *from)
{
	const struct iovec part = { (void *)(uintptr_t)from, bytes };

	return copy_parts(to, bytes, &part, 1) == bytes;
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
	if (!parts || !copy_struct(part, parts * sizeof part[0], vector))
		return 0;
	/* The call has moved no more than `bytes` bytes. The rest of the vector was not used. */
	for (; used < parts && left; used++) {
		if (part[used].iov_len > left)
			part[used].iov_len = left;
		left -= part[used].iov_len;
	}
	return copy_parts(to, bytes - left, part, used);
}

/*
 * Like copy_vector(), for the vector of a message. The header of the message is memory of the
 * program, too, so it is copied first.
 */
static size_t copy_message(void *to, size_t bytes, const struct msghdr *message)
{
	struct msghdr header;

	if (!copy_struct(&header, sizeof header, message))
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

	/* A process with a filter may not be allowed to make this system call. */
	if (shim_is_quiet())
		return 0;
	switch (call->form) {
	case SHIM_FLAT:
		return copy_parts(to, bytes, &flat, 1);
	case SHIM_VECTOR:
		return copy_vector(to, bytes, call->moved, call->parts);
	case SHIM_MESSAGE:
		return copy_message(to, bytes, call->moved);
	case SHIM_MESSAGES:
		/*
		 * The result of the call is the number of messages. The length of the first message
		 * is in its own struct.
		 */
		if (!copy_struct(&first, sizeof first, call->moved))
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
