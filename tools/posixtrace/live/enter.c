/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* enter.c - decides by which way the calls of a process are traced. */
#include "live/enter.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "base/tool.h"
#include "inject/target.h"
#include "live/image.h"
#include "live/preload.h"
#include "live/process.h"
#include "syscalls/syscalls.h"

const char *enter_by_kernel(const struct capture_plan *plan, struct kernel_plan *kernel)
{
	const char *why = NULL;

	switch (kernel->calls) {
	case KERNEL_CALLS_AUTO:
		if (!capture_grows(plan))
			why = "not in a log that can be full, and not with --loop";
		else
			why = syscalls_refusal();
		kernel->calls = why ? KERNEL_CALLS_NONE : KERNEL_CALLS_UNSEEN;
		break;
	case KERNEL_CALLS_NONE:
		why = "--syscalls=none";
		break;
	case KERNEL_CALLS_UNSEEN:
	case KERNEL_CALLS_ALL:
		break;
	}
	return why;
}

/* Returns the reason in the first line of a refusal. The text is cut behind this line. */
static const char *reason_in(char *text)
{
	text[strcspn(text, "\n")] = '\0';
	return target_reason(text);
}

/*
 * Whether the library can never enter the program of a process. Other reasons of a refusal, such as
 * that the process is stopped, are for the user to remove.
 */
static bool is_foreign(pid_t pid)
{
	char path[40], loader[SHIM_LOADER_BYTES];
	enum shim_image image;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	image = shim_image_of(AT_FDCWD, path, loader);
	return image == SHIM_IMAGE_STATIC || image == SHIM_IMAGE_FOREIGN ||
	       image == SHIM_IMAGE_MACHINE;
}

int enter_process(struct inject *inject, const struct capture_plan *plan,
		  struct kernel_plan *kernel, bool needs_library)
{
	char text[1024] = "", name[PROCESS_NAME_BYTES];
	const bool is_none = plan->families && !strcmp(plan->families, "none");
	const char *why;
	bool is_final;
	int status;

	kernel->choose = &plan->choose;
	/* Without the library, the families of the kernel's events are the default ones. */
	kernel->families = is_none ? NULL : plan->families;
	if (is_none || needs_library) {
		kernel->has_library = !is_none;
		return preload_inject(inject, plan->pid, plan->families);
	}
	say_keep(text, sizeof(text));
	status = preload_inject(inject, plan->pid, plan->families);
	say_keep(NULL, 0);
	kernel->has_library = status == TOOL_OK;
	is_final = status && !kernel_has_calls(kernel) && !is_foreign(plan->pid);
	why = status && !is_final ? enter_by_kernel(plan, kernel) : NULL;
	if (!status || is_final || why) {
		/* A refusal may have further lines, such as one that names the capability. */
		for (char *line = text, *next; line && *line; line = next, why = NULL) {
			next = strchr(line, '\n');
			if (next)
				*next++ = '\0';
			say("%s%s%s", line, why ? "; no kernel tracing: " : "", why ? why : "");
		}
		return status;
	}
	process_name(name, plan->pid);
	say("process %d (%s): system calls by kernel tracing: %s", (int)plan->pid, name,
	    reason_in(text));
	return TOOL_OK;
}
