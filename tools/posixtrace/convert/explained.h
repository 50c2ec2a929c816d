/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * explained.h - whether a schema's fields say all that the bytes of a payload are: it is not cut,
 * has nothing behind its last field, and its texts are UTF-8.
 */
#ifndef POSIXTRACE_CONVERT_EXPLAINED_H
#define POSIXTRACE_CONVERT_EXPLAINED_H

#include <stdbool.h>
#include <trace_np.h>

/* *add_nul: true if the last field is a str that lacks its NUL. */
bool explained(const struct posix_trace_schema_np *schema, const void *data, size_t len,
	       bool *add_nul);

#endif
