/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/ring/scene.h - a pool of four chunks, a reader, and two writers, `one` and `two`. Only `one`
 * writes from the beginning.
 */
#ifndef PTX_TESTS_UNIT_RING_SCENE_H
#define PTX_TESTS_UNIT_RING_SCENE_H

#include "unit/ring/pool.h"

enum { CHUNKS = 4 };

extern struct pool *pool;
extern struct reader reader;
extern struct writer one, two;

/* Begins: `one`, the thread 1, has put the values from 1 on, and `two` has not begun. */
void begin(bool loop, unsigned records);

/* Begins without a free chunk in a LOOP stream: CHUNKS - 1 chunks are closed and one is open. */
void begin_full(void);

#endif
