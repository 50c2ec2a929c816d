/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* codec.h - compression of the pages of a file, by libzstd, which is loaded when it is needed. */
#ifndef POSIXTRACE_PARQUET_CODEC_H
#define POSIXTRACE_PARQUET_CODEC_H

#include "base/bytes.h"

/* The compression of a page, by its number in the format Parquet. */
enum codec { CODEC_NONE = 0, CODEC_ZSTD = 6 };

/* Returns whether pages can be compressed here: this build has zstd, and the library is there. */
bool codec_has_zstd(void);

/* Appends the bytes, compressed. Returns false if memory is lacking. */
bool codec_put(enum codec codec, struct bytes *to, const char *bytes, size_t len);

#endif
