/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/cursor/changed.h - logs for tests that change bytes, and their readers: they return events
 * that were written, or an error, and no others.
 */
#ifndef PTX_TESTS_UNIT_CURSOR_CHANGED_H
#define PTX_TESTS_UNIT_CURSOR_CHANGED_H

#include "unit/log/sample.h"

#define CHANGED_EVENTS 600

/* Three kinds, for tests that loop over them. */
extern const uint32_t changed_policies[3];

/*
 * The bytes of a complete log of CHANGED_EVENTS, of which LOOP has the last. The caller frees them.
 */
uint8_t *changed_log(uint32_t policy, size_t *size);

/* The offsets of the headers of all blocks. */
size_t changed_blocks(const uint8_t *bytes, size_t size, size_t *at, size_t max);

/* Checks that every event delivered is one that was put, in order; returns their number. */
unsigned changed_read(struct ptx_stored *stored);

/* Reads, salvages and checks it in every way; events are compared if they are known. */
void changed_use(int fd, bool events_are_known);

#endif
