/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tail.h - keeps copies of the last elements of a long sequence. An element is a struct of fixed
 * size with data of any length.
 */
#ifndef POSIXTRACE_BASE_TAIL_H
#define POSIXTRACE_BASE_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAIL_MAX 1000000

struct tail {
	size_t limit;        /* the number of elements to keep; 0: the tail is not in use */
	size_t size;         /* bytes of a struct */
	struct tail_entry *entry;
	uint64_t count;      /* elements added so far */
};

/* Allocates the places. Returns false if memory is lacking. */
bool tail_init(struct tail *tail, size_t limit, size_t size);
void tail_fini(struct tail *tail);

/*
 * Appends a copy of the struct and of len bytes of data. If the tail is full, the copy replaces the
 * oldest element. tail->limit must not be 0. Returns false if memory is lacking.
 */
bool tail_add(struct tail *tail, const void *entry, const void *data, size_t len);

/*
 * Returns the kept element with this index, 0 for the oldest, and stores the address of its data in
 * *data. Returns NULL if there are fewer elements.
 */
const void *tail_at(const struct tail *tail, size_t index, const void **data);

#endif
