/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_types.h - event types of a log of ETW: their names, their schemas, and the data of their
 * events.
 *
 * If the payload of an event is described, the data has up to three parts: the decoded fields, the
 * fields of the record's header that an event of POSIX lacks, and, if wanted, the record with its
 * tail (etw_tail.h). The data of every other event is the whole record or, if the member
 * payload_only is set, the payload.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_TYPES_H
#define POSIXTRACE_CONVERT_ETW_ETW_TYPES_H

#include "convert/etw/etw.h"
#include "convert/etw/etw_layout.h"
#include "convert/format.h"

/*
 * The greatest number of bytes of data that a decoded or joined event can have. If the decoded data
 * of a record would have more bytes, the record is not decoded.
 */
#define ETW_DATA_MAX (1u << 20)

struct etw_type;

struct etw_types {
	struct fmt_flow *flow;
	const struct etw_file *file;
	bool payload_only;      /* the data is the payload, without a schema */
	bool raw;               /* the data is the record, also of described events */
	bool records;           /* records follow the decoded fields */
	void *types;            /* a tree, which hostile records cannot make slow */
	struct etw_bytes data;  /* data of the last event */
	bool short_reported;
};

/*
 * Returns the type of a record and sets *data and *len to its data, which is valid until the next
 * call. Returns NULL if memory is lacking.
 */
const struct fmt_type *etw_types_of(struct etw_types *types, const struct etw_record *record,
				    const void **data, size_t *len);
/*
 * Returns the payload as text with " NAME=VALUE" for each field. Returns "" if nothing describes
 * the payload, or if it cannot be decoded. Returns NULL if memory is lacking.
 */
const char *etw_types_text(struct etw_types *types, const struct etw_record *record);
/* Returns the type of the event that has the log's own header as its data. */
const struct fmt_type *etw_types_header(struct etw_types *types);
void etw_types_free(struct etw_types *types);

#endif
