/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * module.h - a file that was mapped into a traced process, found again by its build-id.
 *
 * It is looked for under the path that the log has, in the folders that were given, and in
 * /usr/lib/debug; nothing is asked of the network. Once found or not it stays so.
 */
#ifndef POSIXTRACE_SYMBOLS_MODULE_H
#define POSIXTRACE_SYMBOLS_MODULE_H

#include <stdbool.h>
#include <trace_np.h>

struct module;

struct module_place {
	const char *function; /* NULL: unknown; valid as long as the program runs */
	const char *file;
	unsigned line;
};

bool module_add_dir(const char *path);

/* The module of a mapping; NULL without memory. */
struct module *module_of(const struct posix_trace_mapping_np *mapping);

/* The file that was found, and NULL, or why none was. */
const char *module_path(const struct module *module);
const char *module_lack(const struct module *module);

/* Says once on standard error why nothing is known of its functions. */
void module_say_lack(struct module *module);

/* False: nothing is known of that address of the file. */
bool module_find(struct module *module, uint64_t address, struct module_place *place);

#endif
