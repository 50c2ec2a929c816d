/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/process.c - the library at the start, fork and exit of its process.
 *
 * The handlers of the parts of the library run in a fixed order, because they rely on each other's
 * state. In a child of fork() only one thread exists, and locks that other threads held are made
 * anew.
 */
#include <errno.h>
#include <pthread.h>

#include "arena/arena.h"
#include "base/msan.h"
#include "base/quiet.h"
#include "meet/link_owner.h"
#include "meet/peer_arenas.h"
#include "meet/process.h"
#include "meet/quota.h"
#include "modules/mapped.h"
#include "point/thread.h"
#include "point/view.h"
#include "posix/shutdown.h"
#include "posix/registry.h"

const bool ptx_process_has_handlers = true;

/*
 * Before fork(), in the parent: the locks are acquired, so that the child finds consistent data.
 */
static void lock_before_fork(void)
{
	ptx_registry_before_fork();
	ptx_mapped_before_fork();
	ptx_thread_before_fork();
	ptx_view_before_fork();
}

/* After fork(), in the parent: the locks are released in the reverse order. */
static void unlock_in_parent(void)
{
	ptx_view_after_fork();
	ptx_mapped_after_fork();
	ptx_registry_after_fork(false);
}

/*
 * After fork(), in the child. errno of the program is preserved. The process block has been
 * zeroed by the kernel, so that everything private begins anew.
 */
static void set_up_child(void)
{
	int saved = errno;

	/* Memory of a child is initialized by its parent; MemorySanitizer does not detect that. */
	ptx_msan_pause();
	ptx_process_forked();
	ptx_view_after_fork();
	ptx_peer_arenas_after_fork();
	ptx_link_owner_after_fork();
	ptx_quota_after_fork();
	ptx_mapped_after_fork();
	ptx_mapped_report_child();
	/*
	 * The registry's lock was acquired first, so it is released last. The function also closes
	 * this process's descriptors of the logs of the parent's streams.
	 */
	ptx_registry_after_fork(true);
	ptx_msan_resume();
	errno = saved;
}

/*
 * The library's constructor. It runs before the constructors of the program and of libraries that
 * depend on this library.
 */
static void __attribute__((constructor)) begin_library(void)
{
	int saved = errno;

	ptx_msan_pause();
	ptx_process_init();
	ptx_threads_init();
	/*
	 * The handlers are registered before all handlers of the program. So lock_before_fork()
	 * runs last, and the handlers after the fork run first.
	 */
	pthread_atfork(lock_before_fork, unlock_in_parent, set_up_child);
	/* Reports the files that are mapped at the start. */
	ptx_mapped_report(true);
	ptx_msan_resume();
	errno = saved;
}

/*
 * The library's destructor. It runs after the program's exit handlers, so that their events are
 * in the logs (EXIT-06).
 */
static void __attribute__((destructor)) end_library(void)
{
	/*
	 * A child must not complete its parent's logs. The logs of a quiet process are completed
	 * by their guardians, as after a kill.
	 */
	if (ptx_process_is_child() || ptx_is_quiet())
		return;
	ptx_msan_pause();
	ptx_mapped_report_end();
	if (atomic_load_explicit(&ptx_private.streams, memory_order_relaxed))
		ptx_posix_shutdown_all();
	/* The thread gives its rings back, so that later processes of the family can use them. */
	ptx_thread_exit();
	ptx_msan_resume();
}
