/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spool.h - temporary files, for what cannot seek. Each function returns 0 or an error number.
 */
#ifndef POSIXTRACE_BASE_SPOOL_H
#define POSIXTRACE_BASE_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

/* A file without a name, in TMPDIR. */
int spool_create(int *fd);

/* Of an input that cannot seek: enough to know what it is. */
#define SPOOL_HEAD  (UINT64_C(256) << 10)
/* The most that is copied of it. */
#define SPOOL_BYTES (UINT64_C(4) << 30)

/* All that from has from where it is, to the end. */
int spool_copy(int from, int to);

/*
 * The same for an input, whose length nobody knows. EFBIG: it has more than the environment
 * variable POSIXTRACE_SPOOL_MAX allows, or SPOOL_BYTES, or half of what the file system has room
 * for.
 */
int spool_fill(int from, int to);

/* Says an error of these functions. */
void spool_say_why(const char *name, int err);

/*
 * A descriptor of the same bytes that can seek: fd itself, or a copy, and then fd is closed. On an
 * error fd stays open. accepts is asked when the copy has its first SPOOL_HEAD bytes; if it answers
 * false, the rest is not copied.
 */
int spool_seekable(int fd, bool (*accepts)(int file), int *result);

#endif
