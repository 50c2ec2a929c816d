/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "convert/threads.h"

#include <stdlib.h>
#include <string.h>

void threads_init(struct threads *threads, bool by_handle, size_t most)
{
	memset(threads, 0, sizeof(*threads));
	threads->by_handle = by_handle;
	threads->most = most;
}

void threads_fini(struct threads *threads)
{
	for (size_t i = 0; i < threads->places; i++)
		free(threads->place[i]);
	free(threads->place);
	threads_init(threads, threads->by_handle, threads->most);
}

static size_t hash_of(uint32_t pid, uint32_t tid, uint64_t handle)
{
	uint64_t mix = (handle ^ (uint64_t)pid << 32 ^ tid) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(mix >> 32);
}

static struct thread **slot_of(const struct threads *threads, uint32_t pid, uint32_t tid,
			       uint64_t handle)
{
	size_t i = hash_of(pid, tid, handle) & (threads->places - 1);

	for (;; i = (i + 1) & (threads->places - 1)) {
		const struct thread *known = threads->place[i];

		if (!known ||
		    (known->tid == tid && known->pid == pid && known->handle == handle))
			return &threads->place[i];
	}
}

static bool grow(struct threads *threads)
{
	struct threads old = *threads;

	threads->places = old.places ? 2 * old.places : 64;
	threads->place = calloc(threads->places, sizeof(*threads->place));
	if (!threads->place) {
		*threads = old;
		return false;
	}
	for (size_t i = 0; i < old.places; i++) {
		struct thread *t = old.place[i];

		if (t)
			*slot_of(threads, t->pid, t->tid, t->handle) = t;
	}
	free(old.place);
	return true;
}

struct thread *threads_of(struct threads *threads, uint32_t pid, uint32_t tid, uint64_t handle)
{
	struct thread **slot;

	if (tid && !threads->by_handle)
		handle = 0;
	if (2 * threads->count >= threads->places && !grow(threads))
		return NULL;
	slot = slot_of(threads, pid, tid, handle);
	if (*slot || threads->count == (threads->most ? threads->most : THREADS_MAX))
		return *slot;
	*slot = calloc(1, sizeof(**slot));
	if (!*slot)
		return NULL;
	(*slot)->pid = pid;
	(*slot)->tid = tid;
	(*slot)->handle = handle;
	threads->count++;
	return *slot;
}
