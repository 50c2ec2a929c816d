/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * frames.h - the callers of a stopped thread.
 *
 * A search of the stack for return addresses also finds those of calls that have returned, because
 * functions leave holes in their frames. This walk finds only calls that are active.
 */
#ifndef POSIXTRACE_INJECT_FRAMES_H
#define POSIXTRACE_INJECT_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/stop.h"
#include "inject/target.h"

#if defined __x86_64__
/*
 * Returns whether all callers of a stopped thread are known, up to the first function of the
 * thread, and "is_bad" is false for each of their return addresses. Returns false without libdw.
 */
bool frames_are_good(const struct target *target, const struct stopped *thread,
		     bool (*is_bad)(const struct target *target, uint64_t address));
#endif

#endif
