/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* module_part.h - what module.c and module_elf.c share. */
#ifndef POSIXTRACE_SYMBOLS_MODULE_PART_H
#define POSIXTRACE_SYMBOLS_MODULE_PART_H

#include "symbols/module.h"

#ifdef HAVE_LIBDW
#define MODULE_HAS_ELF true
#else
#define MODULE_HAS_ELF false
#endif

struct Dwfl;
struct Dwfl_Module;

struct module {
	char *path;
	uint32_t id_len;
	uint8_t id[POSIX_TRACE_BUILD_ID_MAX_NP];
	const char *found;
	const char *lack; /* NULL: it can be asked */
	bool said;
	struct Dwfl *session;
	struct Dwfl_Module *elf;
};

/* -1: it is no regular file, or cannot be read. */
int module_open_regular(const char *path);

/* A file that has what was stripped from the module, by its build-id; -1. */
int module_open_debug(const struct module *module, const char **path);

/*
 * module_elf.c, by elfutils: how long the file's build-id is, 0 for none; makes a file that was
 * found one that can be asked, and takes the descriptor: NULL, or why it cannot.
 */
uint32_t module_build_id(int fd, uint8_t id[POSIX_TRACE_BUILD_ID_MAX_NP]);
const char *module_load(struct module *module, int fd);

#endif
