/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * partner.h - finds the call that probably ended a wait at a pipe, socket or barrier: a write that
 * ran during a read or a poll, a read that ran during a write, or another arrival at a barrier.
 *
 * A log does not identify a pipe, because its two ends have different descriptors. So the partner
 * is found by times and numbers of bytes.
 */
#ifndef POSIXTRACE_WHY_PARTNER_H
#define POSIXTRACE_WHY_PARTNER_H

#include "why/history.h"

#define PARTNER_LOOK_AT 512 /* the most calls before the end of a wait, and as many after it */
#define PARTNER_NONE    SIZE_MAX

struct transfer {
	int64_t begin_ns, end_ns;
	uint64_t key;          /* of a barrier */
	uint64_t bytes;        /* of a read or write */
	uint32_t thread;
	enum cause cause;
	bool has_path;         /* of a file, and so no thread at a pipe or socket waits for it */
};

/* Transfers in the order of their ends. get() stores one of them. */
struct transfers {
	void (*get)(const void *arg, size_t index, struct transfer *transfer);
	const void *arg;
	size_t count;
};

/* Returns the index of the transfer of another thread that probably ended the wait. */
size_t partner_find(const struct transfers *transfers, const struct transfer *wait);

#endif
