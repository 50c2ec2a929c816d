/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* vforks.c - the spans in which the events of a thread are those of its child of vfork(). */
#include "log/vforks.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/*
 * The greatest number of spans that can last at the same time. If a further span begins, the oldest
 * one ends. The limit is needed because each event is compared with all these spans, and because a
 * thread that is killed in vfork() leaves a span without an end.
 */
#define ACTIVES_MAX 256

struct vfork {
	pid_t pid, tid, child;
	int64_t from_ns, until_ns;
};

/*
 * Returns the index of the thread's span in the spans that have not ended, or actives if it has
 * none.
 */
static size_t find_active(const struct vforks *vforks, const struct posix_trace_event_np *event)
{
	size_t i = 0;

	while (i < vforks->actives && (vforks->active[i].tid != event->tid ||
				       vforks->active[i].pid != event->info.posix_pid))
		i++;
	return i;
}

/* Ends a span. The others remain in the order in which they began. */
static void end_span(struct vforks *vforks, size_t index, int64_t time_ns)
{
	vforks->active[index].until_ns = time_ns;
	if (vec_grow(&vforks->done, vforks->dones, 1))
		vforks->done[vforks->dones++] = vforks->active[index];
	vforks->actives--;
	memmove(&vforks->active[index], &vforks->active[index + 1],
		(vforks->actives - index) * sizeof(*vforks->active));
}

void vforks_begin(struct vforks *vforks, const struct posix_trace_event_np *event, pid_t child)
{
	const size_t index = find_active(vforks, event);

	/* If the thread still has a span, the log lacks the end of that span. */
	if (index < vforks->actives)
		end_span(vforks, index, event->time_ns);
	else if (vforks->actives == ACTIVES_MAX)
		end_span(vforks, 0, event->time_ns);
	if (vec_grow(&vforks->active, vforks->actives, 1))
		vforks->active[vforks->actives++] = (struct vfork){
			.pid = event->info.posix_pid, .tid = event->tid, .child = child,
			.from_ns = event->time_ns,
		};
}

void vforks_end(struct vforks *vforks, const struct posix_trace_event_np *event)
{
	const size_t index = find_active(vforks, event);

	if (index < vforks->actives)
		end_span(vforks, index, event->time_ns);
}

pid_t vforks_present(const struct vforks *vforks, const struct posix_trace_event_np *event)
{
	const size_t index = find_active(vforks, event);

	return index < vforks->actives ? vforks->active[index].child : event->info.posix_pid;
}

static int by_begin(const void *a, const void *b)
{
	const struct vfork *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

void vforks_sort(struct vforks *vforks)
{
	while (vforks->actives)
		end_span(vforks, vforks->actives - 1, INT64_MAX);
	if (vforks->dones)
		qsort(vforks->done, vforks->dones, sizeof(*vforks->done), by_begin);
}

pid_t vforks_process(const struct vforks *vforks, const struct posix_trace_event_np *event)
{
	const struct vfork key = { .pid = event->info.posix_pid, .tid = event->tid,
				   .from_ns = event->time_ns };
	const struct vfork *last;
	size_t low = 0, high = vforks->dones;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (by_begin(&vforks->done[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	last = low ? &vforks->done[low - 1] : NULL;
	return last && last->pid == key.pid && last->tid == key.tid &&
	       key.from_ns < last->until_ns ? last->child : key.pid;
}

void vforks_fini(struct vforks *vforks)
{
	free(vforks->active);
	free(vforks->done);
	*vforks = (struct vforks){ .dones = 0 };
}
