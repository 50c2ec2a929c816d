/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * explained.h - whether a schema describes all bytes of an event's data: the data has all fields
 * completely, has no bytes after the last field, and its texts are UTF-8. A format that prefers
 * fields to raw bytes calls explained(), because it may omit the raw bytes only if the fields have
 * all information.
 */
#ifndef POSIXTRACE_CONVERT_EXPLAINED_H
#define POSIXTRACE_CONVERT_EXPLAINED_H

#include <stdbool.h>
#include <trace_np.h>

/*
 * Returns true if the fields describe all of the data. *add_nul becomes true if the last field is a
 * str that lacks its NUL. If the strings of a format end with a NUL, its writer must add the NUL in
 * this case.
 */
bool explained(const struct posix_trace_schema_np *schema, const void *data, size_t len,
	       bool *add_nul);

#endif
