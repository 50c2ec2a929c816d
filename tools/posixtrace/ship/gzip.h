/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gzip.h - compresses bodies of requests by zlib, which is loaded when it is first needed. One
 * thread calls these functions.
 */
#ifndef POSIXTRACE_SHIP_GZIP_H
#define POSIXTRACE_SHIP_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

/*
 * Loads zlib. Returns false after it printed an error: the library is missing, or this build was
 * made without its header.
 */
bool gzip_load(void);
/*
 * Replaces *to by the bytes in the format gzip (RFC 1952). gzip_load() must have succeeded. Returns
 * false after it printed an error.
 */
bool gzip_bytes(const void *from, size_t len, struct bytes *to);

#endif
