/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record/schema.h - parses the text that describes the payload of an event type.
 *
 * <trace_schema_np.h> has the grammar. The text is hostile: it may come from another process or a
 * file.
 *
 * Owner     the caller's memory; nothing is allocated.
 * Threads   no state; all functions may run concurrently.
 * Signals   async-signal-safe.
 */
#ifndef PTX_RECORD_SCHEMA_H
#define PTX_RECORD_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include <trace_np.h>

#define PTX_SCHEMA_BYTES (POSIX_TRACE_SCHEMA_MAX_NP + 1)

/*
 * A type of field as the text spells it. `size` is in bytes: 0 for str, and for bytes 4, the size
 * of the count that precedes the bytes.
 */
struct ptx_schema_type {
	const char *name;
	enum posix_trace_form_np form;
	unsigned size;
};

/* Returns the description of a type, or NULL if there is no such type. */
const struct ptx_schema_type *ptx_schema_type(enum posix_trace_type_np type);

/*
 * Makes *schema from `text` and returns NULL, or returns the reason, in English, why `text` is not
 * a schema. After a failure *schema must not be used. A schema points into itself: do not copy it.
 */
const char *ptx_schema_parse(const char *text, struct posix_trace_schema_np *schema);

/*
 * Like ptx_schema_parse(), for a struct of `size` bytes: in a program that was compiled with an
 * earlier version, the struct is smaller. If the struct lacks the member value_mask, the fields
 * have no masks. If the struct lacks the member `format`, the format is not stored.
 */
const char *ptx_schema_parse_sized(const char *text, struct posix_trace_schema_np *schema,
				   size_t size);

/*
 * Returns the reason why `text` is not a schema or why its fields need more than `room` bytes, or
 * NULL. An empty text has no fault: the event has no fields. The parsed schema takes 9 KiB of the
 * stack, which may be small in a thread or a signal handler.
 */
const char *ptx_schema_fault(const char *text, size_t room);

#endif
