/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "parquet/codec.h"

#ifdef HAVE_ZSTD
#include <zstd.h>

#include "base/library.h"
#include "base/vec.h"

/* the default of zstd; higher levels need much more time to save a few percent */
#define CODEC_LEVEL 3

static struct {
	__typeof__(ZSTD_compressBound) *bound;
	__typeof__(ZSTD_compress) *compress;
	__typeof__(ZSTD_isError) *is_error;
} zstd;

bool codec_has_zstd(void)
{
	static const char *const names[] = { "libzstd.so.1" };
	static bool is_loaded;
	void *library;

	if (is_loaded)
		return true;
	library = library_load(names, 1);
	is_loaded = library && library_find(library, "ZSTD_compressBound", &zstd.bound) &&
		    library_find(library, "ZSTD_compress", &zstd.compress) &&
		    library_find(library, "ZSTD_isError", &zstd.is_error);
	return is_loaded;
}

/* The only error of zstd that can occur here is the lack of memory. */
static bool codec_compress(struct bytes *to, const char *bytes, size_t len)
{
	size_t most = zstd.bound(len), got;

	if (!vec_reserve(&to->at, &to->room, to->used, most))
		return false;
	got = zstd.compress(to->at + to->used, most, bytes, len, CODEC_LEVEL);
	if (zstd.is_error(got))
		return false;
	to->used += got;
	return true;
}
#else
bool codec_has_zstd(void)
{
	return false;
}

static bool codec_compress(struct bytes *to, const char *bytes, size_t len)
{
	(void)to;
	(void)bytes;
	(void)len;
	return false;
}
#endif

bool codec_put(enum codec codec, struct bytes *to, const char *bytes, size_t len)
{
	if (codec == CODEC_ZSTD)
		return codec_compress(to, bytes, len);
	bytes_add(to, bytes, len);
	return !to->failed;
}
