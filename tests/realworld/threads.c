/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * realworld/threads.c - N threads that run at the same time and share one mutex; ends with 7.
 *
 *	threads N
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 60000
#define ROUNDS      200
#define STACK_BYTES 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_there;
static pthread_t thread[THREADS_MAX];
static long counted;

static void *count(void *arg)
{
	pthread_barrier_wait(&all_there);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		counted++;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	pthread_attr_t attr;

	if (n < 1 || n > THREADS_MAX)
		return 2;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_barrier_init(&all_there, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], &attr, count, NULL)) {
			perror("pthread_create");
			return 1;
		}
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	printf("%ld\n", counted);
	return 7;
}
