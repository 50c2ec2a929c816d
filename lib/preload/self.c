/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload/self.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/shim.h"
#include "preload/vfork.h"

#define PAGE 4096

atomic_bool shim_quiet;
_Thread_local bool shim_is_blind __attribute__((tls_model("initial-exec")));

/* Zeroed in a child, whichever way it was made; the parent's id is not. */
static _Alignas(PAGE) union {
	_Atomic(pid_t) pid;
	unsigned char bytes[PAGE];
} wiped;
static pid_t last_pid, parent;
static _Thread_local pid_t vfork_pid __attribute__((tls_model("initial-exec")));

static pid_t keep(pid_t pid)
{
	if (pid != last_pid)
		parent = last_pid;
	last_pid = pid;
	atomic_store_explicit(&wiped.pid, pid, memory_order_relaxed);
	return pid;
}

void shim_self_begin(void)
{
	/* Advice is for anonymous memory, which a page of zeros in a library mostly is. */
	if (madvise(&wiped, sizeof wiped, MADV_WIPEONFORK) &&
	    mmap(&wiped, sizeof wiped, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		madvise(&wiped, sizeof wiped, MADV_WIPEONFORK);
	keep(getpid());
	parent = getppid();
}

/* fork() has given its child's only thread the child's id, which a mutex tells: lib/base/ids.h. */
void shim_self_forked(void)
{
	pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	pid_t pid = 0;

	if (!pthread_mutex_lock(&mutex)) {
		pid = mutex.__data.__owner;
		pthread_mutex_unlock(&mutex);
	}
	keep(pid ? pid : getpid());
}

void shim_self_vforked(void)
{
	vfork_pid = 0;
}

pid_t shim_pid(void)
{
	pid_t pid = atomic_load_explicit(&wiped.pid, memory_order_relaxed);

	if (shim_is_vfork_child) {
		if (!vfork_pid && !shim_is_quiet())
			vfork_pid = getpid();
		return vfork_pid;
	}
	return pid ? pid : keep(getpid()); /* a child of a raw clone() */
}

pid_t shim_parent(void)
{
	return shim_is_vfork_child ? atomic_load_explicit(&wiped.pid, memory_order_relaxed)
				   : parent;
}

void shim_blind(bool is_blind)
{
	shim_is_blind = is_blind;
	if (is_blind)
		shim_some_are_blind();
	posix_trace_confine_np(is_blind ? POSIX_TRACE_CONFINE_THREAD_NP :
					  POSIX_TRACE_CONFINE_NOT_NP);
}
