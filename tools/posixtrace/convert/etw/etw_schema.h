/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_schema.h - the text of a schema, to which the fields of a layout are added one by one. */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_SCHEMA_H
#define POSIXTRACE_CONVERT_ETW_ETW_SCHEMA_H

#include "convert/etw/etw_layout.h"

struct etw_schema {
	char *text;
	size_t used, room;
	unsigned map_names;     /* names of values so far */
	bool no_memory;         /* a field was not added, because memory is lacking */
};

/*
 * Adds "TYPE NAME" and the names of values. If a field of the schema already has the name, a number
 * is appended to the name of the new field. Names of values are omitted if they do not fit. If
 * there is no room or no memory, adds nothing and returns false.
 */
bool etw_schema_add(struct etw_schema *schema, const char *type, const char *name,
		    const struct etw_map *map);
/* Adds the text without a change. Returns false if there is no room. */
bool etw_schema_text(struct etw_schema *schema, const char *text);

#endif
