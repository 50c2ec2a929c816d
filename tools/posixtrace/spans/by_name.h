/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * by_name.h - pairs event types by their names: X_begin begins and X_end ends a span named X, and
 * so do the other pairs of endings in by_name.c.
 *
 * The rule applies only to types without a better description: they have no @begin or @end and no
 * field with a duration. Both types of a pair must exist. The rule does not apply to types of ETW's
 * classes: their numbers define begins and ends, and types such as dc_start and dc_end only list
 * existing objects.
 */
#ifndef POSIXTRACE_SPANS_BY_NAME_H
#define POSIXTRACE_SPANS_BY_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <trace_np.h>

/*
 * Returns true if a type with this name exists to which the rule applies. name has no NUL at its
 * end.
 */
typedef bool by_name_find(void *arg, const char *name, size_t len);

/*
 * Returns the role of a type with this name: POINT, BEGIN or END. For BEGIN and END, *stem is the
 * length of the span's name.
 */
enum posix_trace_role_np by_name(const char *name, size_t len, by_name_find *find, void *arg,
				 size_t *stem);

/* Calls visit for each name that would be the partner of this name. */
void by_name_partners(const char *name, size_t len,
		      void (*visit)(void *arg, const char *name, size_t len), void *arg);

/* Returns true if the rule applies to a type with this number and schema. schema may be NULL. */
bool by_name_applies(trace_event_id_t id, const struct posix_trace_schema_np *schema);

#endif
