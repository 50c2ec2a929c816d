/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_mappings_copy.c - the mappings with which a further log of a stream begins.
 *
 * A recording may have thousands of short-lived processes. If each log had the mappings of all of
 * them, a log would soon consist of mappings alone. So the copy omits the entries of processes that
 * ended a while ago, and the entries that an execve() has replaced. A process that was made by
 * fork() has the mappings of its parent until an entry replaces them, so the entries of such a
 * parent are needed, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/writer.h"

struct process {
	uint32_t pid;
	bool needed;
	bool is_parent;      /* a process that is needed has mappings of this process */
	int64_t latest_ns;   /* the time of its last entry */
	int64_t replaced_ns; /* all its entries before this time are replaced */
};

struct copy {
	struct process *process; /* in the order of pid */
	size_t processes;
	const struct ptx_log_lists *from;
};

static const struct ptx_log_mapping *first_entry(const struct ptx_log_lists *lists)
{
	return (const void *)lists->mapping;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/*
 * Returns the process with this pid. The list has each process of the entries, so there is an
 * element with this pid.
 */
static struct process *process_of(const struct copy *copy, uint32_t pid)
{
	size_t low = 0, high = copy->processes - 1;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (copy->process[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return &copy->process[low];
}

/*
 * Makes the list of all processes that an entry names, as process or as parent. Returns 0 or
 * ENOMEM.
 */
static int gather_processes(struct copy *copy)
{
	const struct ptx_log_mapping *entry = first_entry(copy->from);
	size_t count = 0;

	copy->process = calloc(2 * (size_t)copy->from->mappings, sizeof(*copy->process));
	if (!copy->process)
		return ENOMEM;
	for (uint32_t i = 0; i < copy->from->mappings; i++, entry = ptx_log_mapping_next(entry)) {
		copy->process[count++].pid = entry->pid;
		if (entry->kind == PTX_MAPPING_CHILD)
			copy->process[count++].pid = (uint32_t)entry->file_offset;
	}
	qsort(copy->process, count, sizeof(*copy->process), by_pid);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || copy->process[i].pid != copy->process[copy->processes - 1].pid)
			copy->process[copy->processes++] = copy->process[i];
	return 0;
}

/*
 * Notes the times of each process. An entry that ends all mappings of a process replaces the
 * earlier entries of the process. An entry as young as recent_ns replaces none, because the new log
 * may have events from before that entry.
 */
static void note_times(struct copy *copy, int64_t recent_ns)
{
	const struct ptx_log_mapping *entry = first_entry(copy->from);

	for (size_t i = 0; i < copy->processes; i++)
		copy->process[i].latest_ns = copy->process[i].replaced_ns = INT64_MIN;
	for (uint32_t i = 0; i < copy->from->mappings; i++, entry = ptx_log_mapping_next(entry)) {
		struct process *process = process_of(copy, entry->pid);

		if (entry->time_ns > process->latest_ns)
			process->latest_ns = entry->time_ns;
		if (entry->kind == PTX_MAPPING_GONE && entry->start == 0 &&
		    entry->end == UINT64_MAX && entry->time_ns < recent_ns &&
		    entry->time_ns > process->replaced_ns)
			process->replaced_ns = entry->time_ns;
	}
}

static bool is_needed(const struct copy *copy, const struct ptx_log_mapping *entry)
{
	const struct process *process = process_of(copy, entry->pid);

	return process->needed &&
	       (process->is_parent || entry->time_ns >= process->replaced_ns);
}

/* Marks the parents that needed entries name. Returns false if all of them were marked before. */
static bool mark_parents(struct copy *copy)
{
	const struct ptx_log_mapping *entry = first_entry(copy->from);
	bool changed = false;

	for (uint32_t i = 0; i < copy->from->mappings; i++, entry = ptx_log_mapping_next(entry)) {
		struct process *parent;

		if (entry->kind != PTX_MAPPING_CHILD || !is_needed(copy, entry))
			continue;
		parent = process_of(copy, (uint32_t)entry->file_offset);
		changed |= !parent->needed || !parent->is_parent;
		parent->needed = parent->is_parent = true;
	}
	return changed;
}

/* The entries have the layout of the file in both logs. The new log writes all of them. */
int ptx_log_mappings_copy(struct ptx_log *log, const struct ptx_log *from, int64_t recent_ns,
			  bool (*has_ended)(const void *arg, uint32_t pid), const void *arg)
{
	const struct ptx_log_mapping *entry = first_entry(&from->lists);
	struct copy copy = { .from = &from->lists };
	struct ptx_log_lists *to = &log->lists;
	int err;

	if (!from->lists.mappings)
		return 0;
	err = gather_processes(&copy);
	if (!err) {
		to->mapping = malloc(from->lists.mapping_room);
		err = to->mapping ? 0 : ENOMEM;
	}
	if (err) {
		free(copy.process);
		return err;
	}
	to->mapping_room = from->lists.mapping_room;
	to->mappings_ended = from->lists.mappings_ended;
	note_times(&copy, recent_ns);
	/* Process 0 means all processes. */
	for (size_t i = 0; i < copy.processes; i++)
		copy.process[i].needed = !copy.process[i].pid ||
					 copy.process[i].latest_ns >= recent_ns ||
					 !has_ended(arg, copy.process[i].pid);
	while (mark_parents(&copy))
		;
	for (uint32_t i = 0; i < from->lists.mappings; i++) {
		const struct ptx_log_mapping *next = ptx_log_mapping_next(entry);
		const size_t bytes = (size_t)((const uint8_t *)next - (const uint8_t *)entry);

		if (is_needed(&copy, entry)) {
			memcpy(to->mapping + to->mapping_bytes, entry, bytes);
			to->mapping_bytes += bytes;
			to->path_bytes += entry->path_bytes;
			to->mappings++;
		}
		entry = next;
	}
	free(copy.process);
	return 0;
}
