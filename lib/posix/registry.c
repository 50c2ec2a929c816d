/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "posix/registry.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/futex.h"
#include "meet/process.h"

static _Atomic uint64_t generations;
static pthread_mutex_t change = PTHREAD_MUTEX_INITIALIZER;

/* Every stream of the process, in memory that a child still sees; under change. */
static struct ptx_stream *all;

/*
 * This adds to the count, then reads the identifier; remove clears the identifier, then settle
 * reads the count. All four have one order: settle sees the user, or the user sees no stream.
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

/* The memory may hold another stream before the wake-up, whose settle reads its count again. */
void ptx_registry_leave(struct ptx_stream *stream)
{
	if (atomic_fetch_sub_explicit(&stream->users, 1, memory_order_seq_cst) == 1 &&
	    atomic_load_explicit(&stream->gone, memory_order_seq_cst))
		ptx_futex_wake(&stream->users);
}

void ptx_registry_hold(struct ptx_stream *stream)
{
	atomic_fetch_add_explicit(&stream->users, 1, memory_order_relaxed);
}

static struct ptx_stream *take_unused(void)
{
	struct ptx_stream *stream;

	pthread_mutex_lock(&change);
	stream = ptx_private.unused;
	if (stream)
		ptx_private.unused = stream->next;
	pthread_mutex_unlock(&change);
	return stream;
}

/* A call that comes late with an old identifier may still lock it or count itself. */
static void make_new(struct ptx_stream *stream)
{
	const size_t stable = offsetof(struct ptx_stream, lock) + sizeof stream->lock;

	atomic_store_explicit(&stream->gone, 0, memory_order_relaxed);
	memset((char *)stream + stable, 0, sizeof *stream - stable);
}

static void enlist(struct ptx_stream *stream)
{
	pthread_mutex_lock(&change);
	stream->next = all;
	all = stream;
	pthread_mutex_unlock(&change);
}

struct ptx_stream *ptx_registry_new(void)
{
	struct ptx_stream *stream;

	if (ptx_process_is_child())
		ptx_process_child();
	stream = take_unused();
	if (stream) {
		make_new(stream);
	} else {
		stream = calloc(1, sizeof *stream);
		if (!stream)
			return NULL;
		pthread_mutex_init(&stream->lock, NULL);
	}
	stream->log_fd = -1;
	enlist(stream);
	return stream;
}

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

void ptx_registry_note_log(struct ptx_stream *stream, int fd)
{
	stream->log_fd = fd >= 0 && ptx_file_know(fd, &stream->log_file) ? fd : -1;
}

int ptx_registry_add(struct ptx_stream *stream)
{
	int err = EMFILE;

	pthread_mutex_lock(&change);
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

bool ptx_registry_remove(struct ptx_stream *stream)
{
	trace_id_t id = atomic_load_explicit(&stream->id, memory_order_relaxed);
	struct ptx_stream *expected = stream;

	if (!atomic_compare_exchange_strong_explicit(&ptx_private.handle[id % PTX_HANDLES],
						     &expected, NULL, memory_order_acq_rel,
						     memory_order_relaxed))
		return false;
	if (stream->kind != PTX_STREAM_STORED)
		atomic_fetch_sub_explicit(&ptx_private.streams, 1, memory_order_relaxed);
	atomic_store_explicit(&stream->gone, 1, memory_order_seq_cst);
	atomic_store_explicit(&stream->id, 0, memory_order_seq_cst); /* no stream's */
	return true;
}

void ptx_registry_settle(struct ptx_stream *stream)
{
	uint32_t users;

	/* Calls that found the identifier valid under the lock have left it, or are counted. */
	pthread_mutex_lock(&stream->lock);
	pthread_mutex_unlock(&stream->lock);
	while ((users = atomic_load_explicit(&stream->users, memory_order_seq_cst)) != 0)
		ptx_futex_wait(&stream->users, users, NULL);
}

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

void ptx_registry_before_fork(void)
{
	pthread_mutex_lock(&change);
}

/*
 * In a child: closes its parent's logs, since a pipe's reader waits for the end of file. The
 * program may have closed them and have other files under the numbers. The streams stay in the
 * list, never to be used.
 */
static void close_logs(void)
{
	for (struct ptx_stream *stream = all; stream; stream = stream->next) {
		ptx_file_close(stream->log_fd, &stream->log_file);
		stream->log_fd = -1;
	}
}

void ptx_registry_after_fork(bool child)
{
	if (child)
		close_logs();
	pthread_mutex_unlock(&change);
}
