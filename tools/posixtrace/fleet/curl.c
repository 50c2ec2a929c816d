/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fleet/curl.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/say.h"

struct curl_functions curl_call;

/* Stores an address. POSIX permits the conversion of dlsym()'s result; ISO C has none for it. */
static bool find_function(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	*(void **)function = found;
	return found != NULL;
}

bool curl_load(void)
{
	/* The second name is that of a build with GnuTLS in Debian. Both have one interface. */
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	static bool is_loaded;
	void *library = NULL;

	if (is_loaded)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		say("%s cannot be loaded; install libcurl, in Debian the package libcurl4",
		    names[0]);
		return false;
	}
#define CURL_FIND(name) \
	if (!find_function(library, "curl_" #name, &curl_call.name)) { \
		say("%s has no function curl_" #name, names[0]); \
		return false; \
	}
	CURL_FUNCTIONS(CURL_FIND)
#undef CURL_FIND
	is_loaded = true;
	return true;
}
