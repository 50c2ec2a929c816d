/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * demangle.c - by the C++ library's __cxa_demangle(), which is loaded for the first such name: few
 * need it, and no other command is to wait for it.
 */
#include "symbols/demangle.h"

#include <stddef.h>
#include <string.h>

#ifdef HAVE_CXA_DEMANGLE
#include <dlfcn.h>

/* Of a file that anybody may have made; what is longer stays as it is. */
#define NAME_MAX_BYTES 65536

char *demangle(const char *name)
{
	static char *(*ask)(const char *name, char *to, size_t *bytes, int *status);
	static int asked;
	void *library;
	int status;

	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > NAME_MAX_BYTES)
		return NULL;
	if (!asked) {
		asked = 1;
		library = dlopen("libstdc++.so.6", RTLD_NOW);
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
