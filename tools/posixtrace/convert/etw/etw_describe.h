/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_describe.h - descriptions of payloads: from the log itself, and built-in.
 *
 * A description may follow the events that it describes. Therefore the scan of a file first passes
 * every event to etw_describe_take(). Afterwards etw_describe_find() returns the layout that the
 * log contains for an event.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_DESCRIBE_H
#define POSIXTRACE_CONVERT_ETW_ETW_DESCRIBE_H

#include "convert/etw/etw.h"
#include "convert/etw/etw_layout.h"

struct etw_describe;

/*
 * etw_describe_new() returns a set without descriptions, or NULL if memory is lacking.
 * etw_describe_free() also frees the layouts that etw_describe_find() has returned; it accepts
 * NULL.
 */
struct etw_describe *etw_describe_new(void);
void etw_describe_free(struct etw_describe *describe);

/*
 * If the record is a description, keeps the description. A damaged description is reported and
 * dropped. Returns false if memory is lacking.
 */
bool etw_describe_take(struct etw_describe *describe, const struct etw_record *record,
		       struct findings *findings);
/*
 * Must be called after the last record. Parses manifests, and connects fields with the maps of
 * their values. Returns false if memory is lacking.
 */
bool etw_describe_end(struct etw_describe *describe, struct findings *findings);

/* Returns the layout from the log for an event of a provider, or NULL. */
const struct etw_layout *etw_describe_find(const struct etw_describe *describe,
					   const struct etw_record *record);

/* ---- for the readers of descriptions */

/*
 * The greatest length of a name that is kept from a description, in units of UTF-16 or in bytes of
 * UTF-8.
 */
#define ETW_NAME_CHARS 255

/* Returns whether a further layout with this number of fields would exceed a limit. */
bool etw_describe_is_full(const struct etw_describe *describe, unsigned fields);
/*
 * Adds the layout and becomes its owner. If the event has a layout already, or if the new layout
 * would exceed a limit, the function frees the new layout and returns true. If memory is lacking,
 * frees the new layout and returns false.
 */
bool etw_describe_add(struct etw_describe *describe, const unsigned char guid[ETW_GUID_BYTES],
		      unsigned id, unsigned version, struct etw_layout *layout);
/* Frees a layout that was not added, and removes the layout's uses of maps. */
void etw_describe_drop(struct etw_describe *describe, struct etw_layout *layout);
/*
 * Adds a map of a provider and becomes the owner of the map. Fields may use the name before the map
 * is added. Returns false if memory is lacking.
 */
bool etw_describe_map(struct etw_describe *describe, const unsigned char guid[ETW_GUID_BYTES],
		      const char *name, struct etw_map *map);
/*
 * Notes that the map with this name has the names of the field's values. Returns false if memory is
 * lacking.
 */
bool etw_describe_use_map(struct etw_describe *describe, const unsigned char guid[ETW_GUID_BYTES],
			  struct etw_layout *layout, unsigned field, const char *name);

/*
 * Stores the layout that the TraceLogging item of a record describes. The caller frees the layout.
 * *layout becomes NULL if the record has no such item. If the item has a fault, *layout becomes
 * NULL and *damaged becomes true. Returns false if memory is lacking.
 */
bool etw_tracelogging(const struct etw_record *record, struct etw_layout **layout, bool *damaged);

/*
 * These functions read TRACE_EVENT_INFO and EVENT_MAP_INFO. After a failure they return false, and
 * *why is the fault, or NULL if memory is lacking.
 */
bool etw_event_info(struct etw_describe *describe, const unsigned char *p, size_t size,
		    const char **why);
bool etw_map_info(struct etw_describe *describe, const unsigned char *p, size_t size,
		  const char **why);

/*
 * Reads the XML manifest of an EventSource. This function exists only in a build with expat.
 * Returns false after a failure, with *why as for etw_event_info().
 */
bool etw_manifest(struct etw_describe *describe, const unsigned char guid[ETW_GUID_BYTES],
		  const char *text, size_t size, const char **why);

/*
 * Stores the layout of a type of a public class of the kernel. The caller frees the layout. *layout
 * becomes NULL if there is no such layout. Returns false if memory is lacking.
 */
bool etw_kernel_layout(const char *class, unsigned type, unsigned version,
		       struct etw_layout **layout);
/* Returns the name of a type, such as "cswitch", or NULL for a type that has only a number. */
const char *etw_kernel_type_name(const char *class, unsigned type);

enum etw_role { ETW_ROLE_NONE, ETW_ROLE_BEGIN, ETW_ROLE_END };

/*
 * Returns the key of a span of the kernel. In some classes, one event begins a process, a thread or
 * an image (the subject), and another event ends it. Different threads may log these two events,
 * but the payloads of both have the subject. For such a class, returns the names of the fields that
 * identify the subject, with commas between them, and sets *role to the role of the type. Returns
 * NULL for a class whose events belong to the thread that logs them.
 */
const char *etw_kernel_key(const char *class, unsigned type, enum etw_role *role);
/*
 * Reads the field "name", which is a number at a fixed place of the payload. "name" has "len"
 * bytes. Returns false if there is no such field, if its place is not fixed, or if the payload is
 * too short.
 */
bool etw_kernel_value(const struct etw_layout *layout, const char *name, size_t len,
		      unsigned pointer_bytes, const unsigned char *payload, size_t size,
		      uint64_t *value);

#endif
