/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * by_name.h - event types that begin and end a span because of their names: X_begin and X_end, and
 * the other pairs of endings in by_name.c, are a span called X.
 *
 * The rule applies only to types that say nothing better of themselves: no @begin or @end, and no
 * field that says how long something took. Both types of a pair must be there. It does not apply to
 * types of ETW's classes either: their numbers say which begin and which end, and those that are
 * called dc_start and dc_end, for example, only list what exists.
 */
#ifndef POSIXTRACE_SPANS_BY_NAME_H
#define POSIXTRACE_SPANS_BY_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <trace_np.h>

/* Whether there is a type of that name to which the rule applies. */
typedef bool by_name_find(void *arg, const char *name, size_t len);

/*
 * What a type of that name does: POINT, BEGIN or END; stem is then the length of the span's name.
 */
enum posix_trace_role_np by_name(const char *name, size_t len, by_name_find *find, void *arg,
				 size_t *stem);

/* Calls visit for the name of each type that a type of that name makes a pair with. */
void by_name_partners(const char *name, size_t len,
		      void (*visit)(void *arg, const char *name, size_t len), void *arg);

/* Whether the rule applies to a type with that number and schema, which may be NULL. */
bool by_name_applies(trace_event_id_t id, const struct posix_trace_schema_np *schema);

#endif
