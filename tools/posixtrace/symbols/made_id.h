/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * made_id.h - an identity for files that have no build-id, such as files that Go and some linkers
 * make.
 *
 * A log has this identity in place of the build-id. It consists of a mark that no linker writes,
 * the size, and a hash of the contents. So readers use a file only if it is the same as the mapped
 * file.
 */
#ifndef POSIXTRACE_SYMBOLS_MADE_ID_H
#define POSIXTRACE_SYMBOLS_MADE_ID_H

#include <stdbool.h>
#include <stdint.h>

#define MADE_ID_BYTES 24

/*
 * Stores the identity of an open regular file and returns MADE_ID_BYTES. Returns 0 if the file
 * cannot be read. The whole file is read, at some gigabytes a second if it is in memory.
 */
uint32_t made_id_of(int fd, uint8_t id[MADE_ID_BYTES]);

/* Returns whether an identity in a log was made by made_id_of(), and is not a build-id. */
bool made_id_is(const uint8_t *id, uint32_t bytes);

#endif
