/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opened.h - the spans that are open: found by their key, the youngest first, and known by age.
 */
#ifndef POSIXTRACE_SPANS_OPENED_H
#define POSIXTRACE_SPANS_OPENED_H

#include "spans/pairing.h"

struct pairing_open {
	uint64_t key;
	struct series *series;
	int64_t begin_ns;
	uint64_t cpu_ns;
	uint64_t ordinal;
	pid_t tid;
	bool has_cpu;
	uint32_t next;             /* in its place of the hash table, or among the free ones */
	uint32_t older, younger;
};

/* False: no memory. */
bool opened_init(struct pairing *pairing);
void opened_fini(struct pairing *pairing);

/* The oldest is dropped, and counted, when there is no room. */
void opened_add(struct pairing *pairing, const struct pairing_open *open);

/* Takes the youngest with that key out. False: there is none. */
bool opened_take(struct pairing *pairing, uint64_t key, const struct series *series,
		 struct pairing_open *open);

/* Takes the oldest out; of which series it was. NULL: there is none. */
struct series *opened_drop(struct pairing *pairing);

#endif
