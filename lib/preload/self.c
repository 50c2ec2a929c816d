/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/self.c - the process id without a system call, and threads that must not read the
 * clock.
 *
 * The id is stored in a page that the kernel zeroes in every child that has a copy of the memory.
 * So such a child never uses the id of its parent, and a process needs at most one system call to
 * find its own id.
 */
#include "preload/self.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/filter.h"
#include "preload/shim.h"
#include "preload/vfork.h"

#define PAGE 4096

/* Once this flag is true, it remains true, because a filter remains installed. */
shim_start_data atomic_bool shim_quiet;
_Thread_local bool shim_quiet_lent __attribute__((tls_model("initial-exec")));
_Thread_local bool shim_is_blind __attribute__((tls_model("initial-exec")));

/*
 * The page is zeroed in a child of fork(), _Fork() or clone(). It is a whole page, because the
 * kernel can only wipe whole pages.
 */
static shim_whole_page union {
	_Atomic(pid_t) pid;
	unsigned char bytes[PAGE];
} wiped;
/*
 * last_pid is the last id that was stored. In a new child it is the id of the parent, because the
 * child has a copy of this variable.
 */
static shim_start_data pid_t last_pid, parent;
/* The id of a child of vfork(), in its parent's memory; 0: not known yet. */
static _Thread_local pid_t vfork_pid __attribute__((tls_model("initial-exec")));
/*
 * The value of shim_is_blind before the first vfork(). A child may change shim_is_blind for itself.
 */
static _Thread_local bool was_blind __attribute__((tls_model("initial-exec")));
/*
 * The thread that owns the thread-local memory, -1 if it is unknown, or 0 if no other task may use
 * this memory.
 */
static _Thread_local pid_t owner __attribute__((tls_model("initial-exec")));

/*
 * Stores the id of this process, and returns it. If the id is new, the id that was stored before is
 * the parent's.
 */
static pid_t keep_pid(pid_t pid)
{
	if (pid != last_pid)
		parent = last_pid;
	last_pid = pid;
	atomic_store_explicit(&wiped.pid, pid, memory_order_relaxed);
	return pid;
}

