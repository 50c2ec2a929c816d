/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/library.h"

#include <dlfcn.h>

void *library_load(const char *const *names, size_t count)
{
	void *library = NULL;

	for (size_t i = 0; i < count && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

/*
 * dlsym() returns a pointer to data. POSIX permits its conversion to a pointer to a function, but
 * ISO C has no such conversion.
 */
bool library_find(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	*(void **)function = found;
	return found != NULL;
}
