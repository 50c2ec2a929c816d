/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tail.h - the last things of a long row: each a struct of one size, and data of any.
 */
#ifndef POSIXTRACE_BASE_TAIL_H
#define POSIXTRACE_BASE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAIL_MAX 1000000

struct tail {
	size_t limit;        /* 0: there is no tail */
	size_t size;         /* of a struct */
	struct tail_thing *thing;
	uint64_t count;      /* all that came */
};

/* False: no memory. */
bool tail_init(struct tail *tail, size_t limit, size_t size);
void tail_fini(struct tail *tail);

/* Keeps a copy of both. False: no memory. */
bool tail_add(struct tail *tail, const void *thing, const void *data, size_t len);

/* The things that are left, in their order: *data is where its data is now. NULL past the last. */
const void *tail_at(const struct tail *tail, size_t index, const void **data);

#endif
