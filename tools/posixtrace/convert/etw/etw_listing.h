/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_listing.h - a line for each record of a log, with the CPU cost since the previous record of
 * the thread, and a line for each span.
 */
#ifndef POSIXTRACE_CONVERT_ETW_ETW_LISTING_H
#define POSIXTRACE_CONVERT_ETW_ETW_LISTING_H

#include "convert/etw/etw.h"
#include "convert/format.h"

struct etw_listing;

/* Makes a listing, which writes lines to the sink. Returns NULL if memory is lacking. */
struct etw_listing *etw_listing_new(struct fmt_flow *flow, const struct etw_file *file);
void etw_listing_free(struct etw_listing *listing);

/*
 * etw_list() writes the line of a record, and the line of the span that the record ends. "fields"
 * is the payload as text with a blank before it, or "". etw_list_end() writes the lines of the
 * spans that are still open. Both return false if the sink has stopped.
 */
bool etw_list(struct etw_listing *listing, const struct etw_record *record, const char *name,
	      const char *fields, int64_t time_ns);
bool etw_list_end(struct etw_listing *listing);

#endif
