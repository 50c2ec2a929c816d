/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "faults/suspended.h"

#include <sys/mman.h>

#include "support/support.h"

struct shared *shared;

void suspended_begin(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
}

void suspended_end(void)
{
	munmap(shared, sizeof(*shared));
}

void trace_next(trace_event_id_t id)
{
	uint64_t n = atomic_fetch_add(&shared->made, 1);

	posix_trace_event(id, &n, sizeof(n));
	atomic_fetch_add(&shared->done, 1);
}
