/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/kernel_copy.c - lets the kernel copy memory of the program.
 */
#include "preload/kernel_copy.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/proc_number.h"
#include "preload/self.h"

/* Whether the process has inherited a filter. A child of fork() has the filters of its parent. */
enum inherited { NOT_EXAMINED, NO_FILTER, MAY_HAVE_FILTER };
static _Atomic int inherited;

/*
 * Returns true if the status file of the process shows that the process has no seccomp filter.
 * Returns false if it has a filter, or if the file cannot be read.
 *
 * The function reads the file because a filter may forbid prctl(PR_GET_SECCOMP). A filter that the
 * process has inherited allows the calls that read a file: the dynamic linker has made these calls
 * for each library.
 */
static bool has_no_filter(void)
{
	return shim_proc_number("/proc/self/status", "\nSeccomp:\t") == 0;
}

/*
 * Two threads may examine the file at the same time. They find the same, because a filter that one
 * of them installs makes the process quiet.
 */
bool shim_may_copy(void)
{
	int now = atomic_load_explicit(&inherited, memory_order_relaxed);

	if (shim_is_quiet() || now == MAY_HAVE_FILTER)
		return false;
	if (now == NOT_EXAMINED) {
		now = has_no_filter() ? NO_FILTER : MAY_HAVE_FILTER;
		atomic_store_explicit(&inherited, now, memory_order_relaxed);
	}
	return now == NO_FILTER;
}

size_t shim_kernel_copy(void *to, size_t bytes, const struct iovec *part, size_t parts)
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

bool shim_kernel_copy_all(void *to, size_t bytes, const void *from)
{
	const struct iovec part = { (void *)(uintptr_t)from, bytes };

	return shim_kernel_copy(to, bytes, &part, 1) == bytes;
}
