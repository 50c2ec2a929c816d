/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_types.h - event types of a log of ETW, found by what its records have instead of names. */
#ifndef POSIXTRACE_FORMATS_ETW_TYPES_H
#define POSIXTRACE_FORMATS_ETW_TYPES_H

#include "formats/etw.h"
#include "formats/format.h"

struct etw_types {
	struct fmt_flow *flow;
	const struct etw_file *file;
	bool payload_only;      /* the data is no whole record: nothing describes it */
	uint64_t *key;
	const struct fmt_type **type;
	size_t count, room;
};

/* NULL: no memory. */
const struct fmt_type *etw_types_of(struct etw_types *types, const struct etw_record *record);
/* The type that keeps the log's own header. */
const struct fmt_type *etw_types_header(struct etw_types *types);
void etw_types_free(struct etw_types *types);

#endif
