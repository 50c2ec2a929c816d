/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * faults/suspended.h - what the processes of a test, of whom one is suspended, tell one another.
 */
#ifndef PTX_TESTS_SUSPENDED_H
#define PTX_TESTS_SUSPENDED_H

#include <stdatomic.h>
#include <stdint.h>
#include <trace.h>

extern struct shared {
	_Atomic uint64_t made, done; /* events that were begun, and that have returned */
	_Atomic uint64_t read;
	_Atomic int end;
} *shared;

/* For tcase_add_checked_fixture(). */
void suspended_begin(void);
void suspended_end(void);

/* An event whose data is its number. */
void trace_next(trace_event_id_t id);

#endif
