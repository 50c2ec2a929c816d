/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/read_decode.h - converts the bytes of FORMAT to memory, without any I/O.
 *
 * The bytes are hostile until a function of this header has accepted them. The bytes must be 8-byte
 * aligned, and must not change during and after the check. So a caller passes a private copy, and
 * never a mapping of the file. Rules such as B5 are those of log/FORMAT. A function that checks a
 * header or a block gives the reason of a rejection as an English text, for a message.
 *
 * Owner     the caller's memory throughout.
 * Threads   no state: any thread may call.
 */
#ifndef PTX_LOG_READ_DECODE_H
#define PTX_LOG_READ_DECODE_H

#include "log/format.h"

enum ptx_log_verdict {
	PTX_LOG_GOOD,
	PTX_LOG_SHORT,    /* the bytes end too early */
	PTX_LOG_NO_MAGIC, /* something else than a log or a block */
	PTX_LOG_DAMAGED,  /* a checksum or a length is wrong */
	PTX_LOG_WRONG,    /* the checksum is right, but a value is impossible or not supported */
	PTX_LOG_FOREIGN   /* a block of another log (B4) */
};

/*
 * Checks FORMAT H1 to H6. Returns the verdict, and stores the reason in *why unless it is GOOD. A
 * damaged header (FORMAT H3) is copied to *header as it is, for salvage (FORMAT R8).
 */
enum ptx_log_verdict ptx_log_decode_header(const void *bytes, size_t len,
					   struct ptx_log_header *header, const char **why);

/* Checks FORMAT H5. Returns NULL if the areas are possible, else the reason. */
const char *ptx_log_check_areas(const struct ptx_log_header *header);

/*
 * Makes a damaged header usable: the function replaces impossible values by defaults, and sets the
 * fields that have the same value in every log. The caller has set log_id, `arrangement` and the
 * fields of the areas correctly.
 */
void ptx_log_repair_header(struct ptx_log_header *header);

/*
 * Returns true if the state of the closing area is one of the three valid ones, and its checksum is
 * right.
 */
bool ptx_log_closing_is_valid(const struct ptx_log_closing *closing);

/* Copies the attributes and the description of the clock and process from a valid header. */
void ptx_log_decode_facts(const struct ptx_log_header *header, struct ptx_log_facts *facts);

/*
 * Checks FORMAT B1 to B5. The result is as in ptx_log_decode_header(). ptx_log_find() checks
 * whether the payload ends within the file.
 */
enum ptx_log_verdict ptx_log_decode_block(const void *bytes, size_t len, uint64_t log_id,
					  struct ptx_log_block *block, const char **why);

/*
 * ptx_log_check_sum() checks FORMAT B6, the checksum of the bytes that are stored in the file.
 * ptx_log_check_content() checks FORMAT B7, the content of a payload that is not compressed. For a
 * packed block it checks only the lengths, since ptx_log_unpack() checks the rest. Both return
 * NULL, or the reason of a failure. The payload of an unknown type has no rules (FORMAT 3.3).
 */
const char *ptx_log_check_sum(const struct ptx_log_block *block, const void *stored, size_t bytes);
const char *ptx_log_check_content(const struct ptx_log_block *block, const void *payload);

/*
 * The parts of ptx_log_check_content() for SCHEMAS and OBJECTS (read_lists.c) and for MAPPINGS
 * (read_mappings.c), with the same results.
 */
const char *ptx_log_check_schemas(const struct ptx_log_block *block, const void *payload);
const char *ptx_log_check_objects(const struct ptx_log_block *block, const void *payload);
const char *ptx_log_check_mappings(const struct ptx_log_block *block, const void *payload);

/*
 * Checks the parts of FORMAT D2 that a reader of events does not need: padding is zero, some record
 * has the time time_min, and some record has the time time_max. The payload has been unpacked.
 * Returns NULL, or the reason of a failure.
 */
const char *ptx_log_check_strictly(const struct ptx_log_block *block, const void *payload);

/*
 * Checks the flags, the type and the source of a record (FORMAT D2). Returns NULL, or the reason.
 */
const char *ptx_log_check_kind(const struct ptx_log_block *block, uint32_t len_flags, unsigned type,
			       unsigned source);

/* The names of event types. A set bit means that the type has a name, which may be empty. */
struct ptx_log_known {
	uint64_t set[PTX_TYPE_MAX / 64];
	char name[PTX_TYPE_MAX][PTX_TYPE_NAME_BYTES];
};

/* Adds the names of a valid NAMES payload. */
void ptx_log_decode_names(const struct ptx_log_block *block, const void *payload,
			  struct ptx_log_known *known);

/*
 * ptx_log_schema_text() returns the text of an entry of a valid SCHEMAS payload, or NULL if the
 * text breaks the first part of FORMAT S2. ptx_log_schema_next() returns the next entry.
 */
const char *ptx_log_schema_text(const struct ptx_log_schema *entry);
const struct ptx_log_schema *ptx_log_schema_next(const struct ptx_log_schema *entry);

/*
 * ptx_log_mapping_next() returns the next entry of a valid MAPPINGS payload.
 * ptx_log_check_mapping() checks one entry (FORMAT M2) and returns NULL, or the reason why a reader
 * ignores the entry.
 */
const struct ptx_log_mapping *ptx_log_mapping_next(const struct ptx_log_mapping *entry);
const char *ptx_log_check_mapping(const struct ptx_log_mapping *entry);

/*
 * The schemas, objects and mappings of a log, as far as a reader keeps them (limits: FORMAT 3.11,
 * 3.12).
 */
#define PTX_LOG_OBJECTS_MAX 65536u
struct ptx_read_lists {
	char *schema[PTX_TYPE_MAX];
	struct ptx_object *object;
	size_t objects;
	struct ptx_mappings mappings;
};

/*
 * Add the entries of valid SCHEMAS, OBJECTS and MAPPINGS payloads; return 0 or ENOMEM.
 * ptx_read_lists_fini() frees all entries, and leaves empty lists.
 */
int ptx_log_decode_schemas(const struct ptx_log_block *block, const void *payload,
			   struct ptx_read_lists *lists);
int ptx_log_decode_objects(const struct ptx_log_block *block, const void *payload,
			   struct ptx_read_lists *lists);
int ptx_log_decode_mappings(const struct ptx_log_block *block, const void *payload,
			    struct ptx_read_lists *lists);
void ptx_read_lists_fini(struct ptx_read_lists *lists);

/*
 * Replaces a ledger by that of a valid LEDGER payload. Returns 0, or ENOMEM with the ledger
 * unchanged.
 */
int ptx_log_decode_ledger(const struct ptx_log_block *block, const void *payload,
			  struct ptx_ledger *ledger);

#endif
