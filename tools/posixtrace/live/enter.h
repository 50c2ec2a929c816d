/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * enter.h - the way in which the calls of a running process are traced: by the preload library, or
 * by the kernel if the library cannot be loaded.
 */
#ifndef POSIXTRACE_LIVE_ENTER_H
#define POSIXTRACE_LIVE_ENTER_H

#include "inject/inject.h"
#include "live/capture.h"
#include "live/kernel.h"
#include "live/patch.h"

/*
 * Loads the library into the process of the plan. If that is impossible, the log grows, and the
 * kernel permits it, plans that the kernel records the system calls, and prints that with the
 * reason. Completes the plan of the kernel. functions: the kernel then records these, too, if the
 * user selects any; traps.is_forced says so afterwards.
 * Returns TOOL_OK, or TOOL_FAILURE after it printed the error; the process is unchanged then.
 */
int enter_process(struct inject *inject, const struct capture_plan *plan,
		  struct kernel_plan *kernel, struct patches *functions);

/*
 * Decides whether the kernel records the system calls of a program that the library cannot enter,
 * if the user did not. Returns NULL if it does, or the reason why not.
 */
const char *enter_by_kernel(const struct capture_plan *plan, struct kernel_plan *kernel);

/*
 * Notes in the plan who decides whether the kernel may record functions. To be called before the
 * functions are planned.
 */
void enter_allow_traps(const struct capture_plan *plan, struct traps *traps);

#endif
