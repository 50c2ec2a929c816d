/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lost.h - determines how many events were lost of the types that a command uses, so that the
 * command can mark figures to which they do not contribute.
 */
#ifndef POSIXTRACE_SPANS_LOST_H
#define POSIXTRACE_SPANS_LOST_H

#include "log/shimloss.h"
#include "spans/pairing.h"

struct lost {
	uint64_t total;        /* lost events of the chosen types, and of unknown type */
	uint64_t of_no_type;   /* lost events of unknown type */
	uint64_t *type;        /* lost events of each type, by the type's index in the log */
	struct shimloss shim;  /* calls that the ledger does not know */
	size_t types;
};

/*
 * Reads the ledger of a log whose types are marked as chosen or not. Returns 0 or an error number;
 * the caller calls lost_fini() in both cases.
 */
int lost_take(struct lost *lost, const struct logfile *log);
void lost_fini(struct lost *lost);

/*
 * Returns the greatest number of calls of this type that the shim could not trace. index is the
 * index of the type in the log.
 */
uint64_t lost_untraced(const struct lost *lost, const struct logfile *log, size_t index);

/*
 * Returns the greatest number of lost events of the types that begin or end the spans of a series,
 * or contain its durations.
 */
uint64_t lost_of_series(const struct lost *lost, struct pairing *pairing, const struct logfile *log,
			const struct series *series);

#endif
