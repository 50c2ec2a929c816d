/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/write_contents.h - the numbers of events by type and thread in a block of a LOOP log.
 *
 * Owner     the caller frees struct ptx_log_contents with free(). One caller at a time.
 */
#ifndef PTX_LOG_WRITE_CONTENTS_H
#define PTX_LOG_WRITE_CONTENTS_H

#include "log/writer.h"

struct ptx_log_contents;

/*
 * Working memory. The caller zeroes it before the first use. After each call by_type is zero again.
 */
struct ptx_log_counting {
	uint32_t by_type[PTX_TYPE_MAX];
	uint32_t by_source[1024];
};

/* Returns the counts of the log's current block, or NULL if there is no memory. */
struct ptx_log_contents *ptx_log_contents_of(const struct ptx_log *log,
					     struct ptx_log_counting *counting);

/* Adds the counts to a tally, by type and by thread. The caller increases tally->events. */
void ptx_log_contents_tally(const struct ptx_log_contents *contents, struct ptx_log_tally *tally);

#endif
