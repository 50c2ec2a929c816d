/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kernel_options.c - the options that choose the kernel's records (record, attach). */
#include <errno.h>
#include <string.h>

#include "base/nearest.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/vec.h"
#include "live/kernel.h"

#define SAMPLE_HZ_MAX 10000

enum { KERNEL_SCHED = 1280, KERNEL_SAMPLES, KERNEL_SAMPLE_STACK, KERNEL_GLOB, KERNEL_SYSCALLS };

const struct option_row kernel_rows[] = {
	{ "sched", KERNEL_SCHED, "[=NEED]",
		"record also when each thread had a CPU, was ready for one, or was blocked; if "
		"the kernel refuses this or --sample, the command fails with =needed, which is "
		"the default, and records without it with =possible",
		OPTION_CHOICE, "needed possible" },
	{ "sample", KERNEL_SAMPLES, "HZ",
		"record also which function each running thread executes, so many times a "
		"second" },
	{ "sample-stack", KERNEL_SAMPLE_STACK, NULL,
		"with --sample, find the callers of each sample in programs without frame "
		"pointers, too" },
	{ "kernel", KERNEL_GLOB, "GLOB",
		"record also events of the kernel, with their fields, and with --sched who woke a "
		"thread; GLOB matches SYSTEM:NAME or NAME; needs a privileged user; may be "
		"repeated" },
	{ "syscalls", KERNEL_SYSCALLS, "[=WHICH]",
		"the kernel also records system calls: of all processes (the default of WHICH), "
		"of none, or of unseen processes, which the library cannot enter, such as static "
		"programs; without this option: unseen if the program is one; needs a privileged "
		"user",
		OPTION_CHOICE, "all unseen none" },
	{ .rows = stack_rows },
	OPTION_END
};

/* Processes --sample. The kernel has another limit, perf_event_max_sample_rate. */
static bool take_sample(struct kernel_plan *plan, const char *text)
{
	uint64_t hz;

	if (!tool_number_within("--sample", text, 1, SAMPLE_HZ_MAX, &hz))
		return false;
	plan->sample_hz = (unsigned)hz;
	return true;
}

/* Processes --syscalls, whose argument may be absent. */
static bool take_syscalls(struct kernel_plan *plan, const char *which)
{
	if (!which || !strcmp(which, "all"))
		plan->calls = KERNEL_CALLS_ALL;
	else if (!strcmp(which, "unseen"))
		plan->calls = KERNEL_CALLS_UNSEEN;
	else if (!strcmp(which, "none"))
		plan->calls = KERNEL_CALLS_NONE;
	else
		say("--syscalls=%s: there are all, unseen and none%s", text_given(which),
		    nearest_among(which, strlen(which), "all, unseen and none"));
	return plan->calls != KERNEL_CALLS_AUTO;
}

int kernel_take_option(struct kernel_plan *plan, int option, const char *arg)
{
	switch (option) {
	case KERNEL_SCHED:
		plan->sched = true;
		plan->is_optional = arg && !strcmp(arg, "possible");
		if (!arg || plan->is_optional || !strcmp(arg, "needed"))
			return 1;
		say("--sched=%s: there are needed and possible%s", text_given(arg),
		    nearest_among(arg, strlen(arg), "needed and possible"));
		return -1;
	case KERNEL_SAMPLES:
		return take_sample(plan, arg) ? 1 : -1;
	case KERNEL_SAMPLE_STACK:
		plan->sample_stack = true;
		return 1;
	case KERNEL_SYSCALLS:
		return take_syscalls(plan, arg) ? 1 : -1;
	case KERNEL_GLOB:
		if (!vec_grow(&plan->glob, plan->globs, 1)) {
			say("--kernel: %s", strerror(ENOMEM));
			return -1;
		}
		plan->glob[plan->globs++] = arg;
		return 1;
	}
	return stack_take_option(&plan->stack, option, arg);
}
