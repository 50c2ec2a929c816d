/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * module.h - finds the file of a module by its build-id. A module is a file that was mapped into a
 * traced process.
 *
 * The search considers the path in the log, the folders of --debug-dir and /usr/lib/debug, but
 * never the network. A module's file is searched for only once. Only one thread uses these
 * functions.
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

/*
 * Adds a folder of --debug-dir. Returns false after it printed an error. 'path' must remain valid.
 */
bool module_add_dir(const char *path);

/*
 * Returns the module of a mapping, or NULL if memory is lacking. The first call for a module
 * searches for its file.
 */
struct module *module_of(const struct posix_trace_mapping_np *mapping);

/*
 * module_path() returns the file that was found, or NULL. module_lack() returns the reason why no
 * file is used, or NULL.
 */
const char *module_path(const struct module *module);
const char *module_lack(const struct module *module);

/* If no file is used, prints the reason on standard error, once for each module. */
void module_say_lack(struct module *module);

/*
 * Finds the function, source file and line of an address. The address is an address in the file and
 * not in memory. Returns false if nothing is known about the address.
 */
bool module_find(struct module *module, uint64_t address, struct module_place *place);

/*
 * Returns the name of the function that contains an address of the file, or NULL if the function is
 * unknown. The name is from the symbol tables, so it is never the name of an inlined function.
 */
const char *module_function(struct module *module, uint64_t address);

/*
 * Returns the linker's name of the variable that contains an address of the file. Stores the
 * distance of the address from the variable's begin in *offset. Returns NULL if no variable is
 * there.
 */
const char *module_variable(struct module *module, uint64_t address, uint64_t *offset);

/*
 * Writes the path to the member at an offset of a variable: names of members and indexes, such as
 * .pool[3].lock. The variable begins at the address "begin" of the file. Returns false if the file
 * has no debug information about the variable, or if no member begins at the offset. *is_lock
 * becomes true if the type of the member is a known type of locks.
 */
bool module_member(struct module *module, uint64_t begin, uint64_t offset, char *text,
		   size_t bytes, bool *is_lock);

/*
 * Finds the function that contains an address of the file, and stores the address where this
 * function begins. The file need not have symbols. Returns false if the begin is not known. If the
 * compiler has divided a function, each part counts as a function.
 */
bool module_begin(struct module *module, uint64_t address, uint64_t *begin);

#endif
