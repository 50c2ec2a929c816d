/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/ring/scene.h - a pool of four chunks, a reader, and two writers, of which one writes from
 * the beginning.
 */
#ifndef PTX_TESTS_UNIT_RING_SCENE_H
#define PTX_TESTS_UNIT_RING_SCENE_H

#include "unit/ring/pool.h"

enum { CHUNKS = 4 };

extern struct pool *pool;
extern struct reader reader;
extern struct writer one, two;

/* One, whose thread is 1, has put the values from 1 on; two has not begun. */
void begin(bool loop, unsigned records);

/* No chunk of a LOOP stream is free: CHUNKS - 1 are closed and one is open. */
void begin_full(void);

#endif
