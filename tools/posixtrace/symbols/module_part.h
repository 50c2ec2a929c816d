/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* module_part.h - the struct that the files module*.c and variable.c share. */
#ifndef POSIXTRACE_SYMBOLS_MODULE_PART_H
#define POSIXTRACE_SYMBOLS_MODULE_PART_H

#include "symbols/go_table.h"
#include "symbols/module.h"

#ifdef HAVE_LIBDW
#define MODULE_HAS_ELF true
#else
#define MODULE_HAS_ELF false
#endif

struct Dwfl;
struct Dwfl_Module;
struct elf_names;
struct module_global;

struct module {
	char *path;
	uint32_t id_len;
	uint8_t id[POSIX_TRACE_BUILD_ID_MAX_NP];
	const char *found; /* the path of the file in use */
	const char *lack; /* the reason why no file is used; NULL: a file is in use */
	bool lack_printed; /* module_say_lack() has been called */
	struct Dwfl *session;
	struct Dwfl_Module *elf;
	struct elf_names *names; /* the symbols of the file; NULL: they were not read yet */
	bool has_go;      /* the search for Go's table is done; if go.count is 0, there is no
			   * table */
	struct go_table go;
	/*
	 * The table of functions of the file, for module_frame.c. If 'frame' is NULL, there is no
	 * table.
	 */
	bool has_frames;  /* the search for the table is done */
	const uint8_t *frame;
	uint32_t frames;
	uint64_t frame_table;
	/* The variables of the file, by address, for variable.c. */
	bool has_globals; /* the search for the variables is done */
	struct module_global *global;
	size_t globals;
};

/* Opens a regular file. Returns the descriptor, or -1 and errno. */
int module_open_regular(const char *path);

/*
 * Opens a file with the module's build-id in the folders for debug files. Returns the descriptor
 * and stores the path in *path, or returns -1.
 */
int module_open_debug(const struct module *module, const char **path);

/*
 * In module_elf.c. module_build_id() stores the file's build-id and returns its length, or 0 if
 * there is none. module_load() loads the file that was found. The descriptor belongs to
 * module_load(), even if the call fails. The function returns NULL, or the reason why it failed.
 */
uint32_t module_build_id(int fd, uint8_t id[POSIX_TRACE_BUILD_ID_MAX_NP]);
const char *module_load(struct module *module, int fd);

#endif
