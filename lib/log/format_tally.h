/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log/format_tally.h - events counted by type and by thread.
 *
 * Owner     the caller's memory, and a table that grows with the threads.
 * Errors    none: a thread for which there is no memory is counted as no thread.
 */
#ifndef PTX_LOG_FORMAT_TALLY_H
#define PTX_LOG_FORMAT_TALLY_H

#include "log/format.h"

struct ptx_log_count {
	struct ptx_log_source who;
	uint64_t events;
};

struct ptx_log_tally {
	uint64_t events;
	uint64_t type[PTX_TYPE_MAX];
	uint64_t nobody; /* events of threads for which there was no memory */
	struct ptx_log_count *thread;
	size_t threads;
	uint32_t *hash; /* index into thread[] + 1, or 0 */
	size_t hash_size;
};

void ptx_log_tally_init(struct ptx_log_tally *tally);
void ptx_log_tally_fini(struct ptx_log_tally *tally);

/* Counts for a thread only; events and type[] are the caller's to add. */
void ptx_log_tally_thread(struct ptx_log_tally *tally, const struct ptx_log_source *who,
			  uint64_t events);

/* Counts checked records, bytes long, of a block with that table of threads. */
void ptx_log_tally_records(struct ptx_log_tally *tally, const void *records, size_t bytes,
			   const struct ptx_log_source *table);

/* Moves these events in a ledger from reported to a loss, or makes them its reported events. */
void ptx_log_tally_move(const struct ptx_log_tally *tally, struct ptx_ledger *ledger,
			enum ptx_lost cause);
int ptx_log_tally_report(const struct ptx_log_tally *tally, struct ptx_ledger *ledger);

#endif
