/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_contents.h - how many events of which type and thread a block of a LOOP log holds.
 *
 * Owner     who asks for contents frees them by free().
 */
#ifndef PTX_LOG_WRITE_CONTENTS_H
#define PTX_LOG_WRITE_CONTENTS_H

#include "log/writer.h"

struct ptx_log_contents;

/* Room to count in, zeroed before the first use. */
struct ptx_log_counting {
	uint32_t by_type[PTX_TYPE_MAX];
	uint32_t by_source[1024];
};

/* Of the log's current block; NULL without memory. */
struct ptx_log_contents *ptx_log_contents_of(const struct ptx_log *log,
					     struct ptx_log_counting *counting);

/* Counts them by type and thread; the tally's events are the caller's to add. */
void ptx_log_contents_tally(const struct ptx_log_contents *contents, struct ptx_log_tally *tally);

#endif
