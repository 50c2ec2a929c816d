/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gzip.c - compresses bodies of requests. */
#include "ship/gzip.h"

#include <errno.h>
#include <string.h>

#include "base/library.h"
#include "base/say.h"

#ifdef HAVE_ZLIB
#include <limits.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* 32 KiB; + 16 selects the header of gzip */
#define GZIP_MEMORY 8
#define CHUNK_BYTES 16384

/* The functions of zlib, without the prefix. deflateInit2() is a macro of deflateInit2_(). */
static struct {
	__typeof__(deflateInit2_) *init;
	__typeof__(deflate) *deflate;
	__typeof__(deflateEnd) *end;
} zlib;

bool gzip_load(void)
{
	static const char *const names[] = { "libz.so.1" };
	void *library = library_load(names, 1);

	if (!library)
		say("%s cannot be loaded; install zlib, in Debian the package zlib1g", names[0]);
	else if (library_find(library, "deflateInit2_", &zlib.init) &&
		 library_find(library, "deflate", &zlib.deflate) &&
		 library_find(library, "deflateEnd", &zlib.end))
		return true;
	else
		say("%s lacks a function", names[0]);
	return false;
}

/* Level 1 is faster than the network. Higher levels gain little, because records are similar. */
bool gzip_bytes(const void *from, size_t len, struct bytes *to)
{
	unsigned char chunk[CHUNK_BYTES];
	z_stream stream;
	int err;

	memset(&stream, 0, sizeof(stream));
	to->used = 0;
	err = len > UINT_MAX ? Z_MEM_ERROR
			     : zlib.init(&stream, 1, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
					 Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof(stream));
	if (!err) {
		stream.next_in = (unsigned char *)(uintptr_t)from;
		stream.avail_in = (unsigned)len;
		while (!err) {
			stream.next_out = chunk;
			stream.avail_out = sizeof(chunk);
			err = zlib.deflate(&stream, Z_FINISH);
			bytes_add(to, chunk, sizeof(chunk) - stream.avail_out);
		}
		zlib.end(&stream);
	}
	if (err == Z_STREAM_END && !to->failed)
		return true;
	say("gzip: %s", strerror(ENOMEM));
	return false;
}

#else

bool gzip_load(void)
{
	say("--gzip: this posixtrace was built without zlib");
	return false;
}

bool gzip_bytes(const void *from, size_t len, struct bytes *to)
{
	(void)from, (void)len, (void)to;
	return false;
}

#endif
