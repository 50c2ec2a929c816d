/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfetto_mapped.c - the times at which a process maps or unmaps files.
 *
 * A log has one number for equal stacks of addresses. After exec() or dlclose(), these addresses
 * may belong to other files. In this case the stack must be interned again.
 */
#include "convert/viewer/perfetto.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "convert/flow.h"

static int by_process(const void *a, const void *b)
{
	const struct perfetto_change *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int add_change(struct perfetto_stacks *stacks, pid_t pid, int64_t time_ns)
{
	if (!vec_grow(&stacks->change, stacks->changes, 1))
		return ENOMEM;
	stacks->change[stacks->changes++] = (struct perfetto_change){ (uint32_t)pid, time_ns };
	return 0;
}

static int read_log(struct perfetto_stacks *stacks, trace_id_t log)
{
	struct posix_trace_mapping_np mapping;
	int end = 0, err = posix_trace_mapping_rewind_np(log);

	while (!err) {
		err = posix_trace_mapping_getnext_np(log, &mapping, &end);
		if (err || end)
			break;
		err = add_change(stacks, mapping.pid, mapping.from_ns);
		if (!err && mapping.until_ns != INT64_MAX)
			err = add_change(stacks, mapping.pid, mapping.until_ns);
	}
	return err;
}

int perfetto_mapped_read(struct perfetto *perfetto)
{
	struct perfetto_stacks *stacks = &perfetto->stacks;
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; !err && i < perfetto->flow->object_logs; i++)
		err = read_log(stacks, perfetto->flow->objects[i]);
	if (stacks->changes)
		qsort(stacks->change, stacks->changes, sizeof(*stacks->change), by_process);
	/*
	 * The mappings of all files of a program usually have the same time, so equal times are
	 * kept only once.
	 */
	for (size_t i = 0; i < stacks->changes; i++)
		if (!kept || by_process(&stacks->change[kept - 1], &stacks->change[i]))
			stacks->change[kept++] = stacks->change[i];
	stacks->changes = kept;
	return err;
}

size_t perfetto_mapped_changes(const struct perfetto_stacks *stacks, uint32_t pid, int64_t time_ns)
{
	const struct perfetto_change at = { pid, time_ns };
	size_t low = 0, high = stacks->changes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_process(&stacks->change[middle], &at) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
