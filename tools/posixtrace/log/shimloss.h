/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shimloss.h - calls that libposixtrace-preload.so could not trace. They were never called of the
 * stream, so that no ledger has them: events posixtrace_shim_lost count them.
 *
 * Which event type a call would have had is known as far as its kind is.
 */
#ifndef POSIXTRACE_LOG_SHIMLOSS_H
#define POSIXTRACE_LOG_SHIMLOSS_H

#include <stdint.h>

struct logfile;
struct out;

enum {
	SHIMLOSS_ALLOC = 1, /* event types of the family alloc */
	SHIMLOSS_OTHER = 2, /* of the other families */
	SHIMLOSS_HOLDS = 4, /* that say how long locks were held; of the other families, too */
	SHIMLOSS_ALL = 7
};

struct shimloss {
	/* Before the library had begun: of all families, */
	uint64_t early;
	uint64_t early_alloc;  /* those whose family is known to be alloc, */
	uint64_t early_any;    /* and those whose family is not known. */
	uint64_t unnamed;      /* of event types without a name */
	uint64_t holds;        /* of locks */
};

/* Of the whole log, by a reader of its own. 0 or an error number. */
int shimloss_read(struct shimloss *loss, const struct logfile *log);

/* The kinds that events of that type are of; 0: the library has no such type. */
unsigned shimloss_kinds(const char *type);

/* How many events of these kinds are missing at most. */
uint64_t shimloss_of(const struct shimloss *loss, unsigned kinds);

/* "3 early, 2 unnamed, 1 holds", and {"early":3,"early_alloc":3,"unnamed":2,"holds":1}. */
void shimloss_text(struct out *out, const struct shimloss *loss);
void shimloss_json(struct out *out, const struct shimloss *loss);

#endif
