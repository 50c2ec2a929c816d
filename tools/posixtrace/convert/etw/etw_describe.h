/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_describe.h - descriptions of payloads that a log carries itself, and the built-in ones.
 *
 * The scan of a file hands each record to etw_describe_take(), since descriptions may come behind
 * the events that they describe; etw_describe_find() then answers for each event.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_DESCRIBE_H
#define POSIXTRACE_CONVERT_ETW_ETW_DESCRIBE_H

#include "convert/etw/etw.h"
#include "convert/etw/etw_layout.h"

struct etw_describe;

struct etw_describe *etw_describe_new(void);
void etw_describe_free(struct etw_describe *describe);

/*
 * Keeps what the record describes, if it is a description. A damaged one is reported and dropped.
 * False: no memory.
 */
bool etw_describe_take(struct etw_describe *describe, const struct etw_record *record,
		       struct findings *findings);
/* After the last record: parses manifests and joins fields with the maps of their values. */
bool etw_describe_end(struct etw_describe *describe, struct findings *findings);

/* The layout that the log has for an event of a provider; NULL: none. */
const struct etw_layout *etw_describe_find(const struct etw_describe *describe,
					   const struct etw_record *record);

/* ---- for the readers of descriptions */

/* Characters, or bytes, that are kept of a name in a description. */
#define ETW_NAME_CHARS 255

/* Whether there is no room for one more layout, of that many fields. */
bool etw_describe_is_full(const struct etw_describe *describe, unsigned fields);
/* Takes over the layout, replaces none; false: no memory, the layout is freed. */
bool etw_describe_add(struct etw_describe *describe, const unsigned char guid[ETW_GUID_BYTES],
		      unsigned id, unsigned version, struct etw_layout *layout);
/* Frees a layout that is not added, and forgets the maps that its fields use. */
void etw_describe_drop(struct etw_describe *describe, struct etw_layout *layout);
/* Keeps the map for its provider; the map of a name may come later than fields that use it. */
bool etw_describe_map(struct etw_describe *describe, const unsigned char guid[ETW_GUID_BYTES],
		      const char *name, struct etw_map *map);
/* Remembers that the field's values are named by the map of that name. */
bool etw_describe_use_map(struct etw_describe *describe, const unsigned char guid[ETW_GUID_BYTES],
			  struct etw_layout *layout, unsigned field, const char *name);

/* From the TraceLogging item of a record. NULL: it has none, or *damaged is true. */
struct etw_layout *etw_tracelogging(const struct etw_record *record, bool *damaged);

/* TRACE_EVENT_INFO and EVENT_MAP_INFO. False: *why says the fault, or is NULL without memory. */
bool etw_event_info(struct etw_describe *describe, const unsigned char *p, size_t size,
		    const char **why);
bool etw_map_info(struct etw_describe *describe, const unsigned char *p, size_t size,
		  const char **why);

/* The XML manifest of an EventSource. Without expat there is no such function. */
bool etw_manifest(struct etw_describe *describe, const unsigned char guid[ETW_GUID_BYTES],
		  const char *text, size_t size, const char **why);

/* The layout of a public class of the kernel; NULL: none, or no memory. The caller frees it. */
struct etw_layout *etw_kernel_layout(const char *class, unsigned type, unsigned version);
/* "cswitch" and the like; NULL: it has only its number. */
const char *etw_kernel_type_name(const char *class, unsigned type);

enum etw_role { ETW_ROLE_NONE, ETW_ROLE_BEGIN, ETW_ROLE_END };

/*
 * Events of some classes begin and end a process, a thread or an image. They name it in their
 * payload; the thread that logs them can be another. Returns the names of these fields, with commas
 * between, and the role of the type; NULL: a class whose events begin and end what their own thread
 * does.
 */
const char *etw_kernel_key(const char *class, unsigned type, enum etw_role *role);
/* A number at a fixed place of the payload; false: it has none of that name, or is too short. */
bool etw_kernel_value(const struct etw_layout *layout, const char *name, size_t len,
		      unsigned pointer_bytes, const unsigned char *payload, size_t size,
		      uint64_t *value);

#endif
