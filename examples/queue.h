/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queue.h - the queue of files that the walk has found and no worker has hashed.
 *
 * Threads   one thread calls queue_put(), any number of threads call queue_take().
 * Owner     the queue owns job.path from queue_put() to queue_take(). The caller of queue_take()
 *           then owns the path and frees it.
 */
#ifndef DIRHASH_QUEUE_H
#define DIRHASH_QUEUE_H

#include <stdint.h>

struct job {
	uint32_t file;
	char *path;
};

/* Called before the caller waits, without the queue's lock, with the length of the queue. */
typedef void queue_wait_fn(uint32_t length);

void queue_put(struct job job, queue_wait_fn *before_wait);

/*
 * Removes the oldest job. Stores the job and the remaining length of the queue, and returns 1. If
 * the queue is closed and empty, returns 0.
 */
int queue_take(struct job *job, uint32_t *length, queue_wait_fn *before_wait);

/* Ends the queue. The caller must not call queue_put() afterwards. Waiting workers return. */
void queue_close(void);

#endif
