/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * budget_storm.c - threads that lock one mutex, for bench-budget: budget_storm [yield]
 *
 * With yield, a thread lets others run while it holds the mutex, so that many locks have to wait.
 * Only a lock that waits is an event.
 *
 * For each line of standard input, the threads lock and unlock the mutex ROUNDS times each, and the
 * program prints the processor time of that in seconds. The threads remain, so that a piece of work
 * begins and ends no thread.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define THREADS 2
#define ROUNDS	400000
#define YIELDING 20000 /* with yield */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begin, end;
static volatile unsigned long sum;
static bool yields;

static void *lock_often(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		for (int i = 0; i < (yields ? YIELDING : ROUNDS); i++) {
			pthread_mutex_lock(&mutex);
			sum++;
			if (yields && i % 4 == 0)
				sched_yield();
			pthread_mutex_unlock(&mutex);
		}
		pthread_barrier_wait(&end);
	}
	return arg;
}

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	char line[16];

	(void)argv;
	yields = argc > 1;
	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, lock_often, NULL))
			return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		double before = cpu_s();

		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
		printf("%.9f\n", cpu_s() - before);
		fflush(stdout);
	}
	return 0;
}
