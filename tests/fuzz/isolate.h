/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/isolate.h - runs an input in a process of its own, without any state of the previous input.
 *
 * The engine still sees the covered code: libFuzzer's counters are copied back, and those of AFL++
 * are in shared memory.
 */
#ifndef PTX_TESTS_FUZZ_ISOLATE_H
#define PTX_TESTS_FUZZ_ISOLATE_H

#include <stdbool.h>

#include "fuzz/fuzz.h"

/* Far more than any input needs. */
#define ISOLATE_PATIENCE_S 60

/* In this input several threads run at the same time, so barriers are necessary. */
extern _Atomic bool fuzz_barriers;

/* It is a finding if the process does not exit by itself with 0. */
void fuzz_isolated(void (*work)(const uint8_t *data, size_t size), const uint8_t *data,
		   size_t size);

#endif
