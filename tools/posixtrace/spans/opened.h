/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * opened.h - keeps the open spans of a pairing. They are found by key, the youngest first, and are
 * ordered by age.
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
	/* next entry in the chain of its key, or in the list of free entries */
	uint32_t next;
	uint32_t older, younger;   /* neighbours by age */
};

/*
 * Allocates the pool. Returns false if memory is lacking. The caller must call opened_fini() in
 * both cases.
 */
bool opened_init(struct pairing *pairing);
void opened_fini(struct pairing *pairing);

/*
 * Adds an entry with this key and returns it. The caller sets the members from series to has_cpu.
 * If the pool is full, the function drops the oldest entry and counts that in the dropped entry's
 * series. Returns NULL if memory was lacking. The pointer is valid until the next call.
 */
struct pairing_open *opened_add(struct pairing *pairing, uint64_t key);

/*
 * Removes the youngest open span of this key and series and stores it in *open. Returns false if
 * there is none.
 */
bool opened_take(struct pairing *pairing, uint64_t key, const struct series *series,
		 struct pairing_open *open);

/* Removes the oldest open span and returns its series, NULL if there is none. */
struct series *opened_drop(struct pairing *pairing);

#endif
