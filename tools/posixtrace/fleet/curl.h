/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * curl.h - loads libcurl when a command first needs it. libcurl needs about thirty other libraries.
 * If the tool were linked with libcurl, each start of the tool would take 9 ms longer.
 */
#ifndef POSIXTRACE_FLEET_CURL_H
#define POSIXTRACE_FLEET_CURL_H

/*
 * The macros of libcurl that check types are disabled. They would call libcurl's functions by name,
 * but the tool is not linked with libcurl.
 */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdbool.h>

/* The functions of libcurl that the tool uses, without the prefix curl_. */
#define CURL_FUNCTIONS(F) \
	F(global_init) F(easy_init) F(easy_cleanup) F(easy_escape) F(free) F(slist_append) \
	F(slist_free_all) F(easy_reset) F(easy_setopt) F(easy_perform) F(easy_getinfo) \
	F(easy_strerror)

#undef curl_easy_setopt
#undef curl_easy_getinfo

struct curl_functions {
#define CURL_MEMBER(name) __typeof__(curl_##name) *name;
	CURL_FUNCTIONS(CURL_MEMBER)
#undef CURL_MEMBER
};

extern struct curl_functions curl_call;

/*
 * Loads libcurl and finds its functions, unless an earlier call has done so. Returns false after it
 * printed an error with the name of the library. Only one thread may call this function.
 */
bool curl_load(void);

#endif
