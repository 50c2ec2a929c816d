/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * At the first event of a child, the library makes it a process of its own. At each instruction of
 * this work, a handler forks. The child's child continues there, and has its own ids and an object
 * that no other process uses.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/quiet.h"
#include "meet/process.h"
#include "point/thread.h"
#include "support/support.h"
#include "unit/ring/steps.h"

#define LINKS_MOST 1000 /* a longer list is endless */

/*
 * Forks without fork handlers, on a C library that has such a fork. The first event then detects
 * the child.
 */
static pid_t bare_fork(void)
{
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 34)
	return _Fork();
#else
	return fork();
#endif
}

/*
 * Does the work of a process at its first event. A quiet child that inherits no stream would do
 * this work without an event.
 */
static struct ptx_thread *own_object(void)
{
	struct ptx_thread *thread;

	if (ptx_process_is_child())
		ptx_process_child();
	thread = ptx_thread_self;
	return ptx_thread_is_left(thread) ? ptx_thread_make() : thread;
}

static void first_event(void *state)
{
	(void)state;
	own_object();
}

static void nothing(void *state)
{
	(void)state;
}

static unsigned threads_known(void)
{
	unsigned count = 0;

	for (const struct ptx_thread *thread = ptx_private.threads; thread && count < LINKS_MOST;
	     thread = thread->next)
		count++;
	return count;
}

/* A child may have wiped the object that the first call made. This call makes another object. */
static bool is_itself(void)
{
	const struct ptx_thread *thread = own_object();
	uint32_t pid = (uint32_t)getpid();

	return thread && ptx_thread_self == thread && ptx_process_pid() == pid &&
	       thread->pid == pid && thread->tid == (uint32_t)syscall(SYS_gettid) &&
	       threads_known() < LINKS_MOST;
}

static void fork_everywhere(pid_t (*first_fork)(void), pid_t (*handlers_fork)(void))
{
	int status = -1;
	pid_t child;

	ptx_process_init();
	ptx_threads_init();
	pthread_atfork(ptx_thread_before_fork, NULL, ptx_process_forked);
	ck_assert(is_itself());
	atomic_store(&ptx_quiet, true);
	steps_fork = handlers_fork;
	child = first_fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		steps_interrupt(first_event, nothing, NULL);
		if (!is_itself())
			_exit(EXIT_FAILURE);
		steps_end(100);
		_exit(EXIT_SUCCESS);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

START_TEST(a_handler_forks_while_a_thread_gets_its_object)
{
	fork_everywhere(fork, fork);
}
END_TEST

START_TEST(a_handler_forks_while_a_child_learns_its_id)
{
	NEEDS("wipe");
	fork_everywhere(bare_fork, fork);
}
END_TEST

START_TEST(a_handler_forks_without_fork_handlers_while_a_child_learns_its_id)
{
	NEEDS("wipe");
	fork_everywhere(bare_fork, bare_fork);
}
END_TEST

SUITE_MAIN("point/child", a_handler_forks_while_a_thread_gets_its_object,
	   a_handler_forks_while_a_child_learns_its_id,
	   a_handler_forks_without_fork_handlers_while_a_child_learns_its_id)
