/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * own.h - the modules that a process itself has loaded.
 *
 * An emulator such as qemu-user, or a checker such as valgrind, maps the dynamic linker and the C
 * library of another program. The emulator itself is statically linked, or has a second C library.
 * A call of the other program's dlopen() would end the process. So the process's own linker is the
 * one that the kernel has started, and its own C library is in the list of that linker.
 */
#ifndef POSIXTRACE_INJECT_OWN_H
#define POSIXTRACE_INJECT_OWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "inject/elf.h"

/* Where the kernel has put the dynamic linker (0: none) and the program's headers. */
struct own {
	uint64_t linker, headers;
};

/* Reads these addresses. Returns 0, or an error number: EIO if the kernel shows nothing. */
int own_read(struct own *own, pid_t pid);

/* Returns whether the module is the linker, also if it was started as the program. */
bool own_is_linker(const struct own *own, const struct elf_module *module);

/*
 * Returns whether the linker has loaded the module. The memory belongs to the process, which may
 * change the list at the same time. So false may also mean that the list is not yet complete.
 */
bool own_has_loaded(int memory, const struct elf_module *linker, const struct elf_module *module);

#endif
