/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * arena/descriptors.c - whether a child may close the descriptors that it has from its parent.
 *
 * The note is in the process block, which the kernel zeroes in each child, however the child was
 * made. So a child of a child that shares its parent's table needs a note of its own.
 */
#include "arena/descriptors.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena/process_block.h"
#include "base/quiet.h"

#define COMPARE_FILES 2 /* KCMP_FILES of <linux/kcmp.h> */

void ptx_descriptors_note_own(void)
{
	atomic_store_explicit(&ptx_private.has_own_table, true, memory_order_relaxed);
}

/*
 * Returns whether this process and the other one use one table, or may do so. A process that has
 * ended uses no table.
 */
static bool may_share_with(pid_t other)
{
	long order = syscall(SYS_kcmp, getpid(), other, COMPARE_FILES, 0, 0);

	return order == 0 || (order < 0 && errno != ESRCH);
}

/*
 * Two processes may share the table with this child: the process `parent`, whose memory the child
 * has copied, and the process whose id getppid() returns. They differ if the child was made with
 * CLONE_PARENT, or if the process between them has recorded no event. Without a parent in its own
 * namespace of process ids, the child cannot name these processes.
 */
void ptx_descriptors_look(uint32_t parent)
{
	int saved = errno;
	pid_t present;

	if (ptx_descriptors_are_own() || ptx_is_quiet())
		return;
	present = getppid();
	if (present && !may_share_with(present) &&
	    ((uint32_t)present == parent || !may_share_with((pid_t)parent)))
		ptx_descriptors_note_own();
	errno = saved;
}

bool ptx_descriptors_are_own(void)
{
	return atomic_load_explicit(&ptx_private.has_own_table, memory_order_relaxed);
}
