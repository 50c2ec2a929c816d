/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsontext.h - arbitrary bytes as JSON strings.
 *
 * Any JSON reader restores well-formed UTF-8 exactly. Characters that could harm a terminal are
 * written as \uXXXX. A byte that is not part of UTF-8 becomes U+FFFD, and the string is then
 * inexact: its writer adds the original bytes as a second member in hexadecimal digits.
 */
#ifndef POSIXTRACE_BASE_JSONTEXT_H
#define POSIXTRACE_BASE_JSONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"

/* Writes a string with its quotes. Returns false if it is inexact. */
bool json_string(struct out *out, const void *bytes, size_t len);

/* Writes "KEY":STRING, and also ,"KEY_hex":"..." if the string is inexact. key needs no escapes. */
void json_text_member(struct out *out, const char *key, const void *bytes, size_t len);

/*
 * Returns the text that json_text_member() writes as a string that the caller frees, and its length
 * in *kept. Returns NULL without memory. Not for several threads: it uses a static buffer.
 */
char *json_text_kept(const char *key, const void *bytes, size_t len, size_t *kept);

#endif
