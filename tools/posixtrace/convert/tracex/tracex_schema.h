/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracex_schema.h - schemas of <trace_np.h> for the data of imported events. */
#ifndef POSIXTRACE_CONVERT_TRACEX_TRACEX_SCHEMA_H
#define POSIXTRACE_CONVERT_TRACEX_TRACEX_SCHEMA_H

#include "convert/tracex/tracex.h"

#define TRACEX_SCHEMA_BYTES 1024

/*
 * Each function stores a text in "schema", which has TRACEX_SCHEMA_BYTES bytes. "info" has four
 * texts that describe the fields of an entry; "" is for a field without a meaning. "items" is a
 * text that is added at the end.
 */
void tracex_schema_entry(const struct tracex *dump, const char *const info[4], const char *items,
			 char *schema);
void tracex_schema_header(const struct tracex *dump, char *schema);
void tracex_schema_slot(const struct tracex *dump, char *schema);

#endif
