/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream/registry.h"

#include <errno.h>

#include "base/futex.h"

static _Atomic uint64_t generations;
static pthread_mutex_t change = PTHREAD_MUTEX_INITIALIZER;

atomic_bool ptx_registry_is_used;

void ptx_registry_hold(struct ptx_stream *stream)
{
	atomic_fetch_add_explicit(&stream->users, 1, memory_order_relaxed);
}

/* Inside RCU, so that the stream outlives the look at gone. */
void ptx_registry_let_go(struct ptx_stream *stream)
{
	urcu_bp_read_lock();
	if (atomic_fetch_sub_explicit(&stream->users, 1, memory_order_acq_rel) == 1 &&
	    atomic_load_explicit(&stream->gone, memory_order_acquire))
		ptx_futex_wake(&stream->users);
	ptx_registry_leave();
}

int ptx_registry_add(struct ptx_stream *stream)
{
	int err = EMFILE;

	if (ptx_process_is_child())
		ptx_process_child();
	pthread_mutex_lock(&change);
	for (unsigned i = 0; i < PTX_HANDLES; i++) {
		if (atomic_load_explicit(&ptx_private.handle[i], memory_order_relaxed))
			continue;
		stream->id = (atomic_fetch_add_explicit(&generations, 1, memory_order_relaxed) + 1) *
				     PTX_HANDLES + i;
		atomic_store_explicit(&ptx_registry_is_used, true, memory_order_release);
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
	struct ptx_stream *expected = stream;

	if (!atomic_compare_exchange_strong_explicit(&ptx_private.handle[stream->id % PTX_HANDLES],
						     &expected, NULL, memory_order_acq_rel,
						     memory_order_relaxed))
		return false;
	if (stream->kind != PTX_STREAM_STORED)
		atomic_fetch_sub_explicit(&ptx_private.streams, 1, memory_order_relaxed);
	atomic_store_explicit(&stream->gone, 1, memory_order_release);
	return true;
}

void ptx_registry_settle(struct ptx_stream *stream)
{
	uint32_t users;

	urcu_bp_synchronize_rcu();
	ptx_registry_tell_acquire();
	while ((users = atomic_load_explicit(&stream->users, memory_order_acquire)) != 0)
		ptx_futex_wait(&stream->users, users, NULL);
	urcu_bp_synchronize_rcu(); /* for the one that let go last */
	ptx_registry_tell_acquire();
}

unsigned ptx_registry_active(trace_id_t *ids, unsigned room)
{
	unsigned count = 0;

	if (!atomic_load_explicit(&ptx_registry_is_used, memory_order_acquire))
		return 0;
	urcu_bp_read_lock();
	for (unsigned i = 0; i < PTX_HANDLES && count < room; i++) {
		const struct ptx_stream *stream = atomic_load_explicit(&ptx_private.handle[i],
								       memory_order_acquire);

		if (stream && stream->kind != PTX_STREAM_STORED)
			ids[count++] = stream->id;
	}
	urcu_bp_read_unlock();
	return count;
}

/* Every stream of the process, in memory that a child still sees; under change. */
static struct ptx_stream *all;

void ptx_registry_note_log(struct ptx_stream *stream, int fd)
{
	stream->log_fd = fd >= 0 && ptx_file_know(fd, &stream->log_file) ? fd : -1;
}

void ptx_registry_enlist(struct ptx_stream *stream)
{
	pthread_mutex_lock(&change);
	stream->next = all;
	all = stream;
	pthread_mutex_unlock(&change);
}

void ptx_registry_delist(struct ptx_stream *stream)
{
	pthread_mutex_lock(&change);
	for (struct ptx_stream **link = &all; *link; link = &(*link)->next)
		if (*link == stream) {
			*link = stream->next;
			break;
		}
	pthread_mutex_unlock(&change);
}

void ptx_registry_before_fork(void)
{
	pthread_mutex_lock(&change);
	if (atomic_load_explicit(&ptx_registry_is_used, memory_order_relaxed))
		urcu_bp_before_fork();
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
	bool is_used = atomic_load_explicit(&ptx_registry_is_used, memory_order_relaxed);

	if (is_used && child)
		urcu_bp_after_fork_child();
	else if (is_used)
		urcu_bp_after_fork_parent();
	if (child)
		close_logs();
	pthread_mutex_unlock(&change);
}
