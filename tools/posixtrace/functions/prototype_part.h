/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prototype_part.h - a function that several files need to read the debugging information of
 * functions.
 */
#ifndef POSIXTRACE_FUNCTIONS_PROTOTYPE_PART_H
#define POSIXTRACE_FUNCTIONS_PROTOTYPE_PART_H

#include <elfutils/libdw.h>

#include "functions/prototype.h"

/*
 * Finds the entry of the function at an address. "prototypes" may be NULL. Returns false if there
 * is no such entry.
 */
bool prototypes_find(struct prototypes *prototypes, uint64_t address, Dwarf_Die *die);

#endif
