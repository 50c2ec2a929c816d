/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* enter.c - decides how the calls of a process are traced. */
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
#include "uprobes/uprobes.h"

const char *enter_contradiction(const struct capture_plan *plan,
				const struct kernel_plan *kernel,
				const struct patches *functions, const char *families)
{
	const bool is_none = families && !strcmp(families, "none");

	/* A log that is written again at the end must have all events. */
	if (kernel_weaves(kernel) && !capture_keeps(plan))
		return "--sched, --sample, --kernel, --syscalls and --stack need a log that is "
		       "never full, and no --loop";
	if (rotation_is_wanted(&plan->rotate) && !capture_keeps(plan))
		return "--rotate-size and --rotate-time need a log that is never full, and no "
		       "--loop";
	if (kernel->sample_stack && !kernel->sample_hz)
		return "--sample-stack needs --sample";
	if (plan->content && is_none)
		return "--data has no meaning with --trace=none";
	if (functions->described.is_wanted && !functions->patterns)
		return "--args needs --function, which selects the functions";
	if (kernel->stack.globs && is_none)
		return "--stack has no meaning with --trace=none";
	return NULL;
}

static const char *log_refusal(void)
{
	return "not in a log that can be full, and not with --loop";
}

/* Returns the text of a reason, or NULL if there is none. */
static const char *text_of(const struct syscalls_why *why)
{
	return why ? why->text : NULL;
}

static const char *traps_refusal(void)
{
	return text_of(uprobes_refusal());
}

const char *enter_by_kernel(const struct capture_plan *plan, struct kernel_plan *kernel)
{
	const char *why = NULL;

	switch (kernel->calls) {
	case KERNEL_CALLS_AUTO:
		why = capture_keeps(plan) ? text_of(syscalls_refusal()) : log_refusal();
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

void enter_allow_traps(const struct capture_plan *plan, struct traps *traps)
{
	traps->refusal = capture_keeps(plan) ? traps_refusal : log_refusal;
}

/*
 * Returns the reason in the first line of a refusal. The function cuts off the text behind this
 * line.
 */
static const char *reason_in(char *text)
{
	text[strcspn(text, "\n")] = '\0';
	return target_reason(text);
}

/*
 * Returns whether the library can never enter the program of a process. There are other reasons for
 * a refusal that the user can remove, for example that the process is stopped.
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

/*
 * Decides that the kernel records the functions of a process, and also its system calls if this is
 * permitted. Returns NULL, or the reason why the kernel cannot record them.
 */
static const char *enter_functions(const struct capture_plan *plan, struct kernel_plan *kernel,
				   struct patches *functions)
{
	if (!traps_are_permitted(&functions->traps))
		return functions->traps.why;
	functions->traps.is_forced = true;
	enter_by_kernel(plan, kernel);
	return NULL;
}

int enter_process(struct inject *inject, const struct capture_plan *plan,
		  struct kernel_plan *kernel, struct patches *functions)
{
	char text[4096] = "", name[PROCESS_NAME_BYTES];
	const bool is_none = plan->families && !strcmp(plan->families, "none");
	const bool has_functions = patch_is_wanted(functions);
	const char *why = NULL;
	bool is_final;
	int status;

	kernel->choose = &plan->choose;
	/*
	 * If the user does not want the library in the process, the kernel's events have the
	 * default families.
	 */
	kernel->families = is_none ? NULL : plan->families;
	if (is_none) {
		kernel->has_library = !is_none;
		return preload_inject(inject, plan->pid, plan->families, plan->inherit);
	}
	say_keep(text, sizeof(text));
	status = preload_inject(inject, plan->pid, plan->families, plan->inherit);
	say_keep(NULL, 0);
	kernel->has_library = status == TOOL_OK;
	is_final = status && (!kernel_has_calls(kernel) || has_functions) &&
		   !is_foreign(plan->pid);
	if (status && !is_final)
		why = has_functions ? enter_functions(plan, kernel, functions) :
				      enter_by_kernel(plan, kernel);
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
	say("process %d (%s): %s%s%s by kernel tracing: %s", (int)plan->pid, name,
	    kernel_has_calls(kernel) ? "system calls" : "",
	    kernel_has_calls(kernel) && has_functions ? " and " : "",
	    has_functions ? "functions" : "", reason_in(text));
	return TOOL_OK;
}
