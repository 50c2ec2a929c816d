/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/self.h - what the shim knows of its process and thread without a system call.
 *
 * Signals   everything here is async-signal-safe.
 */
#ifndef PTX_PRELOAD_SELF_H
#define PTX_PRELOAD_SELF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/* When the program starts; in a child of fork(). */
void shim_self_begin(void);
void shim_self_forked(void);

/*
 * Of a child of vfork(), which has its parent's memory, its own id all the same; 0 if only a system
 * call would tell it and none may be made.
 */
pid_t shim_pid(void);

/* The process that forked this one, or 0. */
pid_t shim_parent(void);

/* A new child of vfork() runs in this thread. */
void shim_self_vforked(void);

/* A seccomp filter is installed, or about to be: no system call but the program's. */
extern atomic_bool shim_quiet;

static inline bool shim_is_quiet(void)
{
	return atomic_load_explicit(&shim_quiet, memory_order_relaxed);
}

/* This thread must not read the clock, and makes no events. */
extern _Thread_local bool shim_is_blind __attribute__((tls_model("initial-exec")));
void shim_blind(bool is_blind);

#endif
