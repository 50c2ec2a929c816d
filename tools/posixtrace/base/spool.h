/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spool.h - temporary files for inputs such as pipes, on which lseek() is impossible. The library
 * needs a file, because it reads a log by offset. The functions return 0 or an error number, unless
 * their comments say otherwise.
 */
#ifndef POSIXTRACE_BASE_SPOOL_H
#define POSIXTRACE_BASE_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

/* Creates an empty file without a name in TMPDIR and stores its descriptor in *fd. */
int spool_create(int *fd);
/* Does the same. After an error it prints the folder and the reason, and returns -1. */
int spool_create_or_say(int *fd);

/* The number of bytes at the beginning of an input by which accepts() recognizes its format. */
#define SPOOL_HEAD  (UINT64_C(256) << 10)
/* The default limit for the number of bytes in a copy. */
#define SPOOL_BYTES (UINT64_C(4) << 30)

/* Copies the input "from", from its current offset to its end, to the file "to". */
int spool_copy(int from, int to);

/*
 * Copies as spool_copy() does, but only up to a limit, because the input may be endless. The limit
 * is the value of the environment variable POSIXTRACE_SPOOL_MAX, or otherwise SPOOL_BYTES, and at
 * most half of the free space of the file system. If the input is longer, the function returns
 * EFBIG.
 */
int spool_fill(int from, int to);

/*
 * Returns the limit of spool_fill() for a copy in this file: the greatest number of bytes that it
 * copies.
 */
uint64_t spool_most(int file);

/* Prints an error that one of these functions returned. */
void spool_say_why(const char *name, int err);

/*
 * Stores in *result a descriptor on which lseek() works and which has the bytes of fd: fd itself,
 * or the descriptor of a copy. If the function made a copy, it closes fd; on an error fd remains
 * open. When the copy has SPOOL_HEAD bytes, the function calls accepts() with the copy's
 * descriptor. If accepts() returns false, the function does not copy the rest of the input, and
 * returns 0 with the incomplete copy.
 */
int spool_seekable(int fd, bool (*accepts)(int file), int *result);

#endif
