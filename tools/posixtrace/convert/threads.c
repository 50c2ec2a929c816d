/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* threads.c - finds a thread by its identifiers in a hash table. */
#include "convert/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void threads_init(struct threads *threads, bool by_handle, size_t most)
{
	memset(threads, 0, sizeof(*threads));
	threads->by_handle = by_handle;
	threads->most = most;
}

void threads_fini(struct threads *threads)
{
	for (size_t i = 0; i < threads->count; i++)
		free(threads->thread[i]);
	free(threads->thread);
	table_fini(&threads->table);
	threads_init(threads, threads->by_handle, threads->most);
}

/* Compares a thread with the wanted thread, for table_find(). */
static bool is_at(const void *array, uint32_t index, const void *key)
{
	const struct thread *known = ((struct thread *const *)array)[index], *wanted = key;

	return known->tid == wanted->tid && known->pid == wanted->pid &&
	       known->handle == wanted->handle;
}

/*
 * Finds the thread in the hash table, or makes it. The function does not use the array "recent".
 * Returns NULL if the limit is reached or if memory is lacking.
 */
static struct thread *look_up(struct threads *threads, uint32_t pid, uint32_t tid, uint64_t handle)
{
	struct thread wanted = { .pid = pid, .tid = tid, .handle = handle }, *thread;
	uint64_t hash;
	uint32_t index;

	hash = hash_number(handle, (uint64_t)pid << 32 | tid);
	index = table_find(&threads->table, hash, is_at, threads->thread, &wanted);
	if (index != TABLE_NONE)
		return threads->thread[index];
	/* The limit is needed, because the input determines the number of threads. */
	if (threads->count == (threads->most ? threads->most : THREADS_MAX))
		return NULL;
	/*
	 * Each thread is allocated singly, because callers keep the address of a thread while the
	 * array grows.
	 */
	thread = malloc(sizeof(*thread));
	if (!thread || !vec_grow(&threads->thread, threads->count, 1) ||
	    !table_add(&threads->table, hash, (uint32_t)threads->count)) {
		free(thread);
		return NULL;
	}
	*thread = wanted;
	threads->thread[threads->count++] = thread;
	return thread;
}

/*
 * In most traces consecutive events belong to few threads, so the array "recent" makes nearly all
 * searches in the hash table unnecessary.
 */
struct thread *threads_of(struct threads *threads, uint32_t pid, uint32_t tid, uint64_t handle)
{
	struct thread **recent, *thread;

	if (tid && !threads->by_handle)
		handle = 0;
	/*
	 * A handle is usually an aligned address, whose low bits are zero, so its higher bits are
	 * used too.
	 */
	recent = &threads->recent[(pid ^ tid ^ handle ^ handle >> 12) % THREADS_RECENT];
	thread = *recent;
	if (__builtin_expect(thread && thread->tid == tid && thread->pid == pid &&
			     thread->handle == handle, true))
		return thread;
	thread = look_up(threads, pid, tid, handle);
	if (thread)
		*recent = thread;
	return thread;
}
