/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_manifest.h - the elements of an EventSource's XML manifest (eventman.xsd), before they are
 * joined.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_MANIFEST_H
#define POSIXTRACE_CONVERT_ETW_ETW_MANIFEST_H

#include "convert/etw/etw_describe.h"

struct manifest_template {
	char *id;
	struct etw_layout *layout;
	char *map[ETW_FIELDS_MAX]; /* name of each field's map; NULL: none */
};

struct manifest_event {
	char *template, *name;
	unsigned id, version;
};

struct manifest_map_value {
	char *map;
	char *message;          /* the name of the value, or the id of a string with the name */
	bool is_id;
	uint32_t value;
	bool bits;
};

struct manifest_string {
	char *id, *text;
};

#define LIST(type, name) struct { type *at; size_t len; } name

/* The elements of a manifest in their order. */
struct manifest {
	char *provider;
	LIST(struct manifest_template *, templates);
	LIST(struct manifest_event, events);
	LIST(struct manifest_map_value, maps);
	LIST(struct manifest_string, strings);
};

/*
 * Adds the layouts of the events and the maps of the provider to the descriptions of the log. The
 * fields of an event come from its template. The names of values come from messages or strings.
 * Returns false if memory is lacking.
 */
bool etw_manifest_join(const struct manifest *manifest, struct etw_describe *describe,
		       const unsigned char guid[ETW_GUID_BYTES]);

#endif
