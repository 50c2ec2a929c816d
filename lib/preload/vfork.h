/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/vfork.h - whether this is a child of vfork(), which uses its parent's memory. */
#ifndef PTX_PRELOAD_VFORK_H
#define PTX_PRELOAD_VFORK_H

#include <stdbool.h>

/*
 * Stores of such a child are visible to its parent, but changes of its state in the kernel concern
 * the child alone.
 */
extern _Thread_local bool shim_is_vfork_child __attribute__((tls_model("initial-exec")));

#endif
