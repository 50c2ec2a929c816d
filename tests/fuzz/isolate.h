/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz/isolate.h - an input in a process of its own, where nothing is left of the one before.
 *
 * The engine sees what it covers all the same: libFuzzer's counters are brought back, and those of
 * AFL++ are shared memory anyway.
 */
#ifndef PTX_TESTS_FUZZ_ISOLATE_H
#define PTX_TESTS_FUZZ_ISOLATE_H

#include <stdbool.h>

#include "fuzz/fuzz.h"

/* Far more than any input takes. */
#define ISOLATE_PATIENCE_S 60

/* Of this input several threads run at once, and barriers are needed. */
extern _Atomic bool fuzz_barriers;

/* A process that does not end by itself, and with 0, is a finding. */
void fuzz_isolated(void (*work)(const uint8_t *data, size_t size), const uint8_t *data,
		   size_t size);

#endif
