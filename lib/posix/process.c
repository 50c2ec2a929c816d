/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/process.c - the library in the life of its process: start, fork, exit.
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

static void before_fork(void)
{
	ptx_registry_before_fork();
	ptx_mapped_before_fork();
	ptx_thread_before_fork();
	ptx_view_before_fork();
}

static void in_parent(void)
{
	ptx_view_after_fork();
	ptx_mapped_after_fork();
	ptx_registry_after_fork(false);
}

static void in_child(void)
{
	int saved = errno;

	ptx_msan_pause();
	ptx_process_forked();
	ptx_view_after_fork();
	ptx_peer_arenas_after_fork();
	ptx_link_owner_after_fork();
	ptx_quota_after_fork();
	ptx_mapped_after_fork();
	ptx_mapped_report_child();
	ptx_registry_after_fork(true);
	ptx_msan_resume();
	errno = saved;
}

/* Before any constructor of the program, since the program depends on us. */
static void __attribute__((constructor)) begin(void)
{
	int saved = errno;

	ptx_msan_pause();
	ptx_process_init();
	ptx_threads_init();
	pthread_atfork(before_fork, in_parent, in_child);
	ptx_mapped_report(true);
	ptx_msan_resume();
	errno = saved;
}

/* After the program's own exit handlers, so that their events are in the logs (EXIT-06). */
static void __attribute__((destructor)) end(void)
{
	/* A quiet process's logs are completed by their guardians, as those of a killed one. */
	if (ptx_process_is_child() || ptx_is_quiet())
		return;
	ptx_msan_pause();
	ptx_mapped_report_end();
	if (atomic_load_explicit(&ptx_private.streams, memory_order_relaxed))
		ptx_posix_shutdown_all();
	ptx_msan_resume();
}
