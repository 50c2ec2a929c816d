/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_tally.h - a tally: counts of events by type and by thread.
 *
 * Owner     the caller's memory, and a table that grows with the threads. One caller at a time.
 * Errors    only ptx_log_tally_report() returns one. If there is no memory for a thread, its events
 *           count as events of no thread.
 */
#ifndef PTX_LOG_FORMAT_TALLY_H
#define PTX_LOG_FORMAT_TALLY_H

#include "log/format.h"

struct ptx_log_count {
	struct ptx_log_source source;
	uint64_t events;
};

struct ptx_log_tally {
	uint64_t events;
	uint64_t type[PTX_TYPE_MAX];
	uint64_t unattributed; /* events of threads for which there was no memory */
	struct ptx_log_count *thread;
	size_t threads;
	uint32_t *hash; /* index into thread[] + 1, or 0 */
	size_t hash_size;
};

/*
 * An initialized tally owns no memory yet. ptx_log_tally_fini() frees its memory and makes the
 * tally empty again.
 */
void ptx_log_tally_init(struct ptx_log_tally *tally);
void ptx_log_tally_fini(struct ptx_log_tally *tally);

/*
 * Adds events of one thread. The caller adds the same number to the member `events` and to type[],
 * so that the sums of a ledger agree (FORMAT L2).
 */
void ptx_log_tally_thread(struct ptx_log_tally *tally, const struct ptx_log_source *source,
			  uint64_t events);

/*
 * Counts records that were checked before, in total, by type and by thread. The parameter `table`
 * is the block's table of threads; `bytes` is the length of the records.
 */
void ptx_log_tally_records(struct ptx_log_tally *tally, const void *records, size_t bytes,
			   const struct ptx_log_source *table);

/*
 * ptx_log_tally_move() changes the tally's events from reported to lost in the ledger, with the
 * given cause. ptx_log_tally_report() empties the ledger and then enters the tally's events as
 * reported. After ENOMEM the ledger is unchanged.
 */
void ptx_log_tally_move(const struct ptx_log_tally *tally, struct ptx_ledger *ledger,
			enum ptx_lost cause);
int ptx_log_tally_report(const struct ptx_log_tally *tally, struct ptx_ledger *ledger);

#endif
