/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lost.h - how many events of the types that are looked at a log has lost, so that figures that
 * lack them are marked.
 */
#ifndef POSIXTRACE_SPANS_LOST_H
#define POSIXTRACE_SPANS_LOST_H

#include "log/shimloss.h"
#include "spans/pairing.h"

struct lost {
	uint64_t total;        /* of the chosen types, and of none that is known */
	uint64_t of_no_type;
	uint64_t *type;        /* by the log's type index */
	struct shimloss shim;  /* what no ledger has */
	size_t types;
};

/* By the ledger of a log whose types are marked as chosen or not. 0 or an error number. */
int lost_take(struct lost *lost, const struct logfile *log);
void lost_fini(struct lost *lost);

/* Of the type of that index, what no ledger has, at most. */
uint64_t lost_untraced(const struct lost *lost, const struct logfile *log, size_t index);

/* Of the types that begin or end the spans of a series, or are it. */
uint64_t lost_of_series(const struct lost *lost, struct pairing *pairing, const struct logfile *log,
			const struct series *series);

#endif
