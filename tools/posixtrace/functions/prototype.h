/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prototype.h - reads the declarations of functions from the debugging information of a file.
 *
 * A file is hostile: libdw checks its structure, and prototype.c limits lengths and depths. Only
 * one thread may use the prototypes of a file.
 */
#ifndef POSIXTRACE_FUNCTIONS_PROTOTYPE_H
#define POSIXTRACE_FUNCTIONS_PROTOTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROTOTYPE_TEXT 1024

struct prototypes;
struct binary_file;

/*
 * Collects the functions in the debugging information of the file or of its separate debug file.
 * Returns NULL if there is no such information, if memory is lacking, or if posixtrace was built
 * without libdw.
 */
struct prototypes *prototypes_open(const struct binary_file *file);
void prototypes_close(struct prototypes *prototypes);

/*
 * Writes the declaration of the function with this name, such as "int add(int a, const char
 * *name)". Returns false if the function at the address is not known, or its declaration does not
 * fit. "prototypes" may be NULL.
 */
bool prototypes_text(struct prototypes *prototypes, uint64_t address, const char *name,
		     char text[PROTOTYPE_TEXT]);

#endif
