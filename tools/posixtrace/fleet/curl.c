/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fleet/curl.h"

#include <stddef.h>

#include "base/library.h"
#include "base/say.h"

struct curl_functions curl_call;

bool curl_load(void)
{
	/*
	 * The second name belongs to Debian's build with GnuTLS. Both libraries have the same
	 * functions.
	 */
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	static bool is_loaded;
	void *library;

	if (is_loaded)
		return true;
	library = library_load(names, sizeof(names) / sizeof(names[0]));
	if (!library) {
		say("%s cannot be loaded; install libcurl, in Debian the package libcurl4",
		    names[0]);
		return false;
	}
#define CURL_FIND(name) \
	if (!library_find(library, "curl_" #name, &curl_call.name)) { \
		say("%s has no function curl_" #name, names[0]); \
		return false; \
	}
	CURL_FUNCTIONS(CURL_FIND)
#undef CURL_FIND
	is_loaded = true;
	return true;
}
