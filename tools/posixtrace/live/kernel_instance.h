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

/*
 * Finds out whether this process may use tracefs. Returns NULL, or the reason why not. The text is
 * a constant.
 */
const char *kernel_instance_refusal(void);

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
