/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * roles.h - the roles of an event type: the spans that it begins or ends, and the durations that it
 * contains.
 */
#ifndef POSIXTRACE_SPANS_ROLES_H
#define POSIXTRACE_SPANS_ROLES_H

#include "spans/pairing.h"

#define ROLE_CPU_FIELDS 2

struct role {
	struct role *next;
	struct series *series;
	/* POINT: the span is one event, which has a field with the duration */
	enum posix_trace_role_np phase;
	unsigned keys;                  /* number of key fields; 0: the thread is the key */
	unsigned key[POSIX_TRACE_KEYS_MAX_NP];
	/* if phase is POINT: index of the field with the duration */
	unsigned time;
	bool has_function;              /* the spans have the names of functions */
	/* if has_function: index of the field with the function's address */
	unsigned function;
	/* a call of a function is one event, which has the depth of the call */
	bool has_depth;
	unsigned depth;                 /* if has_depth: index of the field with the depth */
	unsigned cpu_fields;
	unsigned cpu[ROLE_CPU_FIELDS];
};

/* The roles of one event type. For a type without roles, role is NULL. */
struct pairing_type {
	struct role *role;
};

/*
 * Both functions return the first of the type's roles, or NULL if it has none. roles_find() makes
 * the list of roles when it is first called for a type.
 */
const struct role *roles_find(struct pairing *pairing, const struct log_type *type);
static inline const struct role *roles_of(struct pairing *pairing, const struct log_type *type)
{
	return type->listed && type->id < pairing->ids && pairing->by_id[type->id]
		       ? pairing->by_id[type->id]->role
		       : roles_find(pairing, type);
}

/*
 * Returns the series of the function with this name and creates it if necessary. Returns NULL if
 * there are too many series. If memory is lacking, it sets err and returns NULL. "of" is the series
 * of the role.
 */
struct series *roles_function(struct pairing *pairing, const struct series *of, const char *name);

/* Frees the roles and the options of --pair. */
void roles_fini(struct pairing *pairing);

#endif
