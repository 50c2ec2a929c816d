/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* in_kernel.h - samples that were taken while a thread executed code of the kernel. */
#ifndef POSIXTRACE_WHY_IN_KERNEL_H
#define POSIXTRACE_WHY_IN_KERNEL_H

#include "why/history.h"

/*
 * Returns whether the kernel handled a page fault that an instruction of the program caused. A page
 * fault inside a system call does not count, because it belongs to the system call.
 */
bool in_kernel_is_fault(const struct history *history, pid_t pid, const struct sample *sample);

/*
 * Writes the function that the kernel executed, and those that called it: "in the kernel: A <- B".
 * The address of the sample must be one of the kernel.
 */
void in_kernel_text(const struct history *history, pid_t pid, const struct sample *sample,
		    char *text, size_t size);

#endif
