/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stack_store.h - stacks as arrays of addresses; each distinct stack is kept once. */
#ifndef POSIXTRACE_LIVE_STACK_STORE_H
#define POSIXTRACE_LIVE_STACK_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

#define STACK_FRAMES 64 /* greatest number of frames of a stack; deeper frames are omitted */
#define STACK_MOST   65536
#define STACK_NONE   UINT32_MAX

/* A store of all zeros is empty. */
struct stack_store {
	struct stack {
		uint32_t first, count; /* its frames in the array "frame", the innermost first */
		bool is_written;       /* only callers use this member */
	} *stack;
	size_t stacks;
	uint64_t *frame;
	size_t frames;
	struct table table;
};

/* Returns the number of a stack, or STACK_NONE if there is no room for it. */
uint32_t stack_store_keep(struct stack_store *store, const uint64_t *chain, size_t length);

/* Returns the innermost address of a stack, or 0 if the stack has none. */
static inline uint64_t stack_store_top(const struct stack_store *store, uint32_t number)
{
	const struct stack *stack = &store->stack[number];

	return stack->count ? store->frame[stack->first] : 0;
}

/* Frees the memory. The store is then empty. */
void stack_store_fini(struct stack_store *store);

#endif
