/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shimloss.h - counts the calls that libposixtrace-preload.so could not trace. These calls never
 * reached a stream, so no ledger has them. The events posixtrace_shim_lost count them.
 *
 * The counts do not show the event type of such a call, but only its kind.
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
	SHIMLOSS_HOLDS = 4, /* types with the times that locks were held; also SHIMLOSS_OTHER */
	SHIMLOSS_ALL = 7
};

struct shimloss {
	/* Calls before the library was initialised: in total, ... */
	uint64_t early;
	uint64_t early_alloc;  /* ... those of the family alloc, ... */
	uint64_t early_any;    /* ... and those of an unknown family. */
	uint64_t unnamed;      /* calls whose event type got no name */
	uint64_t holds;        /* holds of locks that were not recorded */
};

/* Reads the counts of the whole log with a reader of its own. Returns 0 or an error number. */
int shimloss_read(struct shimloss *loss, const struct logfile *log);

/* Returns the kinds of calls that events of this type record, 0 if the shim has no such type. */
unsigned shimloss_kinds(const char *type);

/* Returns the greatest number of events of these kinds that can be missing. */
uint64_t shimloss_of(const struct shimloss *loss, unsigned kinds);

/*
 * Write "3 before the library had begun, 1 holds of locks", and
 * {"early":3,"early_alloc":3,"unnamed":0,"holds":1}.
 */
void shimloss_text(struct out *out, const struct shimloss *loss);
void shimloss_json(struct json *json, const char *name, const struct shimloss *loss);

#endif
