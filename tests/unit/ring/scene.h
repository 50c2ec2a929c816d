/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/ring/scene.h - a pool of four chunks, who reads it, and two who write, one of them from the
 * beginning.
 */
#ifndef PTX_TESTS_UNIT_RING_SCENE_H
#define PTX_TESTS_UNIT_RING_SCENE_H

#include "unit/ring/pool.h"

enum { CHUNKS = 4 };

extern struct pool *pool;
extern struct reader reader;
extern struct writer one, two;

/* One, whose thread is 1, has put the values 1 and up; two has not begun. */
void begin(bool loop, unsigned records);

/* Every chunk of a LOOP stream is taken: CHUNKS - 1 closed ones and the open one. */
void begin_full(void);

#endif
