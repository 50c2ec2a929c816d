/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * module.h - finds a file that was mapped into a traced process, by its build-id.
 *
 * The search uses the path in the log, the folders of --debug-dir, and /usr/lib/debug, but never
 * the network. The result of the first search is kept. Only one thread uses the functions of this
 * folder.
 */
#ifndef POSIXTRACE_SYMBOLS_MODULE_H
#define POSIXTRACE_SYMBOLS_MODULE_H

#include <stdbool.h>
#include <trace_np.h>

struct module;

struct module_place {
	const char *function; /* NULL: unknown; valid until the program ends */
	const char *file;
	unsigned line;
};

/* Adds a folder of --debug-dir. Returns false after it printed an error. path must remain valid. */
bool module_add_dir(const char *path);

/*
 * Returns the module of a mapping, or NULL without memory. The first call for a module searches for
 * its file.
 */
struct module *module_of(const struct posix_trace_mapping_np *mapping);

/*
 * module_path() returns the file that was found, or NULL. module_lack() returns the reason why no
 * file is used, or NULL.
 */
const char *module_path(const struct module *module);
const char *module_lack(const struct module *module);

/* Prints once, on standard error, the reason why the module's functions are unknown. */
void module_say_lack(struct module *module);

/*
 * Finds function, file and line of an address in the file (not in memory). Returns false if nothing
 * is known of it.
 */
bool module_find(struct module *module, uint64_t address, struct module_place *place);

/*
 * Returns the name of the function that an address of the file is in, by the symbol tables; NULL:
 * unknown. It ignores functions that are inlined at the address.
 */
const char *module_function(struct module *module, uint64_t address);

/*
 * Stores the address in the file at which the function begins that an address is in, also for files
 * without symbols. Returns false if it is not known. A function that the compiler has divided has
 * several begins.
 */
bool module_begin(struct module *module, uint64_t address, uint64_t *begin);

#endif
