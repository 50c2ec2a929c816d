/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * codec.h - compresses the pages of a file with libzstd, which is loaded when it is first needed.
 */
#ifndef POSIXTRACE_PARQUET_CODEC_H
#define POSIXTRACE_PARQUET_CODEC_H

#include "base/bytes.h"

/* The compressions of a page. The format Parquet defines the values. */
enum codec { CODEC_NONE = 0, CODEC_ZSTD = 6 };

/* Returns whether pages can be compressed: this build supports zstd, and libzstd is installed. */
bool codec_has_zstd(void);

/*
 * Compresses the bytes and appends the result. CODEC_ZSTD may be used only if codec_has_zstd() has
 * returned true. Returns false if memory is lacking.
 */
bool codec_put(enum codec codec, struct bytes *to, const char *bytes, size_t len);

#endif
