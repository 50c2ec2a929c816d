/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file of a stream grows while a signal handler leaves the library by siglongjmp(). */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <trace_np.h>
#include <unistd.h>

#include "support/support.h"

#define RINGS 25 /* the file has memory for the first 17 from its beginning */

int __real_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size);

static sigjmp_buf out;
static unsigned raised;
static sem_t traced;
static pthread_barrier_t all_have_rings;

/* A signal arrives during the call. */
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size)
{
	raised++;
	raise(SIGUSR1);
	return __real_fallocate(fd, mode, offset, size);
}

static void leave(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

static void *trace_once(void *arg)
{
	if (sigsetjmp(out, 1) == 0)
		posix_trace_event(*(trace_event_id_t *)arg, NULL, 0);
	sem_post(&traced);
	pthread_barrier_wait(&all_have_rings);
	return NULL;
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* EVENT-13, EVENT-14 */
START_TEST(a_jump_out_of_a_handler_does_not_hold_the_file)
{
	char path[64];
	trace_event_id_t type;
	trace_attr_t attr;
	trace_id_t trid;
	pthread_t thread[RINGS];
	int before;

	snprintf(path, sizeof(path), "/tmp/posixtrace-jump-%d", (int)getpid());
	signal(SIGUSR1, leave);
	OK(posix_trace_eventid_open("jump", &type));
	OK(posix_trace_attr_init(&attr));
	OK(posix_trace_attr_setbacking_np(&attr, path));
	ck_assert_int_eq(sem_init(&traced, 0, 0), 0);
	before = descriptors();
	for (int round = 0; round < 3; round++) {
		raised = 0;
		unlink(path);
		OK(posix_trace_create(0, &attr, &trid));
		OK(posix_trace_start(trid));
		pthread_barrier_init(&all_have_rings, NULL, RINGS + 1);
		/* One thread after the other, because all threads use one jump buffer. */
		for (int i = 0; i < RINGS; i++) {
			ck_assert_int_eq(pthread_create(&thread[i], NULL, trace_once, &type), 0);
			ck_assert_int_eq(sem_wait(&traced), 0);
		}
		pthread_barrier_wait(&all_have_rings);
		for (int i = 0; i < RINGS; i++)
			pthread_join(thread[i], NULL);
		pthread_barrier_destroy(&all_have_rings);
		ck_assert_uint_gt(raised, 0);
		OK(posix_trace_shutdown(trid));
		ck_assert_int_eq(descriptors(), before);
	}
	OK(posix_trace_attr_destroy(&attr));
	unlink(path);
}
END_TEST

SUITE_MAIN("backing", a_jump_out_of_a_handler_does_not_hold_the_file)
