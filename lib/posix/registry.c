/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/registry.c - the table of identifiers, and the memory of streams.
 *
 * The table and the list of unused memory are in the process block, which the kernel zeroes in a
 * child. The list of all streams is in ordinary memory, so that a child can close the logs of its
 * parent. A mutex protects changes of the list and of the table; lookups are lock-free.
 */
#include "posix/registry.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "meet/process.h"

/*
 * The generation of the last identifier. It grows with each stream, so that no identifier is used
 * twice.
 */
static _Atomic uint64_t generations;
/* Protects the list `all`, changes of the table, and ptx_private.unused. */
static pthread_mutex_t change = PTHREAD_MUTEX_INITIALIZER;

/*
 * Every stream of the process, and in a child also the streams of its parents. The list is in
 * memory that a child can still read.
 */
static struct ptx_stream *all;

/*
 * This function adds to the count, then loads the identifier. ptx_registry_remove() clears the
 * identifier, then ptx_registry_wait_unused() loads the count. All four accesses are sequentially
 * consistent. So either ptx_registry_wait_unused() sees the user, or the user sees that the
 * identifier is cleared.
 */
struct ptx_stream *ptx_registry_enter(trace_id_t id)
{
	struct ptx_stream *stream = ptx_registry_find(id);

	if (!stream)
		return NULL;
	atomic_fetch_add_explicit(&stream->users, 1, memory_order_seq_cst);
	if (ptx_registry_is(stream, id))
		return stream;
	ptx_registry_leave(stream);
	return NULL;
}

/*
 * When the function wakes threads, the memory may already belong to another stream. A thread that
 * waits for the users of that stream then only loads the count again.
 */
void ptx_registry_leave(struct ptx_stream *stream)
{
	if (atomic_fetch_sub_explicit(&stream->users, 1, memory_order_seq_cst) == 1 &&
	    atomic_load_explicit(&stream->ended, memory_order_seq_cst))
		ptx_futex_wake(&stream->users);
}

/*
 * The caller has the stream's lock. ptx_registry_wait_unused() acquires this lock before it loads
 * the count, so it sees this user.
 */
void ptx_registry_hold(struct ptx_stream *stream)
{
	atomic_fetch_add_explicit(&stream->users, 1, memory_order_relaxed);
}

/* Returns memory of an earlier stream, or NULL. */
static struct ptx_stream *pop_unused(void)
{
	struct ptx_stream *stream;

	pthread_mutex_lock(&change);
	stream = ptx_private.unused;
	if (stream)
		ptx_private.unused = stream->next;
	pthread_mutex_unlock(&change);
	return stream;
}

/*
 * Resets the memory for a new stream, except its lock and its counts: a call with an old identifier
 * may still lock the stream or count itself.
 */
static void reset_stream(struct ptx_stream *stream)
{
	const size_t stable = offsetof(struct ptx_stream, lock) + sizeof stream->lock;

	atomic_store_explicit(&stream->ended, 0, memory_order_relaxed);
	memset((char *)stream + stable, 0, sizeof *stream - stable);
}

/* Adds the stream to the list of all streams, in which a child finds its log. */
static void enlist_stream(struct ptx_stream *stream)
{
	pthread_mutex_lock(&change);
	stream->next = all;
	all = stream;
	pthread_mutex_unlock(&change);
}

/* Memory of an earlier stream is preferred: its lock exists already. */
struct ptx_stream *ptx_registry_new(void)
{
	struct ptx_stream *stream;

	/* A child of _Fork() has not been set up by a fork handler. */
	if (ptx_process_is_child())
		ptx_process_child();
	stream = pop_unused();
	if (stream) {
		reset_stream(stream);
	} else {
		stream = calloc(1, sizeof *stream);
		if (!stream)
			return NULL;
		/*
		 * Only new memory is initialized here: a late call may still use the lock of reused
		 * memory.
		 */
		pthread_mutex_init(&stream->lock, NULL);
	}
	stream->log_fd = stream->other_fd = -1;
	enlist_stream(stream);
	return stream;
}

/* The memory is kept for the next stream and never freed (type-stable). */
void ptx_registry_drop(struct ptx_stream *stream)
{
	pthread_mutex_lock(&change);
	for (struct ptx_stream **link = &all; *link; link = &(*link)->next)
		if (*link == stream) {
			*link = stream->next;
			break;
		}
	stream->next = ptx_private.unused;
	ptx_private.unused = stream;
	pthread_mutex_unlock(&change);
}

/* If the file cannot be identified, log_fd is -1, and a child does not close the descriptor. */
void ptx_registry_note_log(struct ptx_stream *stream, int fd)
{
	stream->log_fd = fd >= 0 && ptx_file_identify(fd, &stream->log_file) ? fd : -1;
}

/*
 * No other thread forks while the lock is held, so descriptor and file belong together in a child.
 */
