/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_layout.h - the fields of an ETW payload, and the decoding of a payload by them.
 *
 * A layout comes from one of four sources: the TraceLogging item of a record, a TRACE_EVENT_INFO
 * that a merge has put into the log, the manifest that an EventSource has written, or the table of
 * the kernel's public classes. The decoded data has a schema for posix_trace_schema_parse_np().
 * Integers keep their size, except that pointers become x64 and SIZE_T becomes u64. Texts become
 * UTF-8 with a NUL.
 *
 * Input     Layouts and payloads are hostile: every index and length is checked before its use.
 * Memory    A layout has at most ETW_FIELDS_MAX fields. The member "most" of struct etw_decoding
 *           limits a decoded payload.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_LAYOUT_H
#define POSIXTRACE_CONVERT_ETW_ETW_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "convert/etw/etw_text.h"

#define ETW_FIELDS_MAX 1024
#define ETW_DEPTH_MAX 8
#define ETW_FIELD_NAME_MAX 63 /* bytes of the name of a field or a value; a schema has no more */

/* The in-types of TDH (tdh.h). The in-types of TraceLogging have the same numbers. */
enum etw_in {
	ETW_IN_NULL, ETW_IN_UTF16, ETW_IN_ANSI, ETW_IN_S8, ETW_IN_U8, ETW_IN_S16, ETW_IN_U16,
	ETW_IN_S32, ETW_IN_U32, ETW_IN_S64, ETW_IN_U64, ETW_IN_FLOAT, ETW_IN_DOUBLE, ETW_IN_BOOL32,
	ETW_IN_BINARY, ETW_IN_GUID, ETW_IN_POINTER, ETW_IN_FILETIME, ETW_IN_SYSTEMTIME, ETW_IN_SID,
	ETW_IN_HEX32, ETW_IN_HEX64, ETW_IN_COUNTED_UTF16, ETW_IN_COUNTED_ANSI, ETW_IN_STRUCT,
	ETW_IN_COUNTED_BINARY,
	ETW_IN_COUNTED_UTF16_OLD = 300, ETW_IN_COUNTED_ANSI_OLD, ETW_IN_REVERSED_UTF16,
	ETW_IN_REVERSED_ANSI, ETW_IN_REST_UTF16, ETW_IN_REST_ANSI, ETW_IN_UTF16_CHAR,
	ETW_IN_ANSI_CHAR, ETW_IN_SIZE, ETW_IN_HEXDUMP, ETW_IN_WBEM_SID
};

enum etw_out {
	ETW_OUT_DEFAULT, ETW_OUT_STRING, ETW_OUT_BOOL = 13, ETW_OUT_HEX_BINARY = 15,
	ETW_OUT_HEX8 = 16, ETW_OUT_HEX64 = 19, ETW_OUT_PORT = 22, ETW_OUT_IPV4 = 23,
	ETW_OUT_IPV6 = 24, ETW_OUT_SOCKET_ADDRESS = 25, ETW_OUT_WIN32_ERROR = 30,
	ETW_OUT_NTSTATUS = 31, ETW_OUT_HRESULT = 32, ETW_OUT_CODE_POINTER = 37
};

/* Where the count of the elements of a field, or the length of one element, comes from. */
enum etw_rule {
	ETW_RULE_NONE,          /* one element, with the length of the type */
	ETW_RULE_FIXED,         /* a constant */
	ETW_RULE_FIELD,         /* the value of the earlier field that has this index */
	ETW_RULE_PREFIX,        /* a u16 before the elements or bytes */
	ETW_RULE_REST           /* up to the end of the payload */
};

struct etw_map_entry {
	uint32_t value;
	char *name;
};

struct etw_map {
	bool bits;
	size_t entries;
	struct etw_map_entry *entry;
	struct etw_map_entry **sorted; /* pointers to the entries, sorted by value */
};

struct etw_field {
	char *name;
	unsigned in, out;
	enum etw_rule count_rule, length_rule;
	unsigned count, length; /* a constant or the index of a field, depending on the rule */
	unsigned first, members; /* for a struct: index of the first member, number of members */
	unsigned next;          /* index of the next field; skips the members of a struct */
	const struct etw_map *map; /* names of values; NULL: none; not freed with the layout */
};

struct etw_layout {
	char *provider, *event; /* names in UTF-8; NULL: not known */
	/* number of all fields, and number of the fields outside of structs */
	unsigned fields, top;
	struct etw_field *field;
};

/*
 * etw_layout_new() returns a layout without fields, or NULL if memory is lacking. etw_layout_free()
 * frees it with its names and fields, but not the maps of its fields; it accepts NULL.
 */
struct etw_layout *etw_layout_new(void);
void etw_layout_free(struct etw_layout *layout);
/*
 * Adds a field. All members of the new field are zero except its name, which is a copy. Returns
 * NULL if memory is lacking, or if there are too many fields.
 */
struct etw_field *etw_layout_add(struct etw_layout *layout, const char *name, size_t len);

/*
 * etw_map_free() frees a map with its names; it accepts NULL. etw_map_add() copies the name, and
 * returns false if memory is lacking.
 */
void etw_map_free(struct etw_map *map);
bool etw_map_add(struct etw_map *map, uint32_t value, const char *name);
/*
 * Must be called after the last etw_map_add() and before the first etw_map_name(). Returns false if
 * memory is lacking.
 */
bool etw_map_sort(struct etw_map *map);
/* Returns the name that was added first for the value, or NULL. */
const char *etw_map_name(const struct etw_map *map, uint64_t value);

/* ---- decoding */

/*
 * Appends the fields to the schema's text, which has space for "room" bytes. At most "columns"
 * fields become columns of the schema. If a field does not fit, this field and all later fields
 * become one text field "more". Returns the number of columns without "more", -1 for a
 * contradictory layout, or ETW_SCHEMA_NO_MEMORY. Sets *more if the schema has "more".
 */
#define ETW_SCHEMA_NO_MEMORY (-2)
int etw_layout_schema(const struct etw_layout *layout, char *schema, size_t room,
		      unsigned columns, bool *more);

/* A payload, and the place for its decoded form. */
struct etw_decoding {
	const unsigned char *payload;
	size_t size;
	unsigned pointer_bytes;
	size_t most;            /* greatest number of bytes of *to after decoding */
	struct etw_bytes *to;
};

enum etw_decoded {
	ETW_DECODED,
	ETW_CONTRADICTS,        /* the payload is too short for the layout, or contradicts it */
	ETW_TOO_LONG,           /* the decoded form has more than "most" bytes */
	ETW_NO_MEMORY
};

/*
 * Appends the decoded payload. "columns" and "more" come from etw_layout_schema(), so that the data
 * agrees with the schema. After a failure the appended bytes have no meaning.
 */
enum etw_decoded etw_layout_decode(const struct etw_layout *layout,
				   const struct etw_decoding *decoding, unsigned columns,
				   bool more);

/* Appends the payload as text: NAME=VALUE for each field, with a blank between them. */
enum etw_decoded etw_layout_text(const struct etw_layout *layout,
				 const struct etw_decoding *decoding);

#endif
