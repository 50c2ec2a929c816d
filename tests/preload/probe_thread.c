/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/probe.h"

static void *returns(void *arg)
{
	MUST(pthread_setname_np(pthread_self(), "worker") == 0);
	return arg;
}

static void *exits(void *arg)
{
	pthread_exit(arg);
}

static int thread(int argc, char **argv)
{
	pthread_t thread;
	pthread_attr_t attr;
	void *result;
	int x;

	(void)argc, (void)argv;
	errno = 4711;
	MUST(pthread_create(&thread, NULL, returns, &x) == 0);
	MUST(pthread_join(thread, &result) == 0 && result == &x);
	MUST(pthread_create(&thread, NULL, exits, &x) == 0);
	MUST(pthread_join(thread, &result) == 0 && result == &x);
	MUST(pthread_attr_init(&attr) == 0 &&
	     pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
	MUST(pthread_create(&thread, &attr, returns, &x) == 0);
	MUST(pthread_attr_destroy(&attr) == 0);
	MUST(errno == 4711);
	MUST(pthread_join(pthread_self(), NULL) == EDEADLK);
	return 0;
}

static bool cleaned;

static void clean(void *arg)
{
	cleaned = *(bool *)arg;
}

static void *reads(void *arg)
{
	int *pipes = arg;
	bool yes = true;
	char c;

	pthread_cleanup_push(clean, &yes);
	MUST(read(pipes[0], &c, 1) == 1);
	pthread_cleanup_pop(0);
	return NULL;
}

/* A cancellation point remains one, and the stack of its caller is unwound. */
static int thread_cancel(int argc, char **argv)
{
	pthread_t thread;
	int pipes[2];
	void *result;

	(void)argc, (void)argv;
	MUST(pipe(pipes) == 0);
	MUST(pthread_create(&thread, NULL, reads, pipes) == 0);
	MUST(pthread_cancel(thread) == 0);
	MUST(pthread_join(thread, &result) == 0);
	MUST(result == PTHREAD_CANCELED && cleaned);
	return 0;
}

static _Atomic int unmapped;

static void *unmaps(void *arg)
{
	MUST(munmap(*(void **)arg, 4096) == 0);
	unmapped++;
	return NULL;
}

/* A detached thread may free the memory that its identifier is stored in. */
static int thread_gone(int argc, char **argv)
{
	pthread_attr_t attr;

	(void)argc, (void)argv;
	MUST(pthread_attr_init(&attr) == 0);
	MUST(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0);
	for (int i = 0; i < 300; i++) {
		void **own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		MUST(own != MAP_FAILED);
		own[0] = own;
		MUST(pthread_create((pthread_t *)&own[1], &attr, unmaps, own) == 0);
	}
	while (unmapped < 300)
		sched_yield();
	return 0;
}

const struct probe probes_thread[] = {
	{ "thread", thread }, { "cancel", thread_cancel }, { "thread-gone", thread_gone }, { 0 }
};
