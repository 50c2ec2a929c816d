/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/schema.h - the text that says what the payload of an event type means.
 *
 * <trace_schema_np.h> has the grammar. The text is hostile: it may come from another process or a
 * file.
 *
 * Owner     the caller's memory; nothing is allocated.
 * Threads   no state. Async-signal-safe.
 */
#ifndef PTX_RECORD_SCHEMA_H
#define PTX_RECORD_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include <trace_np.h>

#define PTX_SCHEMA_BYTES (POSIX_TRACE_SCHEMA_MAX_NP + 1)

struct ptx_schema_type {
	const char *name;
	enum posix_trace_form_np form;
	unsigned size;
};

/* NULL: no such type. */
const struct ptx_schema_type *ptx_schema_type(enum posix_trace_type_np type);

/* NULL when *schema is ready, else why text is no schema, in English. */
const char *ptx_schema_parse(const char *text, struct posix_trace_schema_np *schema);

#endif
