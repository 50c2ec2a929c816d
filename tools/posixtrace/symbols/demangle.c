/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * demangle.c - demangles with __cxa_demangle() of the C++ library. The library is loaded at the
 * first mangled name, because few logs have one and other commands should not wait for it.
 */
#include "symbols/demangle.h"

#include <stddef.h>
#include <string.h>

#ifdef HAVE_CXA_DEMANGLE
#include <dlfcn.h>

/*
 * The name is from a file that anyone may have made. Demangling a long name can take very much time
 * and memory, so names longer than NAME_MAX_BYTES are not demangled.
 */
#define NAME_MAX_BYTES 65536

char *demangle(const char *name)
{
	/* The function, or NULL if there is no such library. asked prevents a second search. */
	static char *(*ask)(const char *name, char *to, size_t *bytes, int *status);
	static int asked;
	void *library;
	int status;

	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > NAME_MAX_BYTES)
		return NULL;
	if (!asked) {
		asked = 1;
		library = dlopen("libstdc++.so.6", RTLD_NOW);
		/*
		 * POSIX recommends this form, because C has no cast from an object pointer to a
		 * function pointer.
		 */
		*(void **)&ask = library ? dlsym(library, "__cxa_demangle") : NULL;
	}
	return ask ? ask(name, NULL, NULL, &status) : NULL;
}

#else

char *demangle(const char *name)
{
	(void)name;
	return NULL;
}

#endif
