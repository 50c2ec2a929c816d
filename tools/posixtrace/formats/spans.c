/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "formats/spans.h"

#include <stdlib.h>
#include <string.h>

void spans_init(struct spans *spans)
{
	memset(spans, 0, sizeof(*spans));
}

void spans_fini(struct spans *spans)
{
	for (size_t i = 0; i < spans->places; i++)
		free(spans->place[i]);
	free(spans->place);
	spans_init(spans);
}

static size_t hash_of(uint32_t pid, uint32_t tid, uint64_t thread)
{
	uint64_t mix = (thread ^ (uint64_t)pid << 32 ^ tid) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(mix >> 32);
}

static struct spans_thread **slot_of(const struct spans *spans, uint32_t pid, uint32_t tid,
				     uint64_t thread)
{
	size_t i = hash_of(pid, tid, thread) & (spans->places - 1);

	for (;; i = (i + 1) & (spans->places - 1)) {
		const struct spans_thread *known = spans->place[i];

		if (!known ||
		    (known->tid == tid && known->pid == pid && known->thread == thread))
			return &spans->place[i];
	}
}

static bool grow(struct spans *spans)
{
	struct spans old = *spans;

	spans->places = old.places ? 2 * old.places : 64;
	spans->place = calloc(spans->places, sizeof(*spans->place));
	if (!spans->place) {
		*spans = old;
		return false;
	}
	for (size_t i = 0; i < old.places; i++) {
		struct spans_thread *t = old.place[i];

		if (t)
			*slot_of(spans, t->pid, t->tid, t->thread) = t;
	}
	free(old.place);
	return true;
}

struct spans_thread *spans_of(struct spans *spans, const struct fmt_event *event)
{
	struct spans_thread **slot;

	if (2 * spans->threads >= spans->places && !grow(spans))
		return NULL;
	slot = slot_of(spans, event->pid, event->tid, event->thread);
	if (*slot || spans->threads == SPANS_THREADS)
		return *slot;
	*slot = calloc(1, sizeof(**slot));
	if (!*slot)
		return NULL;
	(*slot)->pid = event->pid;
	(*slot)->tid = event->tid;
	(*slot)->thread = event->thread;
	spans->threads++;
	return *slot;
}

bool spans_event(struct spans *spans, const struct fmt_event *event)
{
	const struct fmt_type *type = event->type;
	struct spans_thread *thread;

	if (!type->nests)
		return false;
	thread = spans_of(spans, event);
	if (!thread)
		return false;
	if (type->phase == FMT_BEGIN) {
		if (thread->depth == SPANS_DEPTH)
			return false;
		thread->open[thread->depth++] = type;
		return true;
	}
	if (!thread->depth || strcmp(thread->open[thread->depth - 1]->span, type->span) != 0)
		return false;
	thread->depth--;
	return true;
}

void spans_clear(struct spans *spans, void (*visit)(void *arg, const struct spans_thread *thread),
		 void *arg)
{
	for (size_t i = 0; i < spans->places; i++) {
		struct spans_thread *thread = spans->place[i];

		if (!thread || !thread->depth)
			continue;
		if (visit)
			visit(arg, thread);
		thread->depth = 0;
	}
}
