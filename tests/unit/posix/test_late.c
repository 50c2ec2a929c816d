/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/registry.h: between any two instructions of a call that searches for a stream, another
 * thread ends the stream and uses its memory for a new stream, unless the call is inside. The call
 * never gets the new stream.
 */
#include <sys/mman.h>

#include "meet/process.h"
#include "posix/registry.h"
#include "support/support.h"
#include "unit/ring/steps.h"

static struct ptx_stream *stream;
static trace_id_t id;
static struct ptx_stream *found;
static bool ended, reused;

static void begin(void)
{
	ptx_process_init();
	/* The harness forks to run this process many times, not to have children. */
	madvise(&ptx_private_block, sizeof ptx_private_block, MADV_KEEPONFORK);
	stream = ptx_registry_new();
	ck_assert_ptr_nonnull(stream);
	ck_assert_int_eq(ptx_registry_add(stream), 0);
	id = stream->id;
}

/* Does the same as posix_trace_shutdown(), but does not wait for a call that is inside. */
static void another_thread_ends_it(void *state)
{
	(void)state;
	ended = ptx_registry_remove(stream);
	if (atomic_load(&stream->users) != 0 || pthread_mutex_trylock(&stream->lock) != 0)
		return;
	pthread_mutex_unlock(&stream->lock);
	ptx_registry_drop(stream);
	reused = ptx_registry_new() == stream && ptx_registry_add(stream) == 0;
}

static void enter(void *state)
{
	(void)state;
	found = ptx_registry_enter(id);
}

static void lock(void *state)
{
	(void)state;
	found = ptx_registry_lock(id);
}

static void look(void)
{
	if (!steps_happened()) {
		ck_assert_ptr_eq(found, stream);
		return;
	}
	ck_assert(ended);
	ck_assert(!found || !reused);
	if (reused)
		ck_assert_uint_ne(stream->id, id);
}

START_TEST(a_call_does_not_enter_the_next_stream)
{
	begin();
	steps_interrupt(enter, another_thread_ends_it, NULL);
	look();
	ck_assert_uint_eq(stream->users, found ? 1 : 0);
	if (found)
		ptx_registry_leave(found);
	ck_assert_uint_eq(stream->users, 0);
	steps_end(15);
}
END_TEST

START_TEST(a_call_does_not_lock_the_next_stream)
{
	begin();
	steps_interrupt(lock, another_thread_ends_it, NULL);
	look();
	if (found)
		pthread_mutex_unlock(&found->lock);
	ck_assert_int_eq(pthread_mutex_trylock(&stream->lock), 0);
	steps_end(15);
}
END_TEST

/* A reader polls one identifier repeatedly while other threads open and close logs. */
START_TEST(memory_of_streams_is_used_again)
{
	begin();
	for (int i = 0; i < 3 * PTX_HANDLES; i++) {
		struct ptx_stream *before = stream;
		trace_id_t old = id;

		ck_assert(ptx_registry_remove(stream));
		ptx_registry_wait_unused(stream);
		ptx_registry_drop(stream);
		begin();
		ck_assert_ptr_eq(stream, before);
		ck_assert_uint_ne(id, old);
		ck_assert_ptr_null(ptx_registry_enter(old));
		ck_assert_ptr_null(ptx_registry_lock(old));
	}
}
END_TEST

SUITE_MAIN("posix/late",
	   a_call_does_not_enter_the_next_stream,
	   a_call_does_not_lock_the_next_stream,
	   memory_of_streams_is_used_again)
