/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flush/flusher.c, flush/flush.c: what the flusher must see before it sleeps, and who flushes
 * without memory.
 */
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/barrier.h"
#include "base/futex.h"
#include "flush/flush.h"
#include "point/view.h"
#include "posix/registry.h"
#include "support/log.h"
#include "support/stream.h"

static trace_id_t trid;
static trace_event_id_t u;
static struct ptx_region *region;

static enum ptx_state state(void)
{
	return ptx_state_kind(atomic_load(&region->state));
}

static void begin(trace_id_t logged)
{
	struct ptx_stream *stream;

	u = type_of("u");
	trid = logged;
	stream = ptx_registry_enter(trid);
	ck_assert_ptr_nonnull(stream);
	region = stream->view->rings.region;
	ptx_registry_leave(stream);
}

static _Atomic bool fills, filled, slept_on, flushed;

/*
 * The flusher looks when its oldest event is due; it has seen by now that the stream is not
 * filling, and writers see that it has not asked to be woken.
 */
bool __real_ptx_barrier(void);
bool __wrap_ptx_barrier(void);
bool __wrap_ptx_barrier(void)
{
	if (atomic_load(&fills) && syscall(SYS_gettid) != getpid() &&
	    atomic_load(&region->flush_wish) == 0) {
		atomic_store(&fills, false);
		for (int i = 0; i < 1 << 14 && state() != PTX_FULL; i++)
			trace_number(u, i);
		if (state() != PTX_FULL)
			abort();
		atomic_store(&filled, true);
	}
	return __real_ptx_barrier();
}

int __real_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns);
int __wrap_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns);
int __wrap_ptx_futex_nap(_Atomic uint32_t *word, uint32_t value, int64_t ns)
{
	if (atomic_load(&filled) && word == &region->flush_wish && !atomic_load(&flushed))
		atomic_store(&slept_on, true);
	return __real_ptx_futex_nap(word, value, ns);
}

int __real_ptx_flush_run(struct ptx_flush *flush, enum ptx_flush_kind kind,
			 const struct ptx_flush_caller *caller);
int __wrap_ptx_flush_run(struct ptx_flush *flush, enum ptx_flush_kind kind,
			 const struct ptx_flush_caller *caller);
int __wrap_ptx_flush_run(struct ptx_flush *flush, enum ptx_flush_kind kind,
			 const struct ptx_flush_caller *caller)
{
	if (atomic_load(&filled))
		atomic_store(&flushed, true);
	return __real_ptx_flush_run(flush, kind, caller);
}

/* SFLUSH-02 */
START_TEST(a_flusher_does_not_sleep_on_a_stream_that_filled_up_before_it_asked_to_be_woken)
{
	int fd = log_file();

	begin(LOGGED_STARTED(fd, .policy = POSIX_TRACE_FLUSH, .size = 1 << 14));
	atomic_store(&fills, true);
	while (!atomic_load(&flushed))
		sched_yield();
	ck_assert(!atomic_load(&slept_on));
	shut(trid);
	close(fd);
}
END_TEST

static bool out_of_memory;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	if (out_of_memory && size == sizeof(struct ptx_source)) {
		errno = ENOMEM;
		return NULL;
	}
	return __real_calloc(n, size);
}

static void *trace_some(void *unused)
{
	(void)unused;
	for (int i = 0; i < 10; i++)
		trace_number(u, i);
	return NULL;
}

/* A thread's events that cannot be taken are not left out in silence. FLUSHF-01 */
START_TEST(a_flush_without_memory_for_a_thread_fails_and_the_next_brings_its_events)
{
	int fd = log_file();

	begin(LOGGED_STARTED(fd, .policy = POSIX_TRACE_UNTIL_FULL));
	OK(posix_trace_flush(trid));
	join(spawn(trace_some, NULL));
	out_of_memory = true;
	FAILS(ENOMEM, posix_trace_flush(trid));
	out_of_memory = false;
	OK(posix_trace_flush(trid));
	shut(trid);
	assert_log_numbers(fd, u, 0, 10);
	close(fd);
}
END_TEST

SUITE_MAIN("posix: flushing",
	   a_flusher_does_not_sleep_on_a_stream_that_filled_up_before_it_asked_to_be_woken,
	   a_flush_without_memory_for_a_thread_fails_and_the_next_brings_its_events)