void shim_self_begin(void)
{
	/*
	 * MADV_WIPEONFORK is for anonymous memory only. A library's variables without an initial
	 * value usually are in such memory. If they are not, anonymous memory is mapped over them.
	 */
	if (madvise(&wiped, sizeof wiped, MADV_WIPEONFORK) &&
	    mmap(&wiped, sizeof wiped, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		madvise(&wiped, sizeof wiped, MADV_WIPEONFORK);
	keep_pid(getpid());
	parent = getppid();
}

/*
 * fork() stores the child's id in the C library's descriptor of the thread. A mutex that the thread
 * has locked shows this id as its owner (base/ids.h). The function reads the id there, because a
 * filter might refuse a system call. If the id is not there, the page of the child has 0, and
 * shim_pid() asks the kernel later, unless the process is quiet.
 */
void shim_self_forked(void)
{
	pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	pid_t pid = 0;

	if (!pthread_mutex_lock(&mutex)) {
		pid = mutex.__data.__owner;
		pthread_mutex_unlock(&mutex);
	}
	owner = 0;
	if (pid)
		keep_pid(pid);
}

/*
 * Runs in a child with a copy of the memory, which a child of vfork() may have made. Such a copy is
 * no child of vfork(), and the limits that it inherits are its own. If a system call instruction
 * has made the child of vfork(), no wrapper has increased shim_vfork_depth. The function then
 * cannot find out whether the child of vfork() or the parent, which has no limits, has made the
 * copy. It assumes that the child has made the copy.
 */
void shim_self_copied(void)
{
	shim_vfork_depth = 0;
	if (!shim_quiet_lent)
		return;
	atomic_store_explicit(&shim_quiet, true, memory_order_relaxed);
	shim_quiet_lent = false;
	shim_filter_own();
}

/*
 * Makes the caller the owner, for the shim and for the trace points of the program. A quiet process
 * cannot determine the calling thread, so its owner is unknown.
 */
static void own_memory(void)
{
	owner = shim_is_quiet() ? -1 : (pid_t)syscall(SYS_gettid);
	posix_trace_confine_np(POSIX_TRACE_CONFINE_SHARED_NP);
}

/* The owner that sleeps until its child has executed a program or ended, or 0. */
static _Thread_local pid_t lender __attribute__((tls_model("initial-exec")));

/*
 * Called in a child of vfork(), before its first event. Until the parent continues, the child is
 * the owner.
 */
void shim_self_vforked(void)
{
	vfork_pid = 0;
	if (shim_vfork_depth == 1)
		was_blind = shim_is_blind;
	if (!owner || shim_is_quiet())
		return;
	if (!lender)
		lender = owner;
	own_memory();
}

/*
 * Undoes the effects of limits that the child has set for itself. If this process is itself a child
 * of vfork(), it may have set the limit. The effect then remains until the parent of this process
 * continues.
 */
static void end_limits(void)
{
	if (shim_is_vfork_child())
		return;
	if (shim_quiet_lent) {
		shim_quiet_lent = false;
		shim_filter_child_ends();
		posix_trace_confine_np(POSIX_TRACE_CONFINE_VFORK_END_NP);
	}
	if (shim_is_blind != was_blind)
		shim_blind(was_blind);
}

/*
 * Called in the parent when it continues. If this parent is itself a child of vfork(), the lender
 * still sleeps.
 */
void shim_self_vfork_ends(void)
{
	vfork_pid = 0;
	end_limits();
	if (!lender)
		return;
	own_memory();
	if (owner == lender)
		lender = 0;
}

pid_t shim_pid(void)
{
	pid_t pid = atomic_load_explicit(&wiped.pid, memory_order_relaxed);

	if (shim_is_vfork_child()) {
		/*
		 * A quiet process must not call getpid(). In events of its children by vfork() the
		 * id is therefore 0.
		 */
		if (!vfork_pid && !shim_is_quiet())
			vfork_pid = getpid();
		return vfork_pid;
	}
	/*
	 * The id is 0 in a child of a raw clone(): the page was zeroed, and no fork handler ran.
	 * The C library does not know the id of such a child either. So only a system call finds
	 * the id, which a quiet process must not make.
	 */
	if (!pid) {
		owner = 0;
		if (!shim_is_quiet())
			pid = keep_pid(getpid());
	}
	return pid;
}

pid_t shim_parent(void)
{
	return shim_is_vfork_child() ? atomic_load_explicit(&wiped.pid, memory_order_relaxed)
				   : parent;
}

/*
 * Makes every wrapper call shim_is_guest() from now on. The first thread that shares its memory is
 * the owner. If one of its guests makes a child, the owner remains the same.
 */
void shim_share_memory(void)
{
	if (!owner)
		own_memory();
	shim_some_are_blind();
}

/*
 * A process with a copy of the memory has a copy of `owner`, too. The kernel has zeroed the page
 * with the id in such a process.
 */
bool shim_is_guest(void)
{
	if (!owner)
		return false;
	if (!atomic_load_explicit(&wiped.pid, memory_order_relaxed))
		owner = 0;
	return owner && (shim_is_quiet() || owner != (pid_t)syscall(SYS_gettid));
}

/*
 * A child that a system call instruction has made may be in the memory of its parent, too. No
 * wrapper has noted this child, but the stored id is the parent's. So getpid() distinguishes the
 * two processes.
 */
bool shim_is_borrower(void)
{
	const pid_t pid = atomic_load_explicit(&wiped.pid, memory_order_relaxed);

	return shim_is_vfork_child() || (pid && !shim_is_quiet() && pid != getpid());
}

/*
 * The state of the shim changes first, so that wrappers record no event for which the library
 * would read the clock.
 */
void shim_blind(bool is_blind)
{
	shim_is_blind = is_blind;
	if (is_blind)
		shim_some_are_blind();
	posix_trace_confine_np(is_blind ? POSIX_TRACE_CONFINE_THREAD_NP :
					  POSIX_TRACE_CONFINE_NOT_NP);
}
