/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * demangle.c - demangles names by __cxa_demangle() of the C++ library. The tool loads the library
 * only when the first mangled name occurs. Few logs have such names, and loading takes time.
 */
#include "symbols/demangle.h"

#include <stddef.h>
#include <string.h>

#ifdef HAVE_CXA_DEMANGLE
#include "base/library.h"

/*
 * The name is from a file that anyone may have made. Demangling a long name may take very much time
 * and memory, so names longer than NAME_MAX_BYTES are not demangled.
 */
#define NAME_MAX_BYTES 65536

char *demangle(const char *name)
{
	/*
	 * 'ask' is __cxa_demangle(), or NULL if there is no such library. 'asked' is 1 after the
	 * first search, which is not repeated.
	 */
	static char *(*ask)(const char *name, char *to, size_t *bytes, int *status);
	static int asked;
	static const char *const names[] = { "libstdc++.so.6" };
	void *library;
	int status;

	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > NAME_MAX_BYTES)
		return NULL;
	if (!asked) {
		asked = 1;
		library = library_load(names, 1);
		if (library)
			library_find(library, "__cxa_demangle", &ask);
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
