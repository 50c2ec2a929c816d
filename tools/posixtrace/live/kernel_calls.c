/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_calls.c - lets the kernel record system calls. Chooses the types, and keeps the records.
 *
 * weave_calls.c makes the events when it writes the log again, because only then the log shows
 * which processes the preload library has recorded.
 */
#include <errno.h>
#include <stdlib.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "../../../lib/preload/types.h"
#include "../../../lib/preload/choose.h"

#include "base/say.h"
#include "base/tool.h"
#include "live/image.h"
#include "live/kernel_part.h"
#include "syscalls/form.h"

/*
 * Returns whether events of a type are wanted: its family is chosen, and the patterns choose its
 * name. The types sys.NAME have no family.
 */
static bool wants_type(void *arg, const char *name)
{
	const struct kernel_plan *plan = arg;
	unsigned families = shim_families(plan->families);

	if (!kernel_chooses(plan, name))
		return false;
	for (int type = 0; type < SHIM_TYPE_COUNT; type++)
		if (!strcmp(shim_name_of((enum shim_type)type), name))
			return families >> shim_family_of((enum shim_type)type) & 1;
	return true;
}

/* Returns which processes and calls are recorded, as a sum of values of enum syscalls_scope. */
static unsigned scope_of(const struct kernel_plan *plan)
{
	return (plan->alone ? 0 : SYSCALLS_FOLLOW) | (kernel_has_calls(plan) ? SYSCALLS_CALLS : 0) |
	       (kernel_has_traps(plan) ? SYSCALLS_ENDS : 0);
}

int kernel_calls_begin(struct kernel *kernel)
{
	struct syscalls_plan *plan = calloc(SYSCALLS_PLANS, sizeof(*plan));
	const struct syscalls_why *why = syscalls_reason(ENOMEM);

	kernel->syscalls = calloc(1, sizeof(*kernel->syscalls));
	kernel->forms = calloc(1, sizeof(*kernel->forms));
	if (plan && kernel->syscalls && kernel->forms) {
		forms_begin(kernel->forms, shim_content_of(kernel->plan.families), wants_type,
			    &kernel->plan);
		forms_plan(kernel->forms, plan, kernel->plan.calls == KERNEL_CALLS_ALL);
		why = syscalls_begin(kernel->syscalls, plan, kernel->pid, scope_of(&kernel->plan));
	}
	free(plan);
	if (!why)
		return kernel_has_traps(&kernel->plan) ? kernel_traps_begin(kernel) : TOOL_OK;
	say("the kernel does not record %s: %s",
	    kernel_has_calls(&kernel->plan) ? "system calls" : "functions", why->text);
	return TOOL_FAILURE;
}

/*
 * Examines the file that a process executes. A relative path begins at the current folder of the
 * process. If there is no such file, as when the process has ended, the path begins at the folder
 * of the recorder instead.
 */
static enum shim_image image_of(pid_t pid, const char *path)
{
	char loader[SHIM_LOADER_BYTES], full[SYSCALLS_PIECE_BYTES + 40];
	enum shim_image image;

	if (*path == '/')
		return shim_image_of(AT_FDCWD, path, loader);
	snprintf(full, sizeof(full), "/proc/%d/cwd/%s", (int)pid, path);
	image = shim_image_of(AT_FDCWD, full, loader);
	return image != SHIM_IMAGE_UNKNOWN ? image : shim_image_of(AT_FDCWD, path, loader);
}

/* Keeps a record with its pieces as the data of an event. */
static void take_call(void *arg, const struct syscalls_record *record, const unsigned char *piece,
		      size_t bytes)
{
	static unsigned char data[sizeof(*record) + SYSCALLS_PIECES * SYSCALLS_PIECE_BYTES];
	struct kernel *kernel = arg;
	struct syscalls_record copy = *record;
	struct kernel_event event = { .type = KERNEL_TYPE_CALL };
	struct kernel_record of = { .pid = (pid_t)record->pid, .tid = (pid_t)record->tid };

	if (kernel->traps)
		kernel_traps_take(kernel, record, piece, bytes);
	if (record->kind >= SYSCALLS_DEAD || !kernel_has_calls(&kernel->plan))
		return;
	if (bytes > sizeof(data) - sizeof(copy))
		bytes = sizeof(data) - sizeof(copy);
	if (record->kind == SYSCALLS_EXEC)
		copy.result = bytes && !piece[bytes - 1] ?
			      (int64_t)image_of(of.pid, (const char *)piece) : SHIM_IMAGE_UNKNOWN;
	memcpy(data, &copy, sizeof(copy));
	memcpy(data + sizeof(copy), piece, bytes);
	event.bytes = (uint32_t)(sizeof(copy) + bytes);
	kernel_add_event(kernel, of, record->time_ns, event, data);
}

void kernel_calls_look(struct kernel *kernel)
{
	if (kernel->syscalls)
		syscalls_look(kernel->syscalls, take_call, kernel);
}

void kernel_calls_stop(struct kernel *kernel)
{
	if (!kernel->syscalls)
		return;
	syscalls_stop(kernel->syscalls);
	if (kernel->traps)
		kernel_traps_stop(kernel);
}

/* Reports processes that the kernel could not add to those that it records. */
static void say_children(const struct kernel *kernel)
{
	const uint64_t children = syscalls_lost(kernel->syscalls, SYSCALLS_LOST_CHILDREN);

	if (children)
		say("%llu process%s not recorded by the kernel: more than %d were recorded at the "
		    "same time", (unsigned long long)children,
		    children == 1 ? " was" : "es were", SYSCALLS_TRACED_MOST);
}

void kernel_calls_fini(struct kernel *kernel)
{
	if (kernel->traps)
		kernel_traps_fini(kernel);
	if (kernel->syscalls) {
		say_children(kernel);
		syscalls_end(kernel->syscalls);
	}
	if (kernel->forms)
		forms_fini(kernel->forms);
	free(kernel->syscalls);
	free(kernel->forms);
	kernel->syscalls = NULL;
	kernel->forms = NULL;
}
