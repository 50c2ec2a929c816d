/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_schema.h - the text of a schema that grows by the fields of a layout. */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_SCHEMA_H
#define POSIXTRACE_CONVERT_ETW_ETW_SCHEMA_H

#include "convert/etw/etw_layout.h"

struct etw_schema {
	char *text;
	size_t used, room;
	unsigned map_names;     /* of values, so far */
};

/*
 * Adds "TYPE NAME" and the names of values. False: there is no room, and nothing is added. A name
 * that the schema has already gets a number; names of values are left out where they do not fit.
 */
bool etw_schema_add(struct etw_schema *schema, const char *type, const char *name,
		    const struct etw_map *map);
/* Adds the text as it is, or false. */
bool etw_schema_text(struct etw_schema *schema, const char *text);

#endif
