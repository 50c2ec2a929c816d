/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracex_pairs.h - the threads and objects of a log that is exported, as slots of a registry.
 *
 * A pointer of TraceX has 32 bits, so it cannot be the id of a thread. Instead, each pair of
 * process and thread gets a token, in the order of first use. The name of the pair's slot has the
 * ids of process and thread.
 */
#ifndef POSIXTRACE_CONVERT_TRACEX_TRACEX_PAIRS_H
#define POSIXTRACE_CONVERT_TRACEX_TRACEX_PAIRS_H

#include "base/table.h"
#include "convert/format.h"

#define TRACEX_NAME_BYTES 32 /* bytes of the name in a slot of an export */

struct tracex_pair {
	uint64_t thread;
	uint32_t pid;
};

struct tracex_thing { /* a slot of an object */
	uint32_t type, pointer, parameter[2];
	char name[TRACEX_NAME_BYTES];
};

struct tracex_pairs {
	struct tracex_pair *pair;
	size_t pairs;
	struct table table;     /* finds the pairs */
	struct tracex_thing *thing;
	size_t things;
	uint64_t unfit;         /* objects that can have no slot */
};

/* Sets *token to the token of a thread. Returns 0, ENOMEM, or ENOSPC if all tokens are in use. */
int tracex_pairs_token(struct tracex_pairs *pairs, uint32_t pid, uint64_t thread, uint32_t *token);

/*
 * Keeps an object for the registry. An object that can have no slot is counted in "unfit".
 * If several objects have the same pointer, only the first is kept. Returns 0 or ENOMEM.
 */
int tracex_pairs_object(struct tracex_pairs *pairs, const struct fmt_object *object);

/* Omits objects whose pointers are tokens of threads. Must be called when all threads are known. */
void tracex_pairs_omit_threads(struct tracex_pairs *pairs);
size_t tracex_pairs_slots(const struct tracex_pairs *pairs);
/* Writes all slots. tracex_pairs_slots() returns their number. */
void tracex_pairs_put(const struct tracex_pairs *pairs, struct out *out);
/* Writes one slot of 48 bytes, which is marked as in use. */
void tracex_pairs_put_slot(struct out *out, unsigned type, uint32_t pointer, uint32_t parameter1,
			   uint32_t parameter2, const char *name);
void tracex_pairs_free(struct tracex_pairs *pairs);

#endif