void ptx_registry_note_other(struct ptx_stream *stream, int fd)
{
	pthread_mutex_lock(&change);
	stream->other_fd = fd >= 0 && ptx_file_identify(fd, &stream->other_file) ? fd : -1;
	pthread_mutex_unlock(&change);
}

void ptx_registry_swap_logs(struct ptx_stream *stream)
{
	const struct ptx_file file = stream->log_file;
	const int fd = stream->log_fd;

	pthread_mutex_lock(&change);
	stream->log_fd = stream->other_fd;
	stream->log_file = stream->other_file;
	stream->other_fd = fd;
	stream->other_file = file;
	pthread_mutex_unlock(&change);
}

/* Uses the lowest free place of the table. The release store publishes the complete stream. */
int ptx_registry_add(struct ptx_stream *stream)
{
	int err = EMFILE;

	pthread_mutex_lock(&change);
	/* The lock is held during the search, so that two threads do not use one place. */
	for (unsigned i = 0; i < PTX_HANDLES; i++) {
		uint64_t generation;

		if (atomic_load_explicit(&ptx_private.handle[i], memory_order_relaxed))
			continue;
		generation = atomic_fetch_add_explicit(&generations, 1, memory_order_relaxed) + 1;
		atomic_store_explicit(&stream->id, generation * PTX_HANDLES + i,
				      memory_order_relaxed);
		atomic_store_explicit(&ptx_private.handle[i], stream, memory_order_release);
		if (stream->kind != PTX_STREAM_STORED)
			atomic_fetch_add_explicit(&ptx_private.streams, 1, memory_order_relaxed);
		err = 0;
		break;
	}
	pthread_mutex_unlock(&change);
	return err;
}

/* The exchange lets one of several callers remove the stream (SHUT-08, CLOSE-03). */
bool ptx_registry_remove(struct ptx_stream *stream)
{
	trace_id_t id = atomic_load_explicit(&stream->id, memory_order_relaxed);
	struct ptx_stream *expected = stream;

	/* acq_rel: the caller sees all stores of the thread that added the stream. */
	if (!atomic_compare_exchange_strong_explicit(&ptx_private.handle[id % PTX_HANDLES],
						     &expected, NULL, memory_order_acq_rel,
						     memory_order_relaxed))
		return false;
	if (stream->kind != PTX_STREAM_STORED)
		atomic_fetch_sub_explicit(&ptx_private.streams, 1, memory_order_relaxed);
	/*
	 * `ended` is set before the identifier is cleared, so that a user that leaves afterwards
	 * wakes the thread in ptx_registry_wait_unused().
	 */
	atomic_store_explicit(&stream->ended, 1, memory_order_seq_cst);
	/* no stream has the identifier 0 */
	atomic_store_explicit(&stream->id, 0, memory_order_seq_cst);
	return true;
}

void ptx_registry_wait_unused(struct ptx_stream *stream)
{
	uint32_t users;

	/*
	 * The lock is acquired once, to wait for its present holder. Each call that found the
	 * identifier valid under the lock has then released the lock, or is counted in `users`.
	 */
	pthread_mutex_lock(&stream->lock);
	pthread_mutex_unlock(&stream->lock);
	while ((users = atomic_load_explicit(&stream->users, memory_order_seq_cst)) != 0)
		ptx_futex_wait(&stream->users, users, NULL);
}

/*
 * Each identifier is checked by entering its stream, because other threads may remove it
 * meanwhile.
 */
unsigned ptx_registry_active(trace_id_t *ids, unsigned room)
{
	unsigned count = 0;

	for (unsigned i = 0; i < PTX_HANDLES && count < room; i++) {
		struct ptx_stream *stream = atomic_load_explicit(&ptx_private.handle[i],
								 memory_order_acquire);
		trace_id_t id = 0;

		if (stream)
			id = atomic_load_explicit(&stream->id, memory_order_relaxed);
		stream = id ? ptx_registry_enter(id) : NULL;
		if (!stream)
			continue;
		if (stream->kind != PTX_STREAM_STORED)
			ids[count++] = id;
		ptx_registry_leave(stream);
	}
	return count;
}

/* fork() copies the list in a consistent state. */
void ptx_registry_before_fork(void)
{
	pthread_mutex_lock(&change);
}

/*
 * In a child, closes the logs of its parents: the reader of a log in a pipe waits until all
 * processes have closed the pipe. The program may have closed the descriptors and may have other
 * files under their numbers. The streams remain in the list and are never used.
 */
static void close_logs(void)
{
	for (struct ptx_stream *stream = all; stream; stream = stream->next) {
		ptx_file_close(stream->log_fd, &stream->log_file);
		ptx_file_close(stream->other_fd, &stream->other_file);
		stream->log_fd = stream->other_fd = -1;
	}
}

void ptx_registry_after_fork(bool child)
{
	if (child)
		close_logs();
	pthread_mutex_unlock(&change);
}
