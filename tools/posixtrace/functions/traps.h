/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * traps.h - the functions and probes that the kernel records by breakpoints (uprobes), because the
 * shim cannot be in the process, or cannot patch the code.
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

/* A place with a breakpoint. Addresses are the addresses in the file. */
struct trap {
	uint32_t file;           /* index of the file in struct traps */
	/*
	 * "condition" and "target" are as in struct exits_place. A begin also has them if its
	 * instruction is an exit. In all other cases they are 0.
	 */
	uint8_t kind, condition;
	bool is_go;
	uint64_t address, offset; /* "offset" is the position in the file */
	uint64_t function, target;
	/*
	 * For TRAP_PROBE, and for TRAP_BEGIN with has_type: "type" is the index of the event type.
	 * The array traps.value has the values of the place, from the index "first" on. If
	 * has_result is true, the result follows these values. For TRAP_RETURN with has_result:
	 * "first" is the index of the result. "values" is 1 if the result is a text, and 0 if the
	 * result is a number in a register.
	 */
	uint32_t type, first, values;
	bool has_type, has_result;
	uint64_t semaphore;      /* offset in the file, 0: none */
};

/*
 * An event type of a probe or of a function with arguments. The texts belong to the plan of the
 * probes or of the functions.
 */
struct traps_type {
	const char *name, *schema;
};

/* A file with places that have breakpoints. */
struct traps_file {
	char *path;
	struct binary_mapping mapping[TRAPS_MAPPINGS];
	unsigned mappings;
	uint8_t id[SHIM_PLAN_ID];
	uint32_t id_len;
};

struct traps {
	/*
	 * The shim cannot be in the program, so all functions are recorded by the kernel. Places
	 * may be added while the program runs.
	 */
	bool is_forced;
	/*
	 * Returns NULL if the kernel may record functions that cannot be patched, or the reason why
	 * not. The function needs milliseconds, so it is called at most once. Afterwards has_result
	 * is true, and "why" has the result.
	 */
	const char *(*refusal)(void);
	bool has_result;
	const char *why;
	struct trap *trap;
	size_t traps, room;
	struct traps_file *file;
	size_t files;
	size_t functions, probes;
	/*
	 * patches_finish() sets these members, including the number of bytes of each value in an
	 * event.
	 */
	struct traps_type *type;
	size_t types;
	struct shim_plan_argument *value;
	size_t values;
	char **text; /* texts of types that traps_append() has copied */
	size_t texts;
};

/* Returns whether the kernel may record functions and probes. */
bool traps_are_permitted(struct traps *traps);

/*
 * Returns whether the kernel records the functions of the file, so that they are not patched. It
 * does if is_forced is true. It also does if the kernel may record functions, and the file is a
 * static program or has code of Go or OCaml.
 */
bool traps_has_functions(struct traps *traps, const struct binary_file *file);

/* Returns how the kernel reads the arguments of the functions of a file. */
enum arguments_way traps_arguments(const struct binary_file *file);

/*
 * Adds the places of a function. "path" is the real path of the file. "site" has the type and the
 * values that described_take() may have set. If the values may no longer be in their places at the
 * breakpoint, site->has_type becomes false. Returns NULL, or the reason why the function cannot be
 * traced. The constant text traps_no_memory is a reason, too.
 */
const char *traps_function(struct traps *traps, struct binary_file *file, const char *path,
			   const struct binary_function *function,
			   struct shim_plan_site *site);
extern const char traps_no_memory[];

/*
 * Returns NULL if the kernel can record a probe of the file, or the reason why not: a breakpoint
 * needs a NOP, and the semaphore must be a variable with data in the file. A variable without data
 * in the file is not possible, because the program sets it to 0 after the kernel has incremented
 * it.
 */
const char *traps_probe_lack(const struct binary_file *file, const struct binary_probe *probe);

/*
 * Adds the place of a probe for which traps_probe_lack() has returned NULL. "site" has the indexes
 * of the probe's type and values, which probes_take() has set. Returns NULL or a reason, as
 * traps_function() does.
 */
const char *traps_probe(struct traps *traps, const struct binary_file *file, const char *path,
			const struct binary_probe *probe, const struct shim_plan_site *site);

/*
 * Appends the places of a plan that is finished, with copies of their texts, and makes that plan
 * empty. If a type has the same name as a type of the plan, but another schema, a function is
 * recorded without its arguments, and a probe is not appended. *left_out becomes the number of
 * probes that were not appended. Returns false if memory is lacking or if there are too many
 * places; in this case the plan gets no places.
 */
bool traps_append(struct traps *traps, struct traps *from, size_t *left_out);

/* Frees all memory. The plan is then empty. */
void traps_fini(struct traps *traps);

#endif
