/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_types.h - event types of a log of ETW: their names, their schemas, and the data of their
 * events.
 *
 * The data of an event whose payload is described: the decoded fields, then the fields of the
 * record's header that say more than every event says, then, unless it is to be left out, the
 * record itself with etw_tail.h behind it. The data of every other event is the record.
 */
#ifndef POSIXTRACE_FORMATS_ETW_TYPES_H
#define POSIXTRACE_FORMATS_ETW_TYPES_H

#include "formats/etw.h"
#include "formats/etw_layout.h"
#include "formats/format.h"

/* Bytes of the data of an event that is decoded or joined. What would have more stays a record. */
#define ETW_DATA_MAX (1u << 20)

struct etw_type;

struct etw_types {
	struct fmt_flow *flow;
	const struct etw_file *file;
	bool payload_only;      /* the data is no whole record: nothing describes it */
	bool raw;               /* the data is the record, whatever describes its payload */
	bool records;           /* records follow the decoded fields */
	void *types;            /* a tree of them; hostile records cannot make it slow */
	struct etw_bytes data;  /* of the last event */
	bool short_told;
};

/*
 * The type and the data of a record; the data is valid until the next call. NULL: no memory.
 */
const struct fmt_type *etw_types_of(struct etw_types *types, const struct etw_record *record,
				    const void **data, size_t *len);
/* The payload as text, name=value with a blank before each, if something describes it; else "". */
const char *etw_types_text(struct etw_types *types, const struct etw_record *record);
/* The type that keeps the log's own header. */
const struct fmt_type *etw_types_header(struct etw_types *types);
void etw_types_free(struct etw_types *types);

#endif
