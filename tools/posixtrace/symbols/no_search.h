/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * no_search.h - callbacks by which libdw finds no file.
 *
 * no_file() is for sessions that get their files by dwfl_report_elf(). no_debuginfo() prevents the
 * search for a separate file with debugging information, because the search may ask servers, and
 * the process would wait meanwhile. Unwind tables and symbols are in the modules.
 */
#ifndef POSIXTRACE_SYMBOLS_NO_SEARCH_H
#define POSIXTRACE_SYMBOLS_NO_SEARCH_H

#include <elfutils/libdwfl.h>

static inline int no_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			  char **file, Elf **elf)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)elf;
	return -1;
}

static inline int no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			       const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc;
	(void)found;
	return -1;
}

#endif
