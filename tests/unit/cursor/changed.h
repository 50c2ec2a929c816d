/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unit/cursor/changed.h - logs for tests that change bytes, and readers of these logs. A reader
 * gets only events that were written, or an error.
 */
#ifndef PTX_TESTS_UNIT_CURSOR_CHANGED_H
#define PTX_TESTS_UNIT_CURSOR_CHANGED_H

#include "unit/log/sample.h"

#define CHANGED_EVENTS 600

/* The log-full policies, for tests that loop over them. */
extern const uint32_t changed_policies[3];

/*
 * Returns the bytes of a complete log of CHANGED_EVENTS events. A LOOP log has only the last of
 * these events. The caller frees the bytes.
 */
uint8_t *changed_log(uint32_t policy, size_t *size);

/* Stores the offsets of the headers of all blocks, and returns their number. */
size_t changed_blocks(const uint8_t *bytes, size_t size, size_t *at, size_t max);

/*
 * Checks that every delivered event is an event that was put, and that the events are in order.
 * Returns their number.
 */
unsigned changed_read(struct ptx_stored *stored);

/*
 * Reads, salvages and checks the log in every way. If `events_are_known` is true, compares the
 * events with those that were put.
 */
void changed_use(int fd, bool events_are_known);

#endif
