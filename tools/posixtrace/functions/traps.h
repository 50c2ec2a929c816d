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

#include "functions/arguments.h"
#include "functions/binary.h"

#define TRAPS_MOST     (1u << 20)
#define TRAPS_MAPPINGS 8

enum trap_kind { TRAP_BEGIN, TRAP_RETURN, TRAP_JUMP, TRAP_PROBE };

/* A place with a breakpoint. Addresses are those in the file. */
struct trap {
	uint32_t file;           /* index */
	/*
	 * condition and target are those of exits.h. A begin has them, too, if its instruction is
	 * an exit; otherwise both are 0.
	 */
	uint8_t kind, condition;
	bool is_go;
	uint64_t address, offset; /* offset: in the file */
	uint64_t function, target;
	/*
	 * TRAP_PROBE, and TRAP_BEGIN with has_type: index of its event type, and its values in
	 * traps.value; with has_result the result follows them. TRAP_RETURN with has_result: first
	 * is the result; values is 1 if that is a text, and 0 if a register is enough.
	 */
	uint32_t type, first, values;
	bool has_type, has_result;
	uint64_t semaphore;      /* offset in the file, 0: none */
};

/* An event type of a probe or of a function with arguments. The texts belong to their plans. */
struct traps_type {
	const char *name, *schema;
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
	size_t functions, probes;
	/* Set by patches_finish(): the values have their number of bytes in an event. */
	struct traps_type *type;
	size_t types;
	struct shim_plan_argument *value;
	size_t values;
};

/* Returns whether functions and probes may be recorded by the kernel. */
bool traps_are_permitted(struct traps *traps);

/*
 * Returns whether functions of the file are recorded by the kernel and not patched: if that is
 * forced; or if it is permitted, and the file is a static program or one of Go.
 */
bool traps_has_functions(struct traps *traps, const struct binary_file *file);

/* Returns how the kernel reads the arguments of the functions of a file. */
enum arguments_way traps_arguments(const struct binary_file *file);

/*
 * Adds the places of a function. path is the real path of the file. site has the type and the
 * values that described_take() has set, if any; has_type becomes false if the values are not in
 * their places any more where the breakpoint is. Returns NULL, or the reason why the function
 * cannot be traced. The constant text traps_no_memory is a reason, too.
 */
const char *traps_function(struct traps *traps, struct binary_file *file, const char *path,
			   const struct binary_function *function,
			   struct shim_plan_site *site);
extern const char traps_no_memory[];

/*
 * Returns NULL if the kernel can record a probe of the file, or the reason why not: a breakpoint
 * needs a NOP, and the semaphore must be a variable with data in the file. The kernel increments
 * others before the program begins, when they are set to 0.
 */
const char *traps_probe_lack(const struct binary_file *file, const struct binary_probe *probe);

/*
 * Adds the place of a probe for which that is so. site has the index of its type and of its values,
 * as probes_take() has set them. Returns as traps_function() does.
 */
const char *traps_probe(struct traps *traps, const struct binary_file *file, const char *path,
			const struct binary_probe *probe, const struct shim_plan_site *site);

/* Frees all memory. The plan is then empty. */
void traps_fini(struct traps *traps);

#endif
