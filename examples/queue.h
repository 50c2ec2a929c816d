/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queue.h - files found by the walk, waiting for a worker.
 *
 * Threads   one puts, any number take.
 * Owner     the path belongs to the queue from put to take, then to the taker, who frees it.
 */
#ifndef DIRHASH_QUEUE_H
#define DIRHASH_QUEUE_H

#include <stdint.h>

struct job {
	uint32_t file;
	char *path;
};

/* Called without the queue's lock held, with the length that made the caller wait. */
typedef void queue_wait_fn(uint32_t length);

void queue_put(struct job job, queue_wait_fn *before_wait);

/* 1 and the oldest job with the length left behind it, or 0 once the queue is closed and empty. */
int queue_take(struct job *job, uint32_t *length, queue_wait_fn *before_wait);

/* Nothing will be put any more. */
void queue_close(void);

#endif
