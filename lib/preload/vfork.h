/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/vfork.h - whether this process is a child of vfork(), which uses its parent's memory. */
#ifndef PTX_PRELOAD_VFORK_H
#define PTX_PRELOAD_VFORK_H

#include <stdbool.h>

/*
 * The parent sees stores of such a child. But if the child changes its state in the kernel, the
 * parent's state does not change.
 */
extern _Thread_local bool shim_is_vfork_child __attribute__((tls_model("initial-exec")));

#endif
