/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/ring/scene.h"

struct pool *pool;
struct reader reader;
struct writer one, two;

void begin(bool loop, unsigned records)
{
	pool = pool_make(CHUNKS, loop);
	writer_begin(&one, pool, 1);
	reader_init(&reader, pool);
	writer_put_many(&one, 1, records);
}

void begin_full(void)
{
	begin(true, CHUNKS * POOL_RECORDS);
}
