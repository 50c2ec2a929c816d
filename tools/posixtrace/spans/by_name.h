/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * by_name.h - pairs event types by their names. For example, an event X_begin begins a span named
 * X, and an event X_end ends it. by_name.c has the list of all pairs of endings.
 *
 * The rule applies only to types whose schemas say nothing about spans: they have no @begin, no
 * @end and no field with a duration. Both types of a pair must exist. The rule does not apply to
 * types of ETW's classes. There the number of a type shows whether the type begins or ends a span.
 * Types such as dc_start and dc_end would match by name, but they only list existing objects.
 */
#ifndef POSIXTRACE_SPANS_BY_NAME_H
#define POSIXTRACE_SPANS_BY_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <trace_np.h>

/*
 * Returns true if a type has this name and the rule applies to it. name has no NUL at its
 * end.
 */
typedef bool by_name_find(void *arg, const char *name, size_t len);

/*
 * Returns the role of a type with this name: POINT, BEGIN or END. For BEGIN and END, it stores in
 * *stem the length of the span's name, which is the beginning of the type's name.
 */
enum posix_trace_role_np by_name(const char *name, size_t len, by_name_find *find, void *arg,
				 size_t *stem);

/* Calls visit for each name that could be the partner of this name. */
void by_name_partners(const char *name, size_t len,
		      void (*visit)(void *arg, const char *name, size_t len), void *arg);

/* Returns true if the rule applies to a type with this number and schema. schema may be NULL. */
bool by_name_applies(trace_event_id_t id, const struct posix_trace_schema_np *schema);

#endif
