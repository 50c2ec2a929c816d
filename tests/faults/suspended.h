/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * faults/suspended.h - the memory that the processes of a test share, while one of them is
 * suspended.
 */
#ifndef PTX_TESTS_SUSPENDED_H
#define PTX_TESTS_SUSPENDED_H

#include <stdatomic.h>
#include <stdint.h>
#include <trace.h>

extern struct shared {
	_Atomic uint64_t made, done; /* events that were begun, and events whose call has
				      * returned */
	_Atomic uint64_t read;
	_Atomic int end;
} *shared;

/* For tcase_add_checked_fixture(). */
void suspended_begin(void);
void suspended_end(void);

/* Records an event whose data is its number. */
void trace_next(trace_event_id_t id);

#endif
