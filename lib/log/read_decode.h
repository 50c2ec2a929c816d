/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_decode.h - from the bytes of FORMAT to memory, without any I/O.
 *
 * Bytes and a length go in; the bytes are hostile until a function here called them good. They
 * are 8-byte aligned and must not change meanwhile: a copy, never a mapping of the file. Each
 * function that finds fault says why in English.
 *
 * Owner     the caller's memory throughout.
 * Threads   no state.
 */
#ifndef PTX_LOG_READ_DECODE_H
#define PTX_LOG_READ_DECODE_H

#include "log/format.h"

enum ptx_log_verdict {
	PTX_LOG_GOOD,
	PTX_LOG_SHORT,    /* the bytes end too early */
	PTX_LOG_NO_MAGIC, /* this is something else */
	PTX_LOG_DAMAGED,  /* the checksum is wrong */
	PTX_LOG_WRONG,    /* checksum right, meaning impossible, or not ours to read */
	PTX_LOG_FOREIGN   /* a block of another log */
};

/* H1 to H6. Of a damaged header (H3) the bytes are in *header as they are. */
enum ptx_log_verdict ptx_log_decode_header(const void *bytes, size_t len,
					   struct ptx_log_header *header, const char **why);

/* H5. */
const char *ptx_log_check_areas(const struct ptx_log_header *header);

/*
 * Makes a damaged header one that can be used: what is impossible in it, and what is always the
 * same, is replaced. Its log_id, arrangement and areas must be right.
 */
void ptx_log_repair_header(struct ptx_log_header *header);

/* Its state is one of the three, and its checksum right. */
bool ptx_log_closing_is_valid(const struct ptx_log_closing *closing);

void ptx_log_decode_facts(const struct ptx_log_header *header, struct ptx_log_facts *facts);

/* B1 to B5, but for where the file ends. */
enum ptx_log_verdict ptx_log_decode_block(const void *bytes, size_t len, uint64_t log_id,
					  struct ptx_log_block *block, const char **why);

/* B6 and B7 of a whole payload, but for a packed block only B6 and lengths: NULL when it is good.
 * Unknown types are good. */
const char *ptx_log_check_payload(const struct ptx_log_block *block, const void *payload);

/* Likewise of SCHEMAS and OBJECTS: read_lists.c. */
const char *ptx_log_check_schemas(const struct ptx_log_block *block, const void *payload);
const char *ptx_log_check_objects(const struct ptx_log_block *block, const void *payload);
const char *ptx_log_check_mappings(const struct ptx_log_block *block, const void *payload);

/* What a reader can do without: padding, and that some record has time_min and time_max. A packed
 * block has been unpacked. */
const char *ptx_log_check_strictly(const struct ptx_log_block *block, const void *payload);

/* What a record in a DATA block may be, but for its time and place: NULL when it may. */
const char *ptx_log_check_kind(const struct ptx_log_block *block, uint32_t len_flags, unsigned type,
			       unsigned source);

/* Which event types have a name, and those; one may be empty. */
struct ptx_log_known {
	uint64_t set[PTX_TYPE_MAX / 64];
	char name[PTX_TYPE_MAX][PTX_TYPE_NAME_BYTES];
};

/* Of a NAMES payload that was found good: adds its names. */
void ptx_log_decode_names(const struct ptx_log_block *block, const void *payload,
			  struct ptx_log_known *known);

/*
 * An entry of a SCHEMAS payload that was found good: its text, NULL if it cannot be one; the next.
 */
const char *ptx_log_schema_text(const struct ptx_log_schema *entry);
const struct ptx_log_schema *ptx_log_schema_next(const struct ptx_log_schema *entry);

/* Of a MAPPINGS payload that was found good: the next entry; what is wrong with one, or NULL. */
const struct ptx_log_mapping *ptx_log_mapping_next(const struct ptx_log_mapping *entry);
const char *ptx_log_check_mapping(const struct ptx_log_mapping *entry);

/*
 * What types mean and things are called, and what was mapped, as far as a reader wants to know it.
 */
#define PTX_LOG_OBJECTS_MAX 65536u
struct ptx_read_lists {
	char *schema[PTX_TYPE_MAX];
	struct ptx_object *object;
	size_t objects;
	struct ptx_mappings mappings;
};

/* Of SCHEMAS, OBJECTS and MAPPINGS payloads that were found good: adds what they have. ENOMEM. */
int ptx_log_decode_schemas(const struct ptx_log_block *block, const void *payload,
			   struct ptx_read_lists *said);
int ptx_log_decode_objects(const struct ptx_log_block *block, const void *payload,
			   struct ptx_read_lists *said);
int ptx_log_decode_mappings(const struct ptx_log_block *block, const void *payload,
			    struct ptx_read_lists *said);
void ptx_read_lists_fini(struct ptx_read_lists *said);

/* Of a LEDGER payload that was found good. ENOMEM. */
int ptx_log_decode_ledger(const struct ptx_log_block *block, const void *payload,
			  struct ptx_ledger *ledger);

#endif
