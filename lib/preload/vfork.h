/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/vfork.h - whether this is a child that borrows its parent's memory. */
#ifndef PTX_PRELOAD_VFORK_H
#define PTX_PRELOAD_VFORK_H

#include <stdbool.h>

/* What it changes in memory, its parent finds; what it changes in the kernel is its own. */
extern _Thread_local bool shim_is_vfork_child __attribute__((tls_model("initial-exec")));

#endif
