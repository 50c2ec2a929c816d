/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/zstd.h - libzstd, which is loaded when a log needs it for the first time.
 *
 * libposixtrace is not linked with libzstd, because each traced program would then load libzstd at
 * its start, and few programs compress logs. A process loads libzstd only if it sets the attribute
 * of compression, or writes or opens a log with compression.
 *
 * Threads   ptx_zstd_load() may run concurrently. A context belongs to one caller at a time.
 * Signals   not async-signal-safe: the functions allocate memory.
 * Errors    errno is unchanged.
 */
#ifndef PTX_BASE_ZSTD_H
#define PTX_BASE_ZSTD_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether the functions below can be used. The first call loads libzstd. */
bool ptx_zstd_load(void);

/* Returns an English text for messages, which reports that libzstd is missing. */
const char *ptx_zstd_why_missing(void);

/* Return a context, or NULL if memory is lacking. The free functions accept NULL. */
void *ptx_zstd_compressor_new(void);
void *ptx_zstd_decompressor_new(void);
void ptx_zstd_compressor_free(void *context);
void ptx_zstd_decompressor_free(void *context);

/*
 * Compresses len bytes into at most `room` bytes. Returns the length of the result. 0: it does not
 * fit, or memory is short.
 */
size_t ptx_zstd_compress(void *context, int level, const void *from, size_t len, void *to,
			 size_t room);

/*
 * Decompresses hostile bytes. Returns true if the result has exactly `bytes` bytes. The function
 * never writes more than `bytes` bytes, and its use of memory does not depend on the input.
 */
bool ptx_zstd_decompress(void *context, const void *from, size_t len, void *to, size_t bytes);

#endif
