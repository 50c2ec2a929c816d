/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/cursor/changed.h - logs in which something is to be changed, and readers of them: they find
 * what was written, or an error, and never more.
 */
#ifndef PTX_TESTS_UNIT_CURSOR_CHANGED_H
#define PTX_TESTS_UNIT_CURSOR_CHANGED_H

#include "unit/log/sample.h"

#define CHANGED_EVENTS 600

/* Three kinds, for tests that are a loop over them. */
extern const uint32_t changed_policies[3];

/* The bytes of a whole log of CHANGED_EVENTS, of which LOOP has the last. The caller frees them. */
uint8_t *changed_log(uint32_t policy, size_t *size);

/* Where the headers of all blocks are. */
size_t changed_blocks(const uint8_t *bytes, size_t size, size_t *at, size_t max);

/* Every event delivered is one that was put, in order; how many. */
unsigned changed_read(struct ptx_stored *stored);

/* Reads, salvages and checks it in every way; events are compared if they are known. */
void changed_use(int fd, bool events_are_known);

#endif
