/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lost.h - determines how many events of the types that a command uses were lost. The command can
 * then mark the figures that these events would change.
 */
#ifndef POSIXTRACE_SPANS_LOST_H
#define POSIXTRACE_SPANS_LOST_H

#include "log/shimloss.h"
#include "spans/pairing.h"

struct lost {
	uint64_t total;        /* lost events of the chosen types, and of unknown type */
	/*
	 * Upper bound for the calls of the chosen types that were not traced. These calls are no
	 * events of the ledger, so "total" does not count them.
	 */
	uint64_t untraced;
	uint64_t of_no_type;   /* lost events of unknown type */
	uint64_t *type;        /* lost events of each type, by the type's index in the log */
	/* calls that were not traced, so that the ledger does not count them */
	struct shimloss shim;
	size_t types;
};

/*
 * Reads the ledger of a log whose types are marked as chosen or not. Returns 0 or an error number;
 * the caller calls lost_fini() in both cases.
 */
int lost_take(struct lost *lost, const struct logfile *log);
void lost_fini(struct lost *lost);

/*
 * Returns an upper bound for the number of calls of this type that the shim could not trace.
 * "index" is the index of the type in the log.
 */
uint64_t lost_untraced(const struct lost *lost, const struct logfile *log, size_t index);

/*
 * Returns an upper bound for the number of lost events that concern a series. These events have the
 * types that begin or end spans of the series, or that have its durations.
 */
uint64_t lost_of_series(const struct lost *lost, struct pairing *pairing, const struct logfile *log,
			const struct series *series);

#endif
