/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * enter.h - decides how the calls of a running process are traced: by the preload library, or by
 * the kernel if the library cannot be loaded.
 */
#ifndef POSIXTRACE_LIVE_ENTER_H
#define POSIXTRACE_LIVE_ENTER_H

#include "inject/inject.h"
#include "live/capture.h"
#include "live/kernel.h"
#include "live/patch.h"

/*
 * Returns the first contradiction between the options that record and attach share, or NULL if
 * there is none. families are those of --trace, or NULL.
 */
const char *enter_contradiction(const struct capture_plan *plan,
				const struct kernel_plan *kernel,
				const struct patches *functions, const char *families);

/*
 * Loads the library into the process of the plan. If that is impossible, the kernel records the
 * system calls instead, on two conditions: the kernel permits the recording, and the plan has a log
 * without limit and no --loop. The function then prints that the kernel records, with the reason,
 * and completes the plan of the kernel. If the user selects functions, the kernel records these,
 * too, and functions->traps.is_forced is true afterwards. Returns TOOL_OK. Returns TOOL_FAILURE
 * after it printed an error; the process is then unchanged.
 */
int enter_process(struct inject *inject, const struct capture_plan *plan,
		  struct kernel_plan *kernel, struct patches *functions);

/*
 * If no option of the user decides it, decides whether the kernel records the system calls of a
 * program that the library cannot enter. Returns NULL if the kernel records them, or the reason why
 * not.
 */
const char *enter_by_kernel(const struct capture_plan *plan, struct kernel_plan *kernel);

/*
 * Stores in *traps the callback that decides whether the kernel may record functions.
 * enter_allow_traps() must be called before the functions are planned.
 */
void enter_allow_traps(const struct capture_plan *plan, struct traps *traps);

#endif
