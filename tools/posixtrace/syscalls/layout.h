/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * layout.h - finds a member of a struct of the kernel that no event of the kernel contains.
 *
 * Threads  any.
 */
#ifndef POSIXTRACE_SYSCALLS_LAYOUT_H
#define POSIXTRACE_SYSCALLS_LAYOUT_H

/*
 * Returns the offset of the member "status" of struct thread_info, which is at the beginning of
 * struct task_struct. On x86-64 the member shows whether a call is a 32-bit call. The offset is in
 * the kernel's description of its types (BTF). Without this description, the kernel's version
 * determines the offset. Returns -1 if the offset is not known, and 0 on other processors, which do
 * not need it.
 */
int layout_status(void);

#endif
