/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * roles.h - what an event type does: which spans it begins and ends, and how long it says they
 * took.
 */
#ifndef POSIXTRACE_SPANS_ROLES_H
#define POSIXTRACE_SPANS_ROLES_H

#include "spans/pairing.h"

#define ROLE_CPU_FIELDS 2

struct role {
	struct role *next;
	struct series *series;
	enum posix_trace_role_np phase; /* POINT: the type has a field that says how long */
	unsigned keys;                  /* 0: the thread */
	unsigned key[POSIX_TRACE_KEYS_MAX_NP];
	unsigned time;
	unsigned cpu_fields;
	unsigned cpu[ROLE_CPU_FIELDS];
};

/* NULL: none. */
const struct role *roles_of(struct pairing *pairing, const struct log_type *type);

void roles_fini(struct pairing *pairing);

#endif
