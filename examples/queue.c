/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "queue.h"

#include <pthread.h>

#define ROOM 64 /* enough to keep the workers busy, and so few that the walk waits sometimes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_room = PTHREAD_COND_INITIALIZER;
static pthread_cond_t has_jobs = PTHREAD_COND_INITIALIZER;
static struct job jobs[ROOM];
static uint32_t head, length;
static int closed;

void queue_put(struct job job, queue_wait_fn *before_wait)
{
	pthread_mutex_lock(&lock);
	if (length == ROOM) {
		pthread_mutex_unlock(&lock);
		before_wait(ROOM);
		pthread_mutex_lock(&lock);
	}
	while (length == ROOM)
		pthread_cond_wait(&has_room, &lock);
	jobs[(head + length++) % ROOM] = job;
	pthread_cond_signal(&has_jobs);
	pthread_mutex_unlock(&lock);
}

int queue_take(struct job *job, uint32_t *left, queue_wait_fn *before_wait)
{
	int taken = 0;

	pthread_mutex_lock(&lock);
	if (length == 0 && !closed) {
		pthread_mutex_unlock(&lock);
		before_wait(0);
		pthread_mutex_lock(&lock);
	}
	while (length == 0 && !closed)
		pthread_cond_wait(&has_jobs, &lock);
	if (length > 0) {
		*job = jobs[head];
		head = (head + 1) % ROOM;
		*left = --length;
		taken = 1;
		pthread_cond_signal(&has_room);
	}
	pthread_mutex_unlock(&lock);
	return taken;
}

void queue_close(void)
{
	pthread_mutex_lock(&lock);
	closed = 1;
	pthread_cond_broadcast(&has_jobs);
	pthread_mutex_unlock(&lock);
}
