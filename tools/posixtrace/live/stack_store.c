/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stack_store.c - a hash table of stacks. */
#include "live/stack_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/*
 * Compares for table_find(). The key is the store. The wanted stack is in the array "frame" of the
 * store, behind the kept stacks, with its length before it. It has no entry yet.
 */
static bool is_stack(const void *array, uint32_t index, const void *key)
{
	const struct stack_store *store = key;
	const struct stack *stack = (const struct stack *)array + index;
	const uint64_t *wanted = store->frame + store->frames + 1;
	uint64_t count = store->frame[store->frames];

	return stack->count == count &&
	       !memcmp(store->frame + stack->first, wanted, count * sizeof(*wanted));
}

uint32_t stack_store_keep(struct stack_store *store, const uint64_t *chain, size_t length)
{
	/*
	 * The function writes the stack behind the kept stacks. If the stack is new, it remains
	 * there.
	 */
	size_t count = length < STACK_FRAMES ? length : STACK_FRAMES;
	uint64_t hash, *to;
	uint32_t index;

	if (!vec_grow(&store->frame, store->frames, STACK_FRAMES + 1))
		return STACK_NONE;
	to = store->frame + store->frames + 1;
	memcpy(to, chain, count * sizeof(*to));
	store->frame[store->frames] = count;
	hash = hash_bytes(HASH_BEGIN, to, count * sizeof(*to));
	index = table_find(&store->table, hash, is_stack, store->stack, store);
	if (index != TABLE_NONE)
		return index;
	index = (uint32_t)store->stacks;
	if (index == STACK_MOST || !vec_grow(&store->stack, store->stacks, 1) ||
	    !table_add(&store->table, hash, index))
		return STACK_NONE;
	/*
	 * The new entry has the number of frames, so the number in the array is no longer needed.
	 * The frames are moved down by one place and overwrite it.
	 */
	memmove(to - 1, to, count * sizeof(*to));
	store->stack[store->stacks++] = (struct stack){
		.first = (uint32_t)store->frames, .count = (uint32_t)count,
	};
	store->frames += count;
	return index;
}

void stack_store_fini(struct stack_store *store)
{
	free(store->stack);
	free(store->frame);
	table_fini(&store->table);
	*store = (struct stack_store){ .stacks = 0 };
}
