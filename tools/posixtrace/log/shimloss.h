/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shimloss.h - counts the calls that libposixtrace-preload.so could not trace. A call that the shim
 * did not trace has no event in a stream, so no ledger counts the call. The shim itself counts such
 * calls, and records the counts in events posixtrace_shim_lost.
 *
 * The counts show only the kind of such a call, and not its event type.
 */
#ifndef POSIXTRACE_LOG_SHIMLOSS_H
#define POSIXTRACE_LOG_SHIMLOSS_H

#include <stdint.h>

#include "base/json.h"

struct logfile;
struct out;

enum {
	SHIMLOSS_ALLOC = 1, /* types of the family alloc */
	SHIMLOSS_OTHER = 2, /* types of the other families */
	/* types with times for which locks were held; they also have SHIMLOSS_OTHER */
	SHIMLOSS_HOLDS = 4,
	SHIMLOSS_ALL = 7
};

struct shimloss {
	/* the calls before the library was initialized */
	uint64_t early;
	uint64_t early_alloc;  /* those of the family alloc */
	uint64_t early_any;    /* those of an unknown family */
	/* calls without an event type, and calls of patched functions without a free slot */
	uint64_t unnamed;
	uint64_t holds;        /* holds of locks that were not recorded */
};

/*
 * Adds up the counts of the whole log, which it reads by a separate reader. Returns 0 or an error
 * number.
 */
int shimloss_read(struct shimloss *loss, const struct logfile *log);

/* Adds the counts of another log. A sum that overflows becomes UINT64_MAX. */
void shimloss_add(struct shimloss *loss, const struct shimloss *other);

/* Returns the kinds of calls that events of this type record, or 0 if the shim has no such type. */
unsigned shimloss_kinds(const char *type);

/* Returns an upper bound for the number of missing events of these kinds. */
uint64_t shimloss_of(const struct shimloss *loss, unsigned kinds);

/*
 * shimloss_text() writes "3 before the library had begun, 1 holds of locks". shimloss_json() writes
 * {"early":3,"early_alloc":3,"unnamed":0,"holds":1}.
 */
void shimloss_text(struct out *out, const struct shimloss *loss);
void shimloss_json(struct json *json, const char *name, const struct shimloss *loss);

#endif
