/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_instance.h - the instances of the kernel's tracing (tracefs) that this tool makes.
 *
 * The name of an instance describes its owner: posixtrace-PID-START-SPACE has the process, its
 * start in clock ticks after boot, and its PID namespace. The owner removes the instance. If the
 * owner was killed, the next recording or doctor removes it; an instance whose owner may be alive
 * always remains.
 */
#ifndef POSIXTRACE_LIVE_KERNEL_INSTANCE_H
#define POSIXTRACE_LIVE_KERNEL_INSTANCE_H

#include <stdbool.h>

struct tracefs_instance;

/* The reasons why this process cannot use tracefs. */
enum kernel_refusal {
	KERNEL_REFUSAL_NONE,       /* it can */
	KERNEL_REFUSAL_BUILD,      /* the tool was built without libtracefs */
	KERNEL_REFUSAL_MOUNT,
	KERNEL_REFUSAL_PERMISSION,
	KERNEL_REFUSAL_READ_ONLY,
	KERNEL_REFUSAL_INSTANCES,  /* the kernel has no instances of tracefs */
	KERNEL_REFUSAL_NAMESPACE
};

/* Returns the reason in words, a constant, or NULL for KERNEL_REFUSAL_NONE. */
static inline const char *kernel_refusal_text(enum kernel_refusal refusal)
{
	static const char *const text[] = {
		[KERNEL_REFUSAL_BUILD] = "this build lacks libtracefs",
		[KERNEL_REFUSAL_MOUNT] = "it is not mounted",
		[KERNEL_REFUSAL_PERMISSION] = "no permission",
		[KERNEL_REFUSAL_READ_ONLY] = "it is read-only",
		[KERNEL_REFUSAL_INSTANCES] = "it has no instances",
		[KERNEL_REFUSAL_NAMESPACE] = "this is not the first PID namespace",
	};

	return text[refusal];
}

/* Returns why this process cannot use tracefs, or KERNEL_REFUSAL_NONE if it can. */
enum kernel_refusal kernel_instance_refusal(void);

/* Makes an instance of this process. Returns NULL, with errno, if the kernel refuses. */
struct tracefs_instance *kernel_instance_make(void);

struct kernel_swept {
	unsigned removed;  /* instances of processes that have ended */
	unsigned alive;    /* instances of processes that have not ended */
	/* instances whose owner this process cannot examine, or that the kernel did not remove */
	unsigned unknown;
};

/* Removes the instances whose owner has ended, and counts all. */
struct kernel_swept kernel_instance_sweep(void);

#endif
