/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * given.h - symbols that were fetched with a trace. They are for logs that do not have the mapped
 * files of the process. Only the thread that uses symbols.h uses these functions.
 */
#ifndef POSIXTRACE_SYMBOLS_GIVEN_H
#define POSIXTRACE_SYMBOLS_GIVEN_H

#include "symbols/symbols.h"

/*
 * The kind of the address: a return address, or the address of an instruction. GIVEN_FRAME: one of
 * them, but it is not known which.
 */
enum given_kind { GIVEN_RETURN, GIVEN_EXACT, GIVEN_FRAME };

struct given {
	trace_id_t trid;
	pid_t pid;
	enum given_kind kind;
	uint64_t address;
	struct symbol symbol;
	char *own;            /* the texts of symbol */
};

/*
 * Adds a symbol. The texts are copied. The function adds nothing if memory is lacking. An address
 * that already has a symbol keeps the old symbol. A symbol must have a name, or a file and a
 * module.
 */
void given_add(const struct given *key, const char *name, const char *file, unsigned line,
	       const char *module);

/* Returns the symbol of an address, or NULL if none was added. The symbol stays valid. */
const struct symbol *given_find(trace_id_t trid, pid_t pid, uint64_t address, bool is_exact);

#endif
