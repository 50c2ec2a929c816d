/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * meter_follow.c - shows the progress of a call that does not report its progress. The kernel
 * counts the bytes that this process reads, and this count is the progress.
 *
 * The follower's thread draws the line, because the calling thread is busy. Until meter_unfollow(),
 * any other thread acquires the follower's lock before it uses the meter.
 */
#include "base/meter_follow.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_NS 200000000 /* between two readings of the kernel's count */

struct meter_follower {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool stop;
	uint64_t before; /* bytes that the process had read at the beginning */
};

/*
 * Returns how many bytes this process has read by read() and similar system calls, or 0 without
 * /proc.
 */
static uint64_t bytes_read(void)
{
	FILE *file = fopen("/proc/self/io", "re");
	unsigned long long bytes = 0;

	if (!file)
		return 0;
	if (fscanf(file, "rchar: %llu", &bytes) != 1)
		bytes = 0;
	fclose(file);
	return bytes;
}

/*
 * The function of the follower's thread. Between two updates the thread waits for the condition
 * variable instead of sleeping, so that meter_unfollow() can end the thread immediately.
 */
static void *follower_thread(void *arg)
{
	struct meter *meter = arg;
	struct meter_follower *follower = meter->follower;

	pthread_mutex_lock(&follower->lock);
	while (!follower->stop) {
		struct timespec when;

		/*
		 * The subtraction may wrap if /proc fails later; draw_meter() limits done to the
		 * total.
		 */
		meter->done = bytes_read() - follower->before;
		meter_show(meter);
		clock_gettime(CLOCK_REALTIME, &when);
		when.tv_nsec += LOOK_NS;
		when.tv_sec += when.tv_nsec / 1000000000;
		when.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&follower->ended, &follower->lock, &when);
	}
	pthread_mutex_unlock(&follower->lock);
	return NULL;
}

void meter_follow(struct meter *meter, uint64_t bytes)
{
	struct meter_follower *follower =
		meter->wanted && bytes ? calloc(1, sizeof(*follower)) : NULL;

	if (!follower)
		return;
	follower->before = bytes_read();
	pthread_mutex_init(&follower->lock, NULL);
	pthread_cond_init(&follower->ended, NULL);
	meter->total = bytes;
	meter->follower = follower;
	/*
	 * If the kernel gives no count of bytes, no thread is started, since it would have nothing
	 * to show.
	 */
	if (!follower->before || pthread_create(&follower->thread, NULL, follower_thread, meter)) {
		free(follower);
		meter->follower = NULL;
	}
}

void meter_lock(struct meter *meter)
{
	pthread_mutex_lock(&meter->follower->lock);
}

void meter_unlock(struct meter *meter)
{
	pthread_mutex_unlock(&meter->follower->lock);
}

void meter_unfollow(struct meter *meter)
{
	struct meter_follower *follower = meter->follower;

	pthread_mutex_lock(&follower->lock);
	/*
	 * This thread sets "stop" under the lock under which the follower's thread tests "stop". So
	 * the follower's thread does not miss the signal.
	 */
	follower->stop = true;
	pthread_cond_signal(&follower->ended);
	pthread_mutex_unlock(&follower->lock);
	pthread_join(follower->thread, NULL);
	pthread_cond_destroy(&follower->ended);
	pthread_mutex_destroy(&follower->lock);
	free(follower);
	meter->follower = NULL;
}
