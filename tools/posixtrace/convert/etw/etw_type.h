/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* etw_type.h - an event type of a log of ETW: its name, and the layout of its payload. */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_TYPE_H
#define POSIXTRACE_CONVERT_ETW_ETW_TYPE_H

#include "convert/etw/etw_types.h"

/* greatest number of bytes of header fields behind the decoded fields */
#define ETW_BEHIND_BYTES 64

struct etw_type {
	uint64_t key;
	const struct fmt_type *type, *undecoded; /* "undecoded" is made at its first use */
	const struct etw_layout *layout; /* NULL: the payload is not described */
	struct etw_layout *own;          /* the layout if this type owns it, otherwise NULL */
	unsigned columns;
	bool more;
};

/*
 * Makes the type with the name and the schema that belong to the record. made->layout becomes NULL
 * if no valid schema can be made from the layout. Returns NULL if memory is lacking.
 */
const struct fmt_type *etw_type_make(struct etw_types *types, const struct etw_record *record,
				     struct etw_type *made);

#endif
