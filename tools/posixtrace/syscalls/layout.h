/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * layout.h - where the kernel keeps a member that none of its events has.
 *
 * Threads  any.
 */
#ifndef POSIXTRACE_SYSCALLS_LAYOUT_H
#define POSIXTRACE_SYSCALLS_LAYOUT_H

/*
 * Returns the offset of the member "status" of struct thread_info, which is at the beginning of a
 * task. On x86-64 the member shows whether a call is a 32-bit call. The offset is in the kernel's
 * description of its types (BTF). If the kernel has no description, the offset is that of the
 * kernel's version. Returns -1 if the offset is not known, and 0 on other processors, which do not
 * need it.
 */
int layout_status(void);

#endif
