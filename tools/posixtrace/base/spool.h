/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spool.h - temporary files for inputs that cannot seek, since the library reads a log by offset.
 * Each function returns 0 or an error number.
 */
#ifndef POSIXTRACE_BASE_SPOOL_H
#define POSIXTRACE_BASE_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

/* Creates an empty file without a name in TMPDIR and stores its descriptor in *fd. */
int spool_create(int *fd);

/* The number of bytes at the begin of an input that suffice to recognise its format. */
#define SPOOL_HEAD  (UINT64_C(256) << 10)
/* The default limit of a copy. */
#define SPOOL_BYTES (UINT64_C(4) << 30)

/* Copies from the current offset of from to its end. */
int spool_copy(int from, int to);

/*
 * Does the same for an input of unknown length. Returns EFBIG if it is longer than the environment
 * variable POSIXTRACE_SPOOL_MAX or SPOOL_BYTES allows, or than half of the free space of the file
 * system.
 */
int spool_fill(int from, int to);

/* Prints an error that one of these functions returned. */
void spool_say_why(const char *name, int err);

/*
 * Stores in *result a descriptor of the same bytes that can seek: fd itself, or a copy. After a
 * copy fd is closed; on an error it remains open. accepts() examines the copy when it has
 * SPOOL_HEAD bytes. If it returns false, the rest is not copied.
 */
int spool_seekable(int fd, bool (*accepts)(int file), int *result);

#endif
