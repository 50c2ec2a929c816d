/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * jsontext.h - any bytes as JSON, without loss where JSON can have it.
 *
 * Well-formed UTF-8 comes back exactly from any JSON reader; what could hurt a terminal is written
 * as \uXXXX. A byte that is no UTF-8 becomes U+FFFD, and the string is not exact: whoever writes it
 * adds the bytes themselves as a member of hexadecimal digits.
 */
#ifndef POSIXTRACE_BASE_JSONTEXT_H
#define POSIXTRACE_BASE_JSONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"

/* With its quotes. False: not exact. */
bool json_string(struct out *out, const void *bytes, size_t len);

/* "KEY":STRING, and if that is not exact ,"KEY_hex":"..." */
void json_text_member(struct out *out, const char *key, const void *bytes, size_t len);

/* A string of its own in memory, as json_text_member() writes it; NULL without memory. */
char *json_text_kept(const char *key, const void *bytes, size_t len, size_t *kept);

#endif
