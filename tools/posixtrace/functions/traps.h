/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * traps.h - the functions and probes that the kernel records by breakpoints (uprobes), because the
 * shim cannot be in their process, or cannot patch them.
 */
#ifndef POSIXTRACE_FUNCTIONS_TRAPS_H
#define POSIXTRACE_FUNCTIONS_TRAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "functions/binary.h"

#define TRAPS_MOST     (1u << 20)
#define TRAPS_MAPPINGS 8

enum trap_kind { TRAP_BEGIN, TRAP_RETURN, TRAP_JUMP };

/* A place with a breakpoint. Addresses are those in the file. */
struct trap {
	uint32_t file;           /* index */
	uint8_t kind, condition; /* condition: of exits.h */
	bool is_go;
	uint64_t address, offset; /* offset: in the file */
	uint64_t function, target;
};

/* A file with such places. */
struct traps_file {
	char *path;
	struct binary_mapping mapping[TRAPS_MAPPINGS];
	unsigned mappings;
	uint8_t id[SHIM_PLAN_ID];
	uint32_t id_len;
};

struct traps {
	bool is_forced;    /* the shim cannot be in the program: all functions are here */
	/*
	 * Returns NULL if others may be here that cannot be patched, or the reason why not. It is
	 * called at most once, because it costs milliseconds; why has its result then.
	 */
	const char *(*refusal)(void);
	bool is_asked;
	const char *why;
	struct trap *trap;
	size_t traps, room;
	struct traps_file *file;
	size_t files;
	size_t functions;
};

/* Returns whether functions and probes may be recorded by the kernel. */
bool traps_are_permitted(struct traps *traps);

/*
 * Returns whether functions of the file are recorded by the kernel and not patched: if that is
 * forced; or if it is permitted, and the file is a static program or one of Go.
 */
bool traps_has_functions(struct traps *traps, const struct binary_file *file);

/*
 * Adds the places of a function. Returns NULL, or the reason why it cannot be traced. The constant
 * text traps_no_memory is a reason, too.
 */
const char *traps_function(struct traps *traps, struct binary_file *file,
			   const struct binary_function *function);
extern const char traps_no_memory[];

/* Frees all memory. The plan is then empty. */
void traps_fini(struct traps *traps);

#endif
