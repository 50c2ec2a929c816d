/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * vforks.h - finds the process that made a call: the process of the thread, or the child of its
 * vfork().
 *
 * A child of vfork() uses the memory of the thread that called vfork(), so its events have the
 * process and the thread of its parent. The child has a table of descriptors of its own. It makes
 * all calls of the thread until vfork() returns.
 *
 * One caller at a time uses a struct vforks. A struct with all bytes zero is empty.
 */
#ifndef POSIXTRACE_LOG_VFORKS_H
#define POSIXTRACE_LOG_VFORKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace_np.h>

struct vforks {
	struct vfork *active, *done;
	size_t actives, dones;
};

/* Notes the event with which the child of vfork() begins. If memory is lacking, does nothing. */
void vforks_begin(struct vforks *vforks, const struct posix_trace_event_np *event, pid_t child);
/* Notes the event of the call of vfork(), which is recorded when the call returns. */
void vforks_end(struct vforks *vforks, const struct posix_trace_event_np *event);
/* Returns the process that made the call of an event. All events before it must be noted. */
pid_t vforks_present(const struct vforks *vforks, const struct posix_trace_event_np *event);
/*
 * vforks_sort() must be called after the last event. Then vforks_process() returns the process that
 * made the call of any event.
 */
void vforks_sort(struct vforks *vforks);
pid_t vforks_process(const struct vforks *vforks, const struct posix_trace_event_np *event);
void vforks_fini(struct vforks *vforks);

#endif
