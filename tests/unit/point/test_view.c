/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* point/view.c: a region remains mapped while a thread may be inside, or while this cannot be
 * known. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/barrier.h"
#include "point/view.h"
#include "posix/registry.h"
#include "support/stream.h"

static bool no_barrier; /* the kernel cannot make other threads pass a barrier, or refuses this */

bool __real_ptx_barrier(void);
bool __wrap_ptx_barrier(void);
bool __wrap_ptx_barrier(void)
{
	return __real_ptx_barrier() && !no_barrier;
}

static bool is_mapped(void *region)
{
	unsigned char pages[1];

	return mincore(region, (size_t)sysconf(_SC_PAGESIZE), pages) == 0;
}

/*
 * Without the barrier, a thread that has just entered may be invisible although it has the pointer.
 */
START_TEST(a_region_stays_until_it_is_certain_that_no_thread_is_inside)
{
	trace_event_id_t u = type_of("u");
	trace_id_t trid = STARTED();
	struct ptx_stream *stream;
	void *region;

	trace_number(u, 1);
	stream = ptx_registry_enter(trid);
	ck_assert_ptr_nonnull(stream);
	region = stream->view->rings.region;
	ptx_registry_leave(stream);
	ck_assert(is_mapped(region));
	no_barrier = true;
	shut(trid);
	ck_assert(is_mapped(region));
	ptx_views_sweep(NULL);
	ck_assert(is_mapped(region));
	no_barrier = false;
	ptx_views_sweep(NULL);
	ck_assert(!is_mapped(region));
}
END_TEST

SUITE_MAIN("point: views", a_region_stays_until_it_is_certain_that_no_thread_is_inside)
